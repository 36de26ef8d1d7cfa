"""The revision stage (RARR §3.2): an agreement gate for each piece of evidence, an edit where it disagrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import Levenshtein

from core.records import Question
from systems.rarr.asking import Answered, ask, enough_for, parts_of, variant
from systems.rarr.calls import Failed, Steps
from systems.rarr.parsing import DISAGREES, cut_off, keep_spacing, read_edit, read_verdict
from systems.rarr.records import Evidence, Log
from systems.rarr.research import both
from systems.records import LLM

LARGEST_EDIT, LARGEST_SHARE = 50, 0.5
VERDICT_TOKENS = 48
AGREEMENT, EDIT = "agreement@1", "edit@1"
UNREADABLE_VERDICT = "a verdict could not be read"
UNREADABLE_EDIT = "an edit could not be read"
CUT_OFF = "a reply was cut off"
FAILED = "the model failed"
TOO_LARGE = "an edit was too large"
UNCHANGED = "an edit changed nothing"


@dataclass(frozen=True)
class Reviser:
    """Goes through the evidence in order; each piece is held against the text as the pieces before it left it."""

    llm: LLM
    largest: int = LARGEST_EDIT
    """Characters (Levenshtein) that one edit may change of the text as it is then."""
    share: float = LARGEST_SHARE
    """The share of the original text's length that one edit may change."""

    @property
    def signature(self) -> str:
        """Model, prompts and the bounds of an edit."""
        bounds = f"largest={self.largest}|share={self.share:g}|tokens={VERDICT_TOKENS}"
        return f"{self.llm.signature}|{both(AGREEMENT)}|{both(EDIT)}|{bounds}"

    def revise(self, question: Question, evidence: Sequence[Evidence], log: Log) -> Steps[str]:
        """The revised text; where nothing disagrees or nothing can be read, the text as it was."""
        text = question.text
        for each in evidence:
            if (yield from self._disagrees(question, text, each, log)):
                text = yield from self._edited(question, text, each, log)
        return text

    def _disagrees(self, question: Question, text: str, evidence: Evidence, log: Log) -> Steps[bool]:
        parts = parts_of(question, text) | {"question": evidence.query, "evidence": evidence.shown}
        answered = yield from ask(self.llm, variant(AGREEMENT, question), parts, VERDICT_TOKENS)
        told: dict[str, Any] = {"query": evidence.query, "evidence": evidence.told(), "before": text}
        if isinstance(answered, Failed):
            log.add("agreement", **told, verdict=None, reason=answered.reason)
            log.flag(FAILED)
            return False
        verdict = read_verdict(answered.completion.text)
        told |= log.asked(answered.template, answered.prompt, answered.completion)
        log.add("agreement", **told, verdict=verdict, reason=None if verdict else UNREADABLE_VERDICT)
        if verdict is None:
            log.flag(UNREADABLE_VERDICT)
        return verdict == DISAGREES

    def _edited(self, question: Question, text: str, evidence: Evidence, log: Log) -> Steps[str]:
        parts = parts_of(question, text) | {"question": evidence.query, "evidence": evidence.shown}
        answered = yield from ask(self.llm, variant(EDIT, question), parts, enough_for(text))
        told: dict[str, Any] = {"query": evidence.query, "evidence": evidence.told(), "before": text}
        if isinstance(answered, Failed):
            log.add("edit", **told, decision="failed", after=text, reason=answered.reason)
            log.flag(FAILED)
            return text
        told |= log.asked(answered.template, answered.prompt, answered.completion)
        decided = self._decided(question.text, text, answered)
        log.add("edit", **told, **decided)
        if "flag" in decided:
            log.flag(log.steps[-1].pop("flag"))
        after: str = decided["after"]
        return after

    def _decided(self, original: str, text: str, answered: Answered) -> dict[str, Any]:
        """Whether an edit stands: its decision, the text after it, and why it was not taken."""
        raw, finish = answered.completion.text, answered.completion.finish
        read = read_edit(raw)
        if read is None or cut_off(raw, finish):
            why = UNREADABLE_EDIT if read is None else CUT_OFF
            return {"decision": "unreadable", "after": text, "reason": why, "flag": why}
        revised = keep_spacing(text, read.text)
        found: dict[str, Any] = {"span": read.span, "revised": revised}
        if revised == text:
            return found | {
                "decision": "unchanged",
                "after": text,
                "distance": 0,
                "reason": UNCHANGED,
                "flag": UNCHANGED,
            }
        distance = Levenshtein.distance(text, revised)
        found |= {"distance": distance, "limit": min(self.largest, self.share * len(original))}
        if too_large(original, distance, self.largest, self.share):
            why = f"{distance} characters changed; at most {self.largest}, and {self.share:.0%} of {len(original)}"
            return found | {"decision": "rejected", "after": text, "reason": why, "flag": TOO_LARGE}
        return found | {"decision": "accepted", "after": revised}


def too_large(original: str, distance: int, largest: int = LARGEST_EDIT, share: float = LARGEST_SHARE) -> bool:
    """True if an edit is rejected: over 50 characters or over half of the original's length (RARR §3.2).

    `distance` is the edit's own, from the text as it was before this edit (the paper: large edits bring the new text
    "far from the current y"), so several small edits may add up to more. Half is of the length of the *original* x,
    as the paper says; it does not move with the text. Both strictly: exactly 50, or exactly half, is accepted.
    """
    return distance > largest or distance > share * len(original)
