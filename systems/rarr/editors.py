"""The editing systems as the work that each does on one item: RARR and what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from core.editing import Revision
from core.records import Question
from systems.prompts import template as templates
from systems.rarr.asking import Answered, ask, enough_for, parts_of, variant
from systems.rarr.calls import Failed, Steps
from systems.rarr.parsing import cut_off, keep_spacing, read_response
from systems.rarr.records import Evidence, Log
from systems.rarr.research import Researcher, both
from systems.rarr.revision import CUT_OFF, FAILED
from systems.records import LLM

REVISE, CORRECT = "revise-response@1", "claim-and-evidence@1"
EMPTY_TEXT = "there is no text to revise"
EMPTY_REPLY = "nothing was written; the text stays"


@dataclass(frozen=True, slots=True)
class Edited:
    """What became of one item: its revision, the log of the steps, and the evidence behind the report."""

    revision: Revision
    log: Log
    report: tuple[Evidence, ...] = ()


class Writer(Protocol):
    """Writes a text anew from evidence."""

    @property
    def signature(self) -> str:
        """Everything its texts depend on."""
        ...

    def revise(self, question: Question, evidence: Sequence[Evidence], log: Log) -> Steps[str]:
        """The revised text; the text as it was where nothing can be done, with a reason in the log."""
        ...


@dataclass(frozen=True)
class Editor:
    """Research, then a writer. RARR's goes through all the evidence; others read what stands in the report."""

    researcher: Researcher
    writer: Writer | None = None
    """None: the evidence alone, no editing."""
    reads_report: bool = False

    @property
    def signature(self) -> str:
        """The parts' signatures."""
        writer = "no editing" if self.writer is None else self.writer.signature
        return f"{self.researcher.signature}|{writer}|reads={'report' if self.reads_report else 'all'}"

    def edit(self, question: Question) -> Steps[Edited]:
        """All that is done to one item. It has an outcome whatever the models and searches give."""
        log = Log()
        if not question.text.strip():
            log.flag(EMPTY_TEXT)
            return Edited(Revision(question.position, question.text), log)
        evidence = yield from self.researcher.evidence(question, log)
        text, report = question.text, list[Evidence]()
        if self.reads_report:
            report = yield from self.researcher.report(evidence, log)
        if self.writer is not None and evidence:
            text = yield from self.writer.revise(question, report if self.reads_report else evidence, log)
        if not self.reads_report:
            report = yield from self.researcher.report(evidence, log)
        snippets = tuple(each.snippet for each in report)
        return Edited(Revision(question.position, text, snippets), log, tuple(report))


@dataclass(frozen=True)
class Rewriter:
    """In the manner of LaMDA's research: the whole response is written anew from the evidence, by prompting.

    Nothing is rejected: these systems are not held to the original.
    """

    llm: LLM

    @property
    def signature(self) -> str:
        """Model and prompts."""
        return f"{self.llm.signature}|{both(REVISE)}"

    def revise(self, question: Question, evidence: Sequence[Evidence], log: Log) -> Steps[str]:
        """The first line that the model writes."""
        parts = parts_of(question, question.text) | {"evidence": numbered(evidence)}
        answered = yield from ask(self.llm, variant(REVISE, question), parts, enough_for(question.text, extra=128))
        return written(question, answered, log)


@dataclass(frozen=True)
class Corrector:
    """In the manner of EFEC: an encoder-decoder that was trained for it reads claim and evidence. It sees no turns
    before the passage."""

    llm: LLM

    @property
    def signature(self) -> str:
        """Weights and the form of what they read."""
        return f"{self.llm.signature}|{templates.load(CORRECT).signature}"

    def revise(self, question: Question, evidence: Sequence[Evidence], log: Log) -> Steps[str]:
        """What the model writes."""
        parts = {"passage": question.text, "evidence": " ".join(each.shown for each in evidence)}
        answered = yield from ask(self.llm, templates.load(CORRECT), parts, enough_for(question.text))
        return written(question, answered, log)


def written(question: Question, answered: Answered | Failed, log: Log) -> str:
    """The text that a model wrote in one go, kept with its step; the text as it was where there is none."""
    before = question.text
    if isinstance(answered, Failed):
        log.add("rewrite", before=before, after=before, decision="failed", reason=answered.reason)
        log.flag(FAILED)
        return before
    told = log.asked(answered.template, answered.prompt, answered.completion)
    raw, reason = answered.completion.text, ""
    text = keep_spacing(before, read_response(raw))
    if not text.strip():
        text, reason = before, EMPTY_REPLY
    elif cut_off(raw, answered.completion.finish):
        text, reason = before, CUT_OFF
    decision = "unreadable" if reason else "unchanged" if text == before else "accepted"
    log.add("rewrite", before=before, **told, decision=decision, after=text, reason=reason or None)
    if reason:
        log.flag(reason)
    return text


def numbered(evidence: Sequence[Evidence]) -> str:
    """Pieces of evidence one after another, each with its number."""
    return " ".join(f"[{number}] {each.shown}" for number, each in enumerate(evidence, start=1))
