"""Post-hoc retrieval (AQA §4.1): a closed-book answer first, then a passage found by question and answer together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.ports import Judge
from core.records import Question
from systems.architectures.choice import add_flag, batches, first_holding, holds, judged_best, trace_of
from systems.config import SystemConfig
from systems.parts import Parts
from systems.records import Answerer, Output, Reading, Reranker, Retrieved, Retriever


@dataclass(frozen=True)
class PostHoc:
    """k = 1 attributes to the top passage, k > 1 to the best that contains the answer; a `judge` picks instead."""

    key: str
    answerer: Answerer
    retriever: Retriever
    k: int
    reranker: Reranker | None = None
    judge: Judge | None = None
    architecture: str = "post-hoc-retrieval"

    @property
    def signature(self) -> str:
        """The number of passages and the parts' signatures."""
        named = [self.architecture, f"k={self.k}", self.answerer.signature, self.retriever.signature]
        chosen_by = [part.signature for part in (self.reranker, self.judge) if part is not None]
        return "|".join([*named, *chosen_by])

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        """Outputs in order, batch by batch."""
        for batch in batches(questions):
            readings = self.answerer.answer_all(batch)
            queries = [query(each.text, reading.answer) for each, reading in zip(batch, readings, strict=True)]
            hits = self.retriever.search(queries, self.k)
            if self.reranker is not None:
                hits = self.reranker.rerank(queries, hits)
            yield from (self._output(*each) for each in zip(batch, readings, hits, strict=True))

    def _output(self, question: Question, reading: Reading, hits: list[Retrieved]) -> Output:
        asked = query(question.text, reading.answer)
        trace = trace_of(hits, self.retriever.flags(asked)) | {"answerer": reading.trace}
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


def query(question: str, answer: str) -> str:
    """Question and answer concatenated, as AQA §4.1 says."""
    return f"{question} {answer}".strip()


def build(config: SystemConfig, parts: Parts) -> PostHoc:
    """The system that a configuration describes."""
    return PostHoc(
        config.name,
        parts.answerer(config),
        parts.retriever(config),
        k=config.k,
        reranker=parts.reranker(config),
        judge=parts.judge(config),
    )
