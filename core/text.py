"""Text forms that keys and joins rest on: canonical questions, corpus ids, triples, pairs, SQuAD normalisation."""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Iterable
from urllib.parse import unquote

_ZERO_WIDTH = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff"))
_QUOTES = str.maketrans({"‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "‟": '"'})
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")


def canonical_question(text: str) -> str:
    """The form in which questions are joined loosely: NFC, quotes folded, no zero-width, spaces collapsed."""
    folded = unicodedata.normalize("NFC", text).translate(_ZERO_WIDTH).translate(_QUOTES)
    return " ".join(folded.split())


def canonical_attribution(identifier: str) -> str:
    """A corpus id percent-decoded once, NFC, with spaces for underscores."""
    return unicodedata.normalize("NFC", unquote(identifier)).replace("_", " ")


def squad_normalise(text: str) -> str:
    """SQuAD's answer normalisation: lower-case, no ASCII punctuation, no articles, spaces collapsed."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def lenient_normalise(text: str) -> str:
    """NFKC with dashes and quotes folded and zero-width characters dropped, then `squad_normalise`."""
    folded = unicodedata.normalize("NFKC", text).translate(_ZERO_WIDTH).translate(_QUOTES).translate(_DASHES)
    return squad_normalise(folded)


def hash_key(*parts: str, size: int = 16) -> bytes:
    """A short stable hash of several strings, unambiguous about where one ends."""
    digest = hashlib.blake2b(digest_size=size)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def triple_key(position: int, answer: str, passage_id: str) -> bytes:
    """The label cache's key within a benchmark: (question, answer, passage id) after NFC and trimming."""
    return hash_key(str(position), *(unicodedata.normalize("NFC", part).strip() for part in (answer, passage_id)))


def near_key(position: int, answer: str, passage_id: str) -> bytes:
    """As `triple_key`, with the SQuAD-normalised answer: finds *near* hits."""
    return hash_key(str(position), squad_normalise(answer), unicodedata.normalize("NFC", passage_id).strip())


def revision_key(position: int, text: str, report: Iterable[tuple[str, str]]) -> bytes:
    """What people's words on a revision are kept by: the passage, its revised text, and the evidence beside it.

    `report` gives each snippet's text and source, in their order.
    """
    parts = [unicodedata.normalize("NFC", part).strip() for part in (text, *(p for pair in report for p in pair))]
    return hash_key(str(position), *parts)


def pair_key(premise: str, hypothesis: str) -> bytes:
    """The judgment cache's key under one judge signature."""
    return hash_key(premise, hypothesis)


def counted(n: int, thing: str) -> str:
    """A number of things in words: 1 triple, 1,024 triples, 2 entries."""
    plural = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{n:,} {thing if n == 1 else plural}"
