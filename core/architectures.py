"""The names of the architectures a system can have (AQA §4, RARR) and how they are shown."""

from __future__ import annotations

ARCHITECTURES: dict[str, str] = {
    "retrieve-then-read": "Retrieve-then-read",
    "post-hoc-retrieval": "Post-hoc retrieval",
    "llm-as-retriever": "LLM-as-retriever",
    "research-and-revise": "Research-and-revise",
    "other": "Other",
    "unknown": "Unknown",
}
