"""Finding passages: BM25, dense vectors, reranking, pages by address; index files are built once and mapped."""
