"""What the name of a released system tells of it (AQA §4, tables 1 to 3)."""

from __future__ import annotations

from submissions.intake import SystemCard

_ARCHITECTURES = {
    "rtr": "retrieve-then-read",
    "post": "post-hoc-retrieval",
    "llm": "llm-as-retriever",
}
_SOURCE = "https://github.com/google-research-datasets/Attributed-QA"


def card_of(name: str) -> SystemCard:
    """The card of a released system; the name is kept as it is.

    The architecture is that of the name's prefix, else unknown. Retrieve-then-read systems read with a model tuned on
    all of NQ (AQA §4.2); of the others the name has to say it. A name with `rerank` or `AutoAIS` is a variant whose
    passages AutoAIS chose.
    """
    folded = name.casefold()
    architecture = next((a for prefix, a in _ARCHITECTURES.items() if folded.startswith(prefix)), "unknown")
    return SystemCard(
        name,
        architecture,
        supervision=_supervision(folded, architecture),
        description="From the paper's released ratings.",
        links=(_SOURCE,),
        uses_autoais="rerank" in folded or "autoais" in folded,
    )


def _supervision(folded: str, architecture: str) -> str:
    if "nq-64" in folded or "low-resource" in folded or "low resource" in folded:
        return "NQ-64"
    if "nq-full" in folded or architecture == "retrieve-then-read":
        return "NQ-full"
    return ""
