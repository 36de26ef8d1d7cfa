"""What the small judge reads off the letters alone: words, answer mentions, answer types, candidate spans."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field

Span = tuple[int, int]
"""First character and the one after the last."""

_LIST = """
a about an and are as at be been being between but by can could did do does during for from had has have he her his
how i if in into is it its many may might much no not of on or over s shall she should so t than that the their then
there these they this those to under was we were what when where which who whom whose why will with would you
"""
FUNCTION_WORDS = frozenset(_LIST.split())
QUESTION_WORDS = frozenset(("how", "what", "when", "where", "which", "who", "whom", "whose", "why"))
_MONTH_LIST = "january february march april june july august september october november december"
_NUMBER_LIST = """
one two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty sixty hundred
thousand million billion half dozen first second third
"""
_MONTHS = frozenset(_MONTH_LIST.split())
_NUMBER_WORDS = frozenset(_NUMBER_LIST.split())
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_NAME = re.compile(r"\b[A-Z][\w'’\-]*(?:\s+(?:(?:of|the|de|von|van)\s+)?[A-Z][\w'’\-]*)*")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")
_PHRASE = re.compile(r"[\w'’\-]+(?:\s[\w'’\-]+)*")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[]?[A-Z0-9])|\n+")
_YEAR = re.compile(r"\b[12]\d{3}\b|\d{1,2}(?:st|nd|rd|th) century")
_NEGATION = re.compile(
    r"\b(?:not|never|no|none|without|neither|nor|except|unable|cannot|fail\w*|un[a-z]{5,})\b|n['’]t\b"
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|old|long|far|tall|large|big|high|often)\b|\bwhat (?:percent|number|amount)"
)
_ASKS_DATE = re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|month|day|century|decade|era)")
_ASKS_NAME = re.compile(
    r"\b(?:who|whom|whose|where)\b|\b(?:what|which) (?:city|country|state|place|nation|region|river|person)"
)


def words(text: str) -> list[tuple[str, Span]]:
    """Words in lower case with their places."""
    return [(m.group().lower(), m.span()) for m in _WORD.finditer(text)]


def stem(word: str) -> str:
    """A lower-case word without a common English ending; crude, but the same on both sides."""
    word = word.removesuffix("'s").removesuffix("’s")
    for ending in ("ing", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def content_stems(text: str) -> list[str]:
    """Stems of the words that are no function words, in order."""
    return [stem(word) for word, _ in words(text) if word not in FUNCTION_WORDS]


@dataclass(slots=True)
class Reading:
    """A passage's words read once: lower-case words with places, their stems, and where sentences end."""

    text: str
    words: list[tuple[str, Span]] = field(init=False)
    stems: list[str] = field(init=False)
    ends: list[int] = field(init=False)
    capitalised: frozenset[str] = field(init=False)
    """Stems of words that stand in the text with a capital and never without one."""

    def __post_init__(self) -> None:
        self.words = words(self.text)
        stemmed = {word: stem(word) for word, _ in self.words}
        self.stems = [stemmed[word] for word, _ in self.words]
        self.ends = sentence_ends(self.text)
        upper = {word for word, (first, _) in self.words if self.text[first].isupper()}
        lower = {word for word, (first, _) in self.words if not self.text[first].isupper()}
        self.capitalised = frozenset(stemmed[word] for word in upper - lower)

    def content_within(self, span: Span) -> list[str]:
        """Stems of the words in a span of characters that are no function words."""
        first = bisect_left(self.words, span[0], key=lambda word: word[1][0])
        last = bisect_left(self.words, span[1], lo=first, key=lambda word: word[1][0])
        return [
            stemmed
            for (word, _), stemmed in zip(self.words[first:last], self.stems[first:last], strict=True)
            if word not in FUNCTION_WORDS
        ]

    def sentence(self, place: int) -> Span:
        """The sentence that holds a character."""
        k = min(bisect_left(self.ends, place + 1), len(self.ends) - 1)
        return (self.ends[k - 1] if k else 0), self.ends[k]

    def mentions(self, answer: str) -> list[Span]:
        """Where the answer's words stand in a row, whatever the case and punctuation."""
        sought = [word for word, _ in words(answer)]
        n = len(sought)
        if not n:
            return []
        found = [word for word, _ in self.words]
        return [
            (self.words[i][1][0], self.words[i + n - 1][1][1])
            for i in range(len(found) - n + 1)
            if found[i] == sought[0] and found[i : i + n] == sought
        ]


def sentence_ends(text: str) -> list[int]:
    """Character positions where a new sentence starts, and the end of the text."""
    return [*(m.end() for m in _SENTENCE_END.finditer(text)), len(text)]


def shape(answer: str) -> str:
    """The kind of thing an answer looks like: `date`, `number`, `name` or `other`."""
    lower = answer.lower()
    first = next(iter(words(answer)), ("", (0, 0)))[0]
    if _YEAR.search(lower) or not _MONTHS.isdisjoint(lower.split()):
        return "date"
    if _NUMBER.search(answer) or first in _NUMBER_WORDS:
        return "number"
    return "name" if _NAME.search(answer) else "other"


def expected(question: str) -> str:
    """The kind of thing a lower-case question asks for, in the terms of `shape`."""
    if _ASKS_NUMBER.search(question):
        return "number"
    if _ASKS_DATE.search(question):
        return "date"
    return "name" if _ASKS_NAME.search(question) else "other"


def candidates(kind: str, passage: str) -> list[Span]:
    """Spans of the passage that could answer a question for this kind of thing."""
    if kind in ("date", "number"):
        return [m.span() for m in _NUMBER.finditer(passage)]
    names = [m.span() for m in _NAME.finditer(passage)]
    return names if kind == "name" else names + _phrases(passage)


def _phrases(passage: str) -> list[Span]:
    """Runs of at most three words between function words and punctuation."""
    spans: list[Span] = []
    for clause in _PHRASE.finditer(passage):
        run: list[Span] = []
        for m in re.finditer(r"\S+", clause.group()):
            span = (clause.start() + m.start(), clause.start() + m.end())
            if m.group().lower() not in FUNCTION_WORDS:
                run.append(span)
            if run and (m.group().lower() in FUNCTION_WORDS or len(run) == 3):
                spans.append((run[0][0], run[-1][1]))
                run = []
        if run:
            spans.append((run[0][0], run[-1][1]))
    return spans


def negated(text: str) -> bool:
    """True if the text holds a word of negation."""
    return _NEGATION.search(text.lower()) is not None


def numbers(text: str) -> list[str]:
    """Numbers as written, without thousands separators."""
    return [m.group().replace(",", "") for m in _NUMBER.finditer(text)]


LONGEST = 16_000
"""Characters of a premise that are read whole; of a longer one the parts with most of the hypothesis's words."""
_PART = re.compile(r"\S[\s\S]{0,999}(?=\s|$)|\S{1000}")


def condense(premise: str, hypothesis: str) -> tuple[str, bool]:
    """A premise of at most `LONGEST` characters, and whether parts were left out; parts keep their order."""
    if len(premise) <= LONGEST:
        return premise, False
    sought = frozenset(content_stems(hypothesis))
    parts = _PART.findall(premise)
    found = [len(sought.intersection(content_stems(part))) for part in parts]
    best = sorted(range(len(parts)), key=lambda k: (-found[k], k))[: LONGEST // 1000]
    return "\n".join(parts[k] for k in sorted(best)), True
