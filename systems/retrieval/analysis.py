"""Text to terms as Lucene's EnglishAnalyzer does it: words, possessives, lower case, stopwords, Porter stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

# Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET; pinned here, since an index depends on it.
_STOP = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
to was will with
"""
STOPWORDS = frozenset(_STOP.split())
# UAX #29 as far as Latin text needs it: an apostrophe or full stop joins letters, a separator joins digits.
_WORD = re.compile(r"\w+(?:(?:(?<=[^\W\d_])['’.](?=[^\W\d_])|(?<=\d)[.,;'’](?=\d))\w+)*")
_POSSESSIVE = re.compile(r"['’]s$")
_LONGEST = 255
"""Lucene's StandardTokenizer splits longer words; they are cut here, as no query will match either."""


class Analyzer:
    """Turns text into terms; remembers the term of every word it met."""

    def __init__(self) -> None:
        import Stemmer

        self.version = f"lucene-english-1|porter:{Stemmer.version()}"
        self._known = _Terms(Stemmer.Stemmer("porter", 0).stemWord)

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, stopwords left out."""
        return [term for term in map(self._known.__getitem__, self.words(text)) if term]

    def words(self, text: str) -> list[str]:
        """The words of a text in order, lower-cased, stopwords and all."""
        return _WORD.findall(unicodedata.normalize("NFC", text).lower())

    def term(self, word: str) -> str:
        """The term of one word; empty for a stopword."""
        return self._known[word]

    def all_terms(self, texts: Iterable[str]) -> list[list[str]]:
        """The terms of each text."""
        return [self.terms(text) for text in texts]


class _Terms(dict[str, str]):
    """Word → term, worked out when a word is met for the first time, so that known words cost one lookup."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        bare = _POSSESSIVE.sub("", word)[:_LONGEST]
        # Lucene's PorterStemmer leaves short words alone.
        term = "" if bare in STOPWORDS else self._stem(bare) if len(bare) > 2 else bare
        self[word] = term
        return term
