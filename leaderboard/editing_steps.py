"""The steps of a research-and-revise run put into words: what was asked, found, compared, edited, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.word_diff import Piece, word_diff

_TITLES = {
    "questions": "Questions asked of the text", "search": "Search", "evidence": "Evidence taken",
    "agreement": "Does the evidence agree with the text?", "edit": "Edit", "rewrite": "Rewritten as a whole",
    "report": "Report put together",
}  # fmt: skip
_SHOWN_APART = frozenset(
    {"step", "prompt", "raw", "template", "finish", "queries", "query", "documents", "evidence", "report", "before",
     "after", "revised", "verdict", "decision", "reason", "round"}
)  # fmt: skip
_GOOD = frozenset({"accepted", "agrees", "agree"})
_BAD = frozenset({"rejected", "failed", "unreadable", "disagrees", "disagree"})


@dataclass(frozen=True, slots=True)
class Found:
    """A piece of evidence or a document in a step."""

    text: str
    source: str
    score: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `outcome` is what it came to, `tone` good, bad or neither; `diff` is an edit that it tried."""

    title: str
    query: str
    queries: tuple[str, ...]
    found: tuple[Found, ...]
    diff: tuple[Piece, ...]
    outcome: str
    tone: str
    reason: str
    more: tuple[tuple[str, str], ...]
    template: str
    prompt: str
    raw: str


def steps_of(trace: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of a trace in their order; what is not of the known shape is left out or shown as plain text."""
    told = trace.get("steps", ())
    return tuple(_step(each) for each in told if isinstance(each, Mapping)) if isinstance(told, list) else ()


def _step(told: Mapping[str, Any]) -> Step:
    name = _text(told.get("step")) or "step"
    number = _text(told.get("round"))
    title = _TITLES.get(name, name.replace("_", " ").capitalize()) + (f", round {number}" if number else "")
    before, after = _text(told.get("before")), _text(told.get("revised", told.get("after")))
    outcome = _text(told.get("decision")) or _text(told.get("verdict"))
    tone = "good" if outcome in _GOOD else "bad" if outcome in _BAD else ""
    return Step(
        title, _text(told.get("query")), tuple(_text(each) for each in _listed(told.get("queries"))),
        tuple(_found(each) for key in ("documents", "evidence", "report") for each in _listed(told.get(key))),
        word_diff(before, after) if before and after and before != after else (), outcome, tone,
        _text(told.get("reason")),
        tuple((key.replace("_", " "), _text(value)) for key, value in told.items() if key not in _SHOWN_APART),
        _text(told.get("template")), _text(told.get("prompt")), _text(told.get("raw")),
    )  # fmt: skip


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [value]
    return value if isinstance(value, list) else ()


def _found(value: Any) -> Found:
    if not isinstance(value, Mapping):
        return Found(_text(value), "", None)
    score = value.get("score")
    known = float(score) if isinstance(score, (int, float)) and not isinstance(score, bool) else None
    return Found(_text(value.get("text") or value.get("title")), _text(value.get("source")), known)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
