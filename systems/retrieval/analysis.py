"""Text to terms as Lucene's EnglishAnalyzer does it: words, possessives, lower case, stopwords, Porter stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

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
    """Turns text into terms; remembers stems, so one analyzer serves one thread."""

    def __init__(self) -> None:
        import Stemmer

        self._stem = Stemmer.Stemmer("porter", 0).stemWord
        self._known: dict[str, str] = {}
        self.version = f"lucene-english-1|porter:{Stemmer.version()}"

    def terms(self, text: str) -> list[str]:
        """The terms of a text in order, stopwords left out."""
        found = []
        for word in _WORD.findall(unicodedata.normalize("NFC", text).lower()):
            term = self._known.get(word)
            if term is None:
                term = self._known[word] = self._term(word)
            if term:
                found.append(term)
        return found

    def all_terms(self, texts: Iterable[str]) -> list[list[str]]:
        """The terms of each text."""
        return [self.terms(text) for text in texts]

    def _term(self, word: str) -> str:
        bare = _POSSESSIVE.sub("", word)[:_LONGEST]
        if bare in STOPWORDS:
            return ""
        return self._stem(bare) if len(bare) > 2 else bare  # as Lucene's PorterStemmer leaves short words alone
