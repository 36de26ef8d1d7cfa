"""The demo's stand-in systems: each answers a question from the corpus by simple rules, without seeing references.

Every method returns (answer, attribution); an empty attribution means that the system found none.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.text import squad_normalise
from server.demo.files import DemoPassage
from server.demo.memory import Memory
from server.demo.reader import Reading, read
from server.demo.retrieval import BM25, words

SMALL_MEMORY, LARGE_MEMORY = 0.6, 0.9
_SEARCHED = 10


class StandIns:
    """All stand-in systems over one corpus."""

    def __init__(self, passages: Sequence[DemoPassage], exemplars: Sequence[tuple[str, str]]) -> None:
        self._passages = passages
        self._exemplars = exemplars
        self._index = BM25([f"{p.title} {p.headings} {p.text}" for p in passages])
        self._titles = BM25([p.title for p in passages])
        self._exemplar_index = BM25([question for question, _ in exemplars])
        self._memories = {share: Memory(passages, share, self._index.weight) for share in (SMALL_MEMORY, LARGE_MEMORY)}

    def retrieve_then_read(self, question: str, k: int) -> tuple[str, str]:
        """BM25 with the question, then the reader over the best k passages; the best reading wins."""
        best: tuple[float, str, str] | None = None
        for position, retrieved in self._index.search(question, k):
            passage = self._passages[position]
            reading = self._read(question, passage)
            if reading and (best is None or reading.score + retrieved > best[0]):
                best = reading.score + retrieved, reading.answer, passage.id
        return (best[1], best[2]) if best else ("", "")

    def title_search(self, question: str) -> tuple[str, str]:
        """BM25 over titles alone; the first passage of the best page is read."""
        hits = self._titles.search(question, 1)
        if not hits:
            return "", ""
        passage = self._passages[hits[0][0]]
        reading = self._read(question, passage)
        return (reading.answer, passage.id) if reading else ("", passage.id)

    def top_title(self, question: str) -> tuple[str, str]:
        """The title of the best passage is the answer, whatever was asked."""
        hits = self._index.search(question, 1)
        return (self._passages[hits[0][0]].title, self._passages[hits[0][0]].id) if hits else ("", "")

    def recall(self, question: str, share: float) -> str:
        """A closed-book answer from the memory of the given share."""
        return self._memories[share].recall(question)

    def post_hoc(self, query: str, answer: str) -> tuple[str, str]:
        """A passage for an answer that is there already: the first hit for the query that contains the answer."""
        for position, _ in self._index.search(query, _SEARCHED):
            if _holds(self._passages[position], answer):
                return answer, self._passages[position].id
        return answer, ""

    def nearest_exemplar(self, question: str) -> str:
        """The answer of the exemplar whose question is most alike; the first exemplar's where none shares a word."""
        hits = self._exemplar_index.search(question, 1)
        return self._exemplars[hits[0][0] if hits else 0][1]

    def guess_page(self, question: str) -> tuple[str, str]:
        """An answer from memory, a page by its title, and the paragraph of that page that fits both best.

        The title must share a word with question or answer; the one with the greatest share of its own words wins.
        """
        answer = self.recall(question, LARGE_MEMORY)
        told = set(words(f"{question} {answer}"))
        best, page = 0.0, ""
        for passage in self._passages:
            title = words(passage.title)
            weights = [self._index.weight(word) for word in title]
            known = sum(weight for word, weight in zip(title, weights, strict=True) if word in told)
            share = round(known * known / sum(weights), 9) if weights else 0.0
            if share > best:
                best, page = share, passage.page
        paragraphs = [passage for passage in self._passages if passage.page == page]
        if not paragraphs:
            return answer, ""
        hits = BM25([passage.text for passage in paragraphs]).search(f"{question} {answer}", 1)
        return answer, paragraphs[hits[0][0] if hits else 0].id

    def research_and_revise(self, question: str) -> tuple[str, str]:
        """Recall, research with question and answer, then keep the answer if the evidence holds it, else revise it."""
        answer = self.recall(question, SMALL_MEMORY)
        hits = self._index.search(f"{question} {answer}", 1)
        if not hits:
            return answer, ""
        passage = self._passages[hits[0][0]]
        if _holds(passage, answer):
            return answer, passage.id
        reading = self._read(question, passage)
        return (reading.answer if reading else answer), passage.id

    def read_given(self, question: str, identifier: str) -> tuple[str, str]:
        """The reader over one given passage."""
        passage = next(passage for passage in self._passages if passage.id == identifier)
        reading = self._read(question, passage)
        return (reading.answer if reading else ""), identifier

    def _read(self, question: str, passage: DemoPassage) -> Reading | None:
        return read(question, passage.title, passage.text, self._index.weight)


def _holds(passage: DemoPassage, answer: str) -> bool:
    wanted = squad_normalise(answer)
    return bool(wanted) and f" {wanted} " in f" {squad_normalise(passage.text)} "
