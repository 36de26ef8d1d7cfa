"""Post-hoc retrieval (AQA §4.1): a closed-book answer first, then a passage found by question and answer together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.batches import batches
from core.ports import Judge
from core.records import Question
from systems.architectures.choice import (
    add_flag,
    answerer_reads,
    first_holding,
    flags_of,
    holds,
    judged_best,
    retrieval_reads,
    together,
    trace_of,
)
from systems.config import SystemConfig
from systems.parts import Parts
from systems.records import Answerer, Output, Reading, Reranker, Retrieved, Retriever

QUESTION_AND_ANSWER = "question+answer"


@dataclass(frozen=True)
class PostHoc:
    """k = 1 attributes to the top passage, k > 1 to the best that contains the answer; a `judge` picks instead."""

    key: str
    answerer: Answerer
    retriever: Retriever
    k: int
    reranker: Reranker | None = None
    judge: Judge | None = None
    form: str = QUESTION_AND_ANSWER
    """What is searched for: question and answer, or the question alone."""
    architecture: str = "post-hoc-retrieval"

    @property
    def batch(self) -> int:
        """Questions that are answered together."""
        return together(self.answerer)

    @property
    def signature(self) -> str:
        """The number of passages and the parts' signatures."""
        named = [self.architecture, f"k={self.k}", self.answerer.signature, self.retriever.signature]
        named += [part.signature for part in (self.reranker, self.judge) if part is not None]
        return "|".join([*named, *form_signature(self.form)])

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        """Outputs in order, batch by batch."""
        for batch in batches(questions, self.batch):
            readings = self.answerer.answer_all(batch)
            queries = [
                query(each.text, reading.answer, self.form) for each, reading in zip(batch, readings, strict=True)
            ]
            hits = self.retriever.search(queries, self.k)
            if self.reranker is not None:
                hits = self.reranker.rerank(queries, hits)
            yield from (self._output(*each) for each in zip(batch, readings, hits, strict=True))

    def _output(self, question: Question, reading: Reading, hits: list[Retrieved]) -> Output:
        asked = query(question.text, reading.answer, self.form)
        trace = trace_of(hits, self.retriever.flags(asked), flags_of(reading)) | {"answerer": reading.trace}
        if "usage" in reading.trace:
            trace["usage"] = reading.trace["usage"]
        if not reading.answer.strip():
            add_flag(trace, "no answer to attribute")
            return Output(question.position, "", None, trace)
        if not hits:
            add_flag(trace, "no hit")
            return Output(question.position, reading.answer, None, trace)
        if self.judge is not None:
            chosen, scores = judged_best(self.judge, [(question.text, reading.answer, hit.passage) for hit in hits])
            trace["judge"] = [round(score, 6) for score in scores]
        else:
            chosen = first_holding(hits, reading.answer) or 0
        if not holds(hits[chosen].passage, reading.answer):
            add_flag(trace, "the chosen passage does not contain the answer")
        return Output(question.position, reading.answer, hits[chosen].passage.id, trace)


def query(question: str, answer: str, form: str = QUESTION_AND_ANSWER) -> str:
    """Question and answer concatenated, as AQA §4.1 says, or the question alone."""
    return f"{question} {answer}".strip() if form == QUESTION_AND_ANSWER else question


def form_signature(form: str) -> list[str]:
    """The query's form in a signature, where it is not the paper's."""
    return [] if form == QUESTION_AND_ANSWER else [f"query={form}"]


def reads(config: SystemConfig) -> dict[str, bool]:
    """The components that make a difference to the system, and whether it cannot do without them."""
    return {"query": True} | answerer_reads(config) | retrieval_reads(config)


def build(config: SystemConfig, parts: Parts) -> PostHoc:
    """The system that a configuration describes."""
    return PostHoc(
        config.name,
        parts.answerer(config),
        parts.retriever(config),
        k=config.k,
        reranker=parts.reranker(config),
        judge=parts.judge(config),
        form=config.query,
    )
