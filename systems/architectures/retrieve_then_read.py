"""Retrieve-then-read (AQA §4.1): k passages by the question alone, rerank, read P of them, attribute to one of A."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.batches import batches
from core.ports import Judge
from core.records import Question
from systems.architectures.choice import (
    add_flag,
    first_holding,
    flags_of,
    judged_best,
    retrieval_reads,
    together,
    trace_of,
    usage_sum,
)
from systems.config import SystemConfig
from systems.parts import Parts
from systems.records import Output, Reader, Reading, Reranker, Retrieved, Retriever


@dataclass(frozen=True)
class RetrieveThenRead:
    """With a `judge`, the AutoAIS-reranked variant: each of the k passages is read alone, and the pair of answer and
    passage that the judge scores highest is the output."""

    key: str
    retriever: Retriever
    reader: Reader
    k: int
    read: int
    """P: passages that the reader reads."""
    attribute: int
    """A: passages considered for attribution."""
    reranker: Reranker | None = None
    judge: Judge | None = None
    architecture: str = "retrieve-then-read"

    @property
    def batch(self) -> int:
        """Questions that are answered together; where a judge picks, each is answered alone."""
        return together(self.reader) if self.judge is None else 1

    @property
    def signature(self) -> str:
        """The numbers and the parts' signatures."""
        named = [self.architecture, f"k={self.k}|P={self.read}|A={self.attribute}"]
        named += [self.retriever.signature, self.reader.signature]
        return "|".join([*named, *(part.signature for part in (self.reranker, self.judge) if part is not None)])

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        """Outputs in order, batch by batch."""
        for batch in batches(questions, self.batch):
            texts = [question.text for question in batch]
            hits = self.retriever.search(texts, self.k)
            if self.reranker is not None:
                hits = self.reranker.rerank(texts, hits)
            if self.judge is not None:
                yield from (self._judged(*each, self.judge) for each in zip(batch, hits, strict=True))
                continue
            read = [[hit.passage for hit in each[: self.read]] for each in hits]
            readings = self.reader.read_all(texts, read)
            yield from (self._output(*each) for each in zip(batch, hits, readings, strict=True))

    def _output(self, question: Question, hits: list[Retrieved], reading: Reading) -> Output:
        trace = trace_of(hits, self.retriever.flags(question.text), flags_of(reading)) | {"reader": reading.trace}
        if "usage" in reading.trace:
            trace["usage"] = reading.trace["usage"]
        if not hits:
            add_flag(trace, "no hit")
            return Output(question.position, "", None, trace)
        chosen = self._choose(hits[: self.attribute], reading)
        return Output(question.position, reading.answer, hits[chosen].passage.id, trace)

    def _choose(self, considered: list[Retrieved], reading: Reading) -> int:
        """The passage that the reader names, if it is considered; else the best that holds the answer."""
        if reading.best is not None and reading.best < len(considered):
            return reading.best
        return first_holding(considered, reading.answer) or 0

    def _judged(self, question: Question, hits: list[Retrieved], judge: Judge) -> Output:
        trace = trace_of(hits, self.retriever.flags(question.text))
        if not hits:
            add_flag(trace, "no hit")
            return Output(question.position, "", None, trace)
        readings = self.reader.read_all([question.text] * len(hits), [[hit.passage] for hit in hits])
        triples = [(question.text, r.answer, hit.passage) for r, hit in zip(readings, hits, strict=True)]
        best, scores = judged_best(judge, triples)
        trace |= {"judge": [round(score, 6) for score in scores], "reader": readings[best].trace}
        trace["usage"] = usage_sum([reading.trace for reading in readings])
        return Output(question.position, readings[best].answer, hits[best].passage.id, trace)


def reads(config: SystemConfig) -> dict[str, bool]:
    """The components that make a difference to the system, and whether it cannot do without them.

    Where a judge picks, each of the k passages is read alone, so P and A are not read.
    """
    numbers = {} if config.reranker == "judge" else {"P": True, "A": True}
    return {"reader": True, "model": True, "max_new_tokens": False} | numbers | retrieval_reads(config)


def build(config: SystemConfig, parts: Parts) -> RetrieveThenRead:
    """The system that a configuration describes."""
    return RetrieveThenRead(
        config.name,
        parts.retriever(config),
        parts.reader(config),
        k=config.k,
        read=config.P,
        attribute=config.A,
        reranker=parts.reranker(config),
        judge=parts.judge(config),
    )
