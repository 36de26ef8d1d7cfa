"""Research and revise for questions: an answer is put as a sentence, the sentence is revised, the answer read back."""

from __future__ import annotations

from collections.abc import Sequence

from core.records import Passage
from core.templates import hypothesis, question_and_answer
from systems.architectures.choice import holds
from systems.rarr.records import Evidence, Log

UNREAD = "no answer could be read from the revised sentence; the first answer stays"


def sentence(question: str, answer: str) -> str:
    """The sentence that states an answer: the statement that judges read, with a full stop."""
    return f"{hypothesis(question, answer)}."


def answer_in(revised: str, question: str) -> str | None:
    """The answer that a revised sentence states; None where it no longer has that form."""
    bare = revised.strip().removesuffix(".")
    head = hypothesis(question, "")[:-1]
    if bare.startswith(head) and bare.endswith("'"):
        return bare[len(head) : -1].strip() or None
    parts = question_and_answer(bare)
    return parts[1].strip() or None if parts else None


def supporting(answer: str, report: Sequence[Evidence], log: Log) -> Evidence | None:
    """The evidence that an answer is attributed to; None without any.

    That of the last edit, if it contains the answer; else the best-scored that contains it; else the best-scored.
    """
    edits = [step["evidence"]["source"] for step in log.steps if step.get("decision") == "accepted" and "query" in step]
    holding = [each for each in report if holds(Passage(each.source, each.title, each.title, each.text), answer)]
    last = [each for each in holding if edits and each.source == edits[-1]]
    among = last or holding or list(report)
    return max(among, key=lambda each: each.score, default=None)
