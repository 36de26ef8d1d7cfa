"""A Hub-like endpoint under `/hub`: enough of the protocol for the `huggingface_hub` library as it is."""
