"""The research stage (RARR §3.1): questions that cover a text, a search for each, the best evidence for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from core.editing import LARGEST_REPORT
from core.records import Question
from core.sentences import splitter
from core.text import hash_key
from systems.prompts import template as templates
from systems.rarr.asking import Answered, ask, parts_of, variant
from systems.rarr.calls import Call, Failed, Steps
from systems.rarr.coverage import chosen, coverage
from systems.rarr.parsing import key_of, read_questions, read_searches
from systems.rarr.records import Document, Evidence, Log
from systems.rarr.relevance import Relevance
from systems.rarr.search import Search
from systems.rarr.windows import SENTENCES, windows
from systems.records import LLM

MOST_QUERIES = 24
"""Queries of one item that are followed up; those found later are left out, and that is told."""
QUESTION_TOKENS = 96
QUESTIONS, SEARCHES = "questions@1", "search-queries@1"
NO_QUESTION, NO_DOCUMENT, NO_EVIDENCE = "no question was written", "a search found nothing", "no evidence was found"
TOO_MANY = f"more than {MOST_QUERIES} questions: the rest was left out"


@dataclass(frozen=True)
class Asker:
    """Comprehensive question generation: several sampled rounds, their union in the order first seen."""

    llm: LLM
    rounds: int = 3
    temperature: float = 0.7
    seed: int = 0
    prompt: str = QUESTIONS

    @property
    def signature(self) -> str:
        """Model, prompts and how questions are drawn."""
        drawn = f"rounds={self.rounds}|temperature={self.temperature:g}|seed={self.seed}"
        return f"{self.llm.signature}|{both(self.prompt)}|{drawn}|tokens={QUESTION_TOKENS}|most={MOST_QUERIES}"

    def queries(self, question: Question, log: Log) -> Steps[list[str]]:
        """The queries, none of them twice; each round's prompt, text and new queries stand in the log."""
        template, found = variant(self.prompt, question), dict[str, str]()
        for number in range(1, self.rounds + 1):
            answered = yield from ask(self._model(number), template, parts_of(question, question.text), QUESTION_TOKENS)
            fresh = {key_of(query): query for query in self._taken(number, answered, log)}
            log.steps[-1]["new"] = [query for key, query in fresh.items() if key not in found]
            found = found | {key: query for key, query in fresh.items() if key not in found}
        if not found:
            log.flag(NO_QUESTION)
        if len(found) > MOST_QUERIES:
            log.flag(TOO_MANY)
        return list(found.values())[:MOST_QUERIES]

    def _model(self, number: int) -> LLM:
        """Each round draws by a seed of its own; with temperature 0 and one round nothing is drawn."""
        drawn = int.from_bytes(hash_key(str(self.seed), str(number), size=4)) >> 1
        return self.llm.drawing(self.temperature, drawn)

    def _taken(self, number: int, answered: Answered | Failed, log: Log) -> list[str]:
        if isinstance(answered, Failed):
            log.add("questions", round=number, queries=[], reason=f"the model gave nothing: {answered.reason}")
            log.flag("the model failed")
            return []
        read = read_questions if self.prompt == QUESTIONS else read_searches
        # A prompt ends with the first entry's dash.
        queries = read(f"- {answered.completion.text.lstrip()}")
        told = log.asked(answered.template, answered.prompt, answered.completion)
        log.add("questions", round=number, **told, queries=queries, reason=None if queries else NO_QUESTION)
        return queries


@dataclass(frozen=True)
class Researcher:
    """Queries, K documents for each, and the J windows of them that fit the query best."""

    asker: Asker
    search: Search
    relevance: Relevance
    per_query: int = 1
    """J."""
    sentences: int = SENTENCES
    most: int = LARGEST_REPORT
    """M."""

    @property
    def signature(self) -> str:
        """The parts' signatures and the numbers."""
        numbers = f"J={self.per_query}|window={self.sentences}|sentences={splitter()}|M={self.most}|report=first-found"
        return "|".join([self.asker.signature, self.search.signature, self.relevance.signature, numbers])

    def evidence(self, question: Question, log: Log) -> Steps[list[Evidence]]:
        """All evidence in the order of its queries, each query's best first; every step stands in the log."""
        queries = yield from self.asker.queries(question, log)
        if not queries:
            return []
        documents = yield Call(("search", self.search.signature), self.search.search, queries)
        candidates = [self._windows(*each, log) for each in zip(queries, documents, strict=True)]
        scores = yield from self._scores(
            [(query, each.title, text) for query, some in zip(queries, candidates, strict=True) for each, text in some]
        )
        found: list[Evidence] = []
        for query, some in zip(queries, candidates, strict=True):
            own, scores = scores[: len(some)], scores[len(some) :]
            found += self._best(query, some, own, log)
        if not found:
            log.flag(NO_EVIDENCE)
        return found

    def _windows(self, query: str, documents: list[Document] | Failed, log: Log) -> list[tuple[Document, str]]:
        """All windows of all documents of a query."""
        if isinstance(documents, Failed):
            log.add("search", query=query, documents=[], reason=f"the search failed: {documents.reason}")
            log.flag("a search failed")
            return []
        told = [{"source": each.source, "title": each.title} for each in documents]
        candidates = [(each, text) for each in documents for text in windows(each, self.sentences)]
        log.add("search", query=query, documents=told, reason=None if candidates else NO_DOCUMENT)
        if not candidates:
            log.flag(NO_DOCUMENT)
        return candidates

    def _best(
        self, query: str, candidates: list[tuple[Document, str]], scores: list[float], log: Log
    ) -> list[Evidence]:
        """The J best windows; of equals, that of the document found first."""
        order = sorted(range(len(scores)), key=lambda at: -scores[at])[: self.per_query]
        best = [
            Evidence(query, text, document.source, document.title, scores[at])
            for at in order
            for document, text in [candidates[at]]
        ]
        if best:
            log.add("evidence", query=query, windows=len(candidates), evidence=[each.told() for each in best])
        return best

    def _scores(self, pairs: list[tuple[str, str, str]]) -> Steps[list[float]]:
        """A pair that cannot be scored counts as 0."""
        scores = yield Call(("relevance", self.relevance.signature), self.relevance.score, pairs)
        return [0.0 if isinstance(each, Failed) or not isfinite(each) else float(each) for each in scores]

    def report(self, evidence: Sequence[Evidence], log: Log) -> Steps[list[Evidence]]:
        """At most M pieces of evidence, each as it was first found, that fit all the queries best; sources are kept."""
        first: dict[tuple[str, str], Evidence] = {}
        for each in evidence:
            first.setdefault((each.text, each.source), each)
        distinct = list(first.values())
        queries = list(dict.fromkeys(each.query for each in evidence))
        if not distinct:
            return []
        told: dict[str, Any] = {}
        shown, how = list(range(len(distinct))), "all"
        if len(distinct) > self.most:
            pairs = [(query, each.title, each.text) for query in queries for each in distinct]
            flat = yield from self._scores(pairs)
            scores = np.array(flat).reshape(len(queries), len(distinct))
            shown, how = chosen(scores, self.most)
            told = {"coverage": coverage(scores, shown), "possible": coverage(scores, list(range(len(distinct))))}
        report = [distinct[at] for at in shown]
        told["report"] = [each.told() | {"query": each.query} for each in report]
        log.add("report", candidates=len(distinct), chosen=how, **told)
        return report


def both(name: str) -> str:
    """The signatures of a template and of its contextual variant."""
    base, _, version = name.partition("@")
    return f"{templates.load(name).signature}|{templates.load(f'{base}-context@{version}').signature}"
