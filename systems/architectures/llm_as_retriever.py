"""LLM-as-retriever (AQA §4.1): the model names an answer and a page's address; a paragraph of that page supports it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.batches import batches
from core.records import Question
from systems.architectures.choice import add_flag, answerer_reads, flags_of, together, trace_of
from systems.architectures.post_hoc import QUESTION_AND_ANSWER, form_signature, query
from systems.config import SystemConfig
from systems.parts import Parts
from systems.records import Answerer, Output, Reading
from systems.retrieval.bm25 import Bm25
from systems.retrieval.pages import Pages

NO_ADDRESS = "no address was written"
NO_PAGE = "the page is not in the corpus"
NO_WORD = "no paragraph of the page shares a word; its first is taken"


@dataclass(frozen=True)
class LlmAsRetriever:
    """The answerer's readings hold the address in `trace["url"]`; pages that are not there are flagged, so counted."""

    key: str
    answerer: Answerer
    pages: Pages
    paragraphs: Bm25
    form: str = QUESTION_AND_ANSWER
    """By what the page's paragraphs are ordered."""
    architecture: str = "llm-as-retriever"

    @property
    def batch(self) -> int:
        """Questions that are answered together."""
        return together(self.answerer)

    @property
    def signature(self) -> str:
        """The parts' signatures."""
        named = [self.architecture, self.answerer.signature, self.paragraphs.signature]
        return "|".join([*named, *form_signature(self.form)])

    def answer(self, questions: Sequence[Question]) -> Iterator[Output]:
        """Outputs in order, batch by batch."""
        for batch in batches(questions, self.batch):
            readings = self.answerer.answer_all(batch)
            yield from (self._output(*each) for each in zip(batch, readings, strict=True))

    def _output(self, question: Question, reading: Reading) -> Output:
        url = str(reading.trace.get("url", ""))
        trace: dict[str, Any] = {"url": url, "answerer": reading.trace}
        if "usage" in reading.trace:
            trace["usage"] = reading.trace["usage"]
        for flag in flags_of(reading):
            add_flag(trace, flag)
        rows = self.pages.rows(url) if url else []
        if not rows:
            add_flag(trace, NO_PAGE if url else NO_ADDRESS)
            return Output(question.position, reading.answer, None, trace)
        hits = self.paragraphs.search_within(query(question.text, reading.answer, self.form), rows, k=5)
        trace |= trace_of(hits)
        if hits:
            return Output(question.position, reading.answer, hits[0].passage.id, trace)
        add_flag(trace, NO_WORD)
        return Output(question.position, reading.answer, self.pages.first(rows).id, trace)


def reads(config: SystemConfig) -> dict[str, bool]:
    """The components that make a difference to the system, and whether it cannot do without them."""
    prompted = replace(config, answerer="few-shot")
    return {"query": True, "k1": False, "b": False} | {
        name: needed for name, needed in answerer_reads(prompted).items() if name != "answerer"
    }


def build(config: SystemConfig, parts: Parts) -> LlmAsRetriever:
    """The system that a configuration describes."""
    return LlmAsRetriever(config.name, parts.url_answerer(config), parts.pages(), parts.bm25(config), form=config.query)
