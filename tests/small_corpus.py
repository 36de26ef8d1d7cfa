"""A corpus written to a folder from (id, title, headings, text) rows, for tests of retrieval."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from core import corpus as corpora
from core.corpus import Corpus

WIKI = "http://en.wikipedia.org/wiki/"
ROWS = [
    (f"{WIKI}Oslo#Oslo#0", "Oslo", "Oslo", "Oslo is the capital of Norway and its largest city."),
    (f"{WIKI}Oslo#Oslo#History#1", "Oslo", "Oslo, History", "The city was named Christiania for three centuries."),
    (f"{WIKI}Rome#Rome#0", "Rome", "Rome", "Rome is the capital of Italy."),
    (f"{WIKI}Nile#Nile#0", "Nile", "Nile", "The Nile flows north for 6,650 km through Egypt."),
    (f"{WIKI}Empty#Empty#0", "Empty", "Empty", " "),
    (f"{WIKI}S%C3%A3o_Paulo#S%C3%A3o_Paulo#0", "São Paulo", "São Paulo", "São Paulo is the largest city of Brazil."),
]


def make_corpus(folder: Path, rows: Sequence[tuple[str, str, str, str]] = ROWS) -> Corpus:
    """The opened corpus of the rows."""
    folder.mkdir(parents=True, exist_ok=True)
    shard = folder / "corpus.jsonl"
    lines = ({"id": i, "contents": f"« {title} » « {headings} » {text}"} for i, title, headings, text in rows)
    shard.write_text("".join(json.dumps(line) + "\n" for line in lines))
    digest, _ = corpora.build([shard], folder / "corpora")
    return Corpus(folder / "corpora" / f"{digest}.sqlite")
