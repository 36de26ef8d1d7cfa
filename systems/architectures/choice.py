"""How an attribution is chosen among hits, and what a trace keeps of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.ports import Judge
from core.records import Passage
from core.templates import qa_pair
from core.text import squad_normalise
from systems.config import SystemConfig
from systems.records import Reading, Retrieved

BATCH = 32


def retrieval_reads(config: SystemConfig) -> dict[str, bool]:
    """The components that a configured retriever and its reranker read, and whether it cannot do without them."""
    own = {"k1": False, "b": False} if config.retriever == "bm25" else {"encoder": True}
    return {"retriever": True, "k": True, "reranker": False} | own


def answerer_reads(config: SystemConfig) -> dict[str, bool]:
    """The same for a configured closed-book answerer."""
    prompted = {"model": True, "exemplars": bool(config.shots), "shots": False, "max_new_tokens": True}
    return {"answerer": True} | (prompted if config.answerer in ("", "few-shot") else {})


def together(part: object) -> int:
    """How many questions a reader or an answerer is given at once; what is done of them is kept when all are."""
    return int(getattr(part, "batch", BATCH))


def holds(passage: Passage, answer: str) -> bool:
    """True if the passage's headings or text contain the answer as whole words, both SQuAD-normalised."""
    wanted = squad_normalise(answer)
    return bool(wanted) and f" {wanted} " in f" {squad_normalise(f'{passage.headings} {passage.text}')} "


def first_holding(hits: Sequence[Retrieved], answer: str) -> int | None:
    """The index of the best hit that contains the answer (AQA §4); the first where none does; None without hits."""
    if not hits:
        return None
    return next((at for at, hit in enumerate(hits) if holds(hit.passage, answer)), 0)


def judged_best(judge: Judge, triples: Sequence[tuple[str, str, Passage]]) -> tuple[int, list[float]]:
    """The index of the (question, answer, passage) with the highest judge score, the first of equals, and all scores.

    Triples without an answer score 0 unseen.
    """
    asked = [at for at, (_, answer, _) in enumerate(triples) if answer.strip()]
    scores = [0.0] * len(triples)
    for at, judgment in zip(asked, judge.judge([qa_pair(*triples[at]) for at in asked]), strict=True):
        scores[at] = judgment.p
    return max(range(len(scores)), key=scores.__getitem__), scores


def trace_of(hits: Sequence[Retrieved], *flags: Sequence[str]) -> dict[str, Any]:
    """The ids and scores of hits, and remarks on the query or the reading if there are any."""
    kept: dict[str, Any] = {"retrieved": [[hit.passage.id, round(hit.score, 6)] for hit in hits]}
    said = [flag for some in flags for flag in some]
    return kept | ({"flags": said} if said else {})


def flags_of(reading: Reading) -> Sequence[str]:
    """What a reader or an answerer remarked; a run counts only what stands on the output's own trace."""
    return tuple(reading.trace.get("flags", ()))


def add_flag(trace: dict[str, Any], flag: str) -> None:
    """Put one more remark on a trace."""
    trace.setdefault("flags", []).append(flag)


def usage_sum(traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The tokens and cost of several readings together; cost None where none was told."""
    usages = [trace["usage"] for trace in traces if "usage" in trace]
    costs = [usage["cost"] for usage in usages if usage.get("cost") is not None]
    total = {name: sum(usage[name] for usage in usages) for name in ("prompt_tokens", "new_tokens")}
    return total | {"cost": sum(costs) if costs else None}
