"""A rule-based reader: a question and a passage in, a short answer out, with no learning and no references."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from server.demo.retrieval import words

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE = re.compile(rf"(?:\d{{1,2}} )?(?:(?:{_MONTHS}) )?\b(?:1[0-9]|20)\d\d\b|\babout the year \d{{3}}\b")
_ONES = "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|twenty|thirty|forty|fifty"
_NUMBER = re.compile(rf"\b(?:\d[\d,.]*\d|\d|{_ONES})\b", re.IGNORECASE)
_CAPITAL = r"(?:[A-ZÀ-Þ][\w'’-]*|[A-Z]\.)"
_NAME = re.compile(rf"{_CAPITAL}(?:(?: (?:of|de|da|van|von|del|of the) | ){_CAPITAL})*(?: \d\b)?")
_OPENERS = """
a above after afterwards all almost an as asked at because before below both british but by each early every
for four from he here her his if in it its later many most nearly no not of on one only other others over she
since six so some such the their then there these they this those three to today under until what when where
with within
"""
_FIRST_WORDS = frozenset(_OPENERS.split())
_PLACE_BEFORE = re.compile(r"\b(?:in|at|on|of|to|near|under)(?: the)? $")


@dataclass(frozen=True)
class Reading:
    """An answer found, and how well its sentence fits the question."""

    answer: str
    score: float


def kind_of(question: str) -> str:
    """What is asked for, told from the first words alone: `when`, `how many`, `where`, `who` or `what`."""
    for start in ("when", "how many", "where"):
        if question.startswith(start):
            return start
    return "who" if question.startswith("who") else "what"


def sentences(text: str) -> list[str]:
    """Split into sentences at a full stop, colon or semicolon; initials do not end one."""
    return [part for part in re.split(r"(?<=[^A-Z][.?;:]) ", text) if part]


def read(question: str, title: str, text: str, weight: Callable[[str], float]) -> Reading | None:
    """The best short answer of the right kind in the passage, or None where there is no candidate.

    A candidate scores the summed `weight` of the question's words in its sentence (title words at half), less
    its distance in characters from the nearest of them.
    """
    asked = set(words(question))
    kind = kind_of(question)
    in_title = asked & set(words(title))
    best: Reading | None = None
    for order, sentence in enumerate(sentences(text)):
        present = asked & set(words(sentence))
        fit = sum(weight(word) for word in sorted(present))
        fit += 0.5 * sum(weight(word) for word in sorted(in_title - present))
        places = [m.start() for m in re.finditer(r"\w+", sentence) if set(words(m.group())) & asked]
        for answer, start in _candidates(kind, sentence, asked):
            distance = min((abs(start - place) for place in places), default=len(sentence))
            score = round(fit - distance / 100 - order / 100 + _bonus(kind, answer, sentence[:start]), 9)
            if best is None or score > best.score:
                best = Reading(answer, score)
    return best


def _candidates(kind: str, sentence: str, asked: set[str]) -> list[tuple[str, int]]:
    if kind == "when":
        return [(m.group().removeprefix("about the year "), m.start()) for m in _DATE.finditer(sentence)]
    if kind == "how many":
        return [(m.group(), m.start()) for m in _NUMBER.finditer(sentence)]
    found = []
    for match in _NAME.finditer(sentence):
        name, start = match.group(), match.start()
        first, _, rest = name.partition(" ")
        if first.lower() in _FIRST_WORDS:
            name, start = rest, start + len(first) + 1
        if name and not re.fullmatch(_MONTHS, name) and not set(words(name)) <= asked:
            found.append((name.removesuffix("'s"), start))
    return found


def _bonus(kind: str, answer: str, before: str) -> float:
    """A small preference: full names for persons, a preposition before places, a full date for times."""
    if kind == "who":
        return 1.0 if " " in answer else 0.0
    if kind == "where":
        return 1.5 if _PLACE_BEFORE.search(before) else 0.0
    if kind == "when":
        return 0.5 * answer.count(" ")
    return 0.0
