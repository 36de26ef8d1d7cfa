"""The systems that a run answers with: an editor on passages, and an answerer with an editor behind it on questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from core.records import Question
from systems.architectures.choice import add_flag, usage_sum
from systems.rarr.answers import UNREAD, answer_in, sentence, supporting
from systems.rarr.calls import together
from systems.rarr.editors import Edited, Editor
from systems.records import Answerer, Output, Reading, Revised

ARCHITECTURE = "research-and-revise"
BATCH = 32
"""Items that are worked on together."""
NO_ANSWER, NO_EVIDENCE = "no answer to attribute", "nothing to attribute the answer to"


@dataclass(frozen=True)
class EditingSystem:
    """For the editing track: each passage becomes a revised text and a report."""

    key: str
    editor: Editor
    architecture: str = ARCHITECTURE
    batch: int = BATCH

    @property
    def signature(self) -> str:
        """The editor's."""
        return f"{self.architecture}|{self.editor.signature}"

    def answer(self, questions: Sequence[Question]) -> Iterator[Revised]:
        """Revisions in order, batch by batch."""
        for start in range(0, len(questions), self.batch):
            for edited in together([self.editor.edit(each) for each in questions[start : start + self.batch]]):
                yield Revised(edited.revision, trace_of(edited))


@dataclass(frozen=True)
class AnswerReviser:
    """For attributed question answering: an answer is stated as a sentence, revised, and read back."""

    key: str
    answerer: Answerer
    editor: Editor
    architecture: str = ARCHITECTURE
    batch: int = BATCH

    @property
    def signature(self) -> str:
        """The answerer's and the editor's."""
        return f"{self.architecture}|{self.answerer.signature}|{self.editor.signature}"

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        """Outputs in order, batch by batch."""
        for start in range(0, len(questions), self.batch):
            some = questions[start : start + self.batch]
            readings = self.answerer.answer_all(some)
            stated = [_stated(*each) for each in zip(some, readings, strict=True)]
            edited = together([self.editor.edit(each) for each in stated])
            yield from (_output(*each) for each in zip(some, readings, edited, strict=True))


def trace_of(edited: Edited) -> dict[str, Any]:
    """The steps of an item, and the report with its sources."""
    return edited.log.trace() | {"report": [asdict(each) for each in edited.revision.report]}


def _stated(question: Question, reading: Reading) -> Question:
    text = sentence(question.text, reading.answer) if reading.answer.strip() else ""
    return replace(question, text=text, context=())


def _output(question: Question, reading: Reading, edited: Edited) -> Output:
    trace = trace_of(edited) | {"answerer": reading.trace}
    trace["usage"] = usage_sum([trace, reading.trace])
    if not reading.answer.strip():
        return Output(question.position, "", None, trace | {"flags": [NO_ANSWER]})
    before, after = sentence(question.text, reading.answer), edited.revision.text
    trace |= {"sentence": before, "revised": after}
    answer = reading.answer
    if after != before:
        read = answer_in(after, question.text)
        answer = read or answer
        if read is None:
            add_flag(trace, UNREAD)
    found = supporting(answer, edited.report, edited.log)
    if found is None:
        add_flag(trace, NO_EVIDENCE)
    return Output(question.position, answer, found.source if found else None, trace)
