"""A closed-book stand-in: sentences that were seen once and have lost their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from server.demo.draws import uniform
from server.demo.files import DemoPassage
from server.demo.reader import read, sentences
from server.demo.retrieval import BM25

SEED = 1867
_TRIED = 3


class Memory:
    """A seeded share of the corpus's sentences; a larger share holds all that a smaller one does."""

    def __init__(self, passages: Sequence[DemoPassage], share: float, weight: Callable[[str], float]) -> None:
        self._kept = [
            (passage.title, sentence)
            for passage in passages
            for sentence in sentences(passage.text)
            if uniform(SEED, passage.id, sentence) < share
        ]
        self._index = BM25([f"{title} {sentence}" for title, sentence in self._kept])
        self._weight = weight

    def recall(self, question: str) -> str:
        """The reader's answer from the best-matching sentence that yields one; empty where none does."""
        for position, _ in self._index.search(question, _TRIED):
            title, sentence = self._kept[position]
            reading = read(question, title, sentence, self._weight)
            if reading:
                return reading.answer
        return ""
