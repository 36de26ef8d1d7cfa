"""Word matching for the demo's stand-in systems: BM25 over any list of texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

_K1, _B = 1.2, 0.75
_FUNCTION_WORDS = """
a an and are as at be became been but by called can did do does for from had has have he her his how i in
into is it its many may most of often on one or she so than that the their them then there they this to
was were what when where which who whom whose why will with would
"""
_STOP = frozenset(_FUNCTION_WORDS.split())


def words(text: str) -> list[str]:
    """Lower-cased words without function words, possessive and plural endings cut."""
    found = []
    for word in re.findall(r"\w+", re.sub(r"['’]s\b", "", text.lower())):
        if word not in _STOP:
            found.append(word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] not in "su" else word)
    return found


class BM25:
    """BM25 (k1 1.2, b 0.75, Lucene's never negative idf) over a small list of texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._counts = [Counter(words(text)) for text in texts]
        lengths = [sum(counts.values()) for counts in self._counts]
        mean = sum(lengths) / len(lengths)
        self._norms = [_K1 * (1 - _B + _B * length / mean) for length in lengths]
        documents = Counter(word for counts in self._counts for word in counts)
        self._idf = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in documents.items()}

    def weight(self, word: str) -> float:
        """The idf of a word; 0 for a word that no text holds."""
        return self._idf.get(word, 0.0)

    def search(self, query: str, k: int) -> list[tuple[int, float]]:
        """The k best texts as (position, score), best first, ties in text order; texts that share no word are out."""
        wanted = sorted(set(words(query)))
        scores = []
        for position, (counts, norm) in enumerate(zip(self._counts, self._norms, strict=True)):
            score = sum(
                self.weight(word) * counts[word] * (_K1 + 1) / (counts[word] + norm) for word in wanted if counts[word]
            )
            if score > 0:
                scores.append((position, round(score, 9)))
        return sorted(scores, key=lambda hit: (-hit[1], hit[0]))[:k]
