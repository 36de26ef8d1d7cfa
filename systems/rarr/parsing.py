"""What is read out of a model's text at each step. A parser never raises; None or nothing means it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.text import canonical_question
from systems.prompts.template import one_line

AGREES, DISAGREES, IRRELEVANT = "agrees", "disagrees", "irrelevant"
LONGEST_QUERY = 300
_BULLET = re.compile(r"^(?:[-*•–]+|\(?\d{1,2}[.):]\)?|\(?[a-h][.)]|(?:q|question|search|query)\s*\d*\s*:)\s*", re.I)
_VERDICT = re.compile(r"\bverdict\b\W*(.*)", re.IGNORECASE)
_WORDS = (
    (IRRELEVANT, re.compile(r"\b(?:irrelevant|unrelated|not\s+(?:relevant|related)|neither\b|no\s+evidence)", re.I)),
    (AGREES, re.compile(r"\b(?:(?:does\s+not|doesn[’']t|do\s+not|don[’']t|not)\s+(?:disagree|contradict)\w*)", re.I)),
    (
        DISAGREES,
        re.compile(
            r"\b(?:dis-?agree\w*|contradict\w*|(?:not|doesn[’']t|don[’']t)\s+(?:agree|support)\w*|refute\w*)", re.I
        ),
    ),
    (AGREES, re.compile(r"\b(?:agree\w*|support\w*|confirm\w*|consistent)", re.IGNORECASE)),
)
"""In this order, each struck out where it is found: `does not agree` holds `agree`."""
_SPAN_ENDS = re.compile(r"\n|\bshould be\s*:|\bcorrected (?:part|text|reply)\s*:", re.IGNORECASE)
_REVISED = re.compile(
    r"\b(?:corrected|revised)\s+(?:text|reply|response)\b\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*", re.IGNORECASE
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "`": "`"}


@dataclass(frozen=True, slots=True)
class Edit:
    """The part that was named as wrong (empty: none), and the text as it was written anew."""

    span: str
    text: str


def read_questions(text: str) -> list[str]:
    """The questions of a list, each once, in their order; what stands after a question mark is left out."""
    found = (line[: line.rfind("?") + 1].strip() for line in _items(text))
    return _once(line for line in found if len(line) > 3)


def read_searches(text: str) -> list[str]:
    """The entries of a list, each once, in their order."""
    return _once(line for line in _items(text) if any(each.isalnum() for each in line))


def key_of(query: str) -> str:
    """What makes two queries the same: letters and digits alone, whatever their case."""
    return " ".join(re.findall(r"\w+", canonical_question(query).casefold()))


def read_verdict(text: str) -> str | None:
    """`agrees`, `disagrees` or `irrelevant`: the word after the label; without a label, the only one there is."""
    labelled = _VERDICT.search(text)
    found = _verdicts(labelled[1] if labelled else text)
    if labelled and not found:
        found = _verdicts(text[labelled.end() :].lstrip().split("\n")[0])
    return found[0] if len(set(found)) == 1 or (labelled and found) else None


def read_edit(text: str) -> Edit | None:
    """The text after its label, and the part named before it; None where no text was written anew."""
    label = _REVISED.search(text)
    if label is None:
        return None
    revised = _bare(text[label.end() :].lstrip().split("\n")[0])
    span = _bare(_SPAN_ENDS.split(text[: label.start()].strip(), maxsplit=1)[0].strip())
    return Edit(span, revised) if revised else None


def read_response(text: str) -> str:
    """The first line that holds something, without a repeated label or quotes around it."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return _bare(_REVISED.sub("", line, count=1) if _REVISED.match(line) else line)


def cut_off(text: str, finish: str) -> bool:
    """True where the model was stopped by its limit within the last line that it wrote."""
    label = _REVISED.search(text)
    return finish == "length" and "\n" not in text[label.end() if label else 0 :].strip("\n ")


def keep_spacing(current: str, revised: str) -> str:
    """`revised`, which was written on one line, with the line ends and spaces of `current` where words are the same.

    A prompt shows a text on one line; without this, every line end would count as an edit.
    """
    if current == one_line(current):
        return revised
    old, new = re.findall(r"\s*\S+", current), revised.split()
    if [word.strip() for word in old] == new:
        return current
    told: list[str] = []
    for kind, start, end, first, last in SequenceMatcher(
        None, [word.strip() for word in old], new, False
    ).get_opcodes():
        if kind == "equal":
            told += old[start:end]
        elif first < last:
            before = old[start][: -len(old[start].strip())] if kind == "replace" else " "
            told += [(before or " ") + new[first], *(f" {word}" for word in new[first + 1 : last])]
    whole = "".join(told)
    ending = current[len(current.rstrip()) :]
    return (whole if current[:1].isspace() else whole.lstrip()) + ending


def _items(text: str) -> list[str]:
    lines = (one_line(line) for line in text.splitlines())
    bare = (_bare(_BULLET.sub("", _BULLET.sub("", line))) for line in lines)
    return [line for line in bare if 0 < len(line) <= LONGEST_QUERY]


def _once(lines: Iterable[str]) -> list[str]:
    seen: dict[str, str] = {}
    for line in lines:
        seen.setdefault(key_of(line), line)
    return [line for key, line in seen.items() if key]


def _verdicts(text: str) -> list[str]:
    found: list[tuple[int, str]] = []
    for name, pattern in _WORDS:
        found += [(match.start(), name) for match in pattern.finditer(text)]
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return [name for _, name in sorted(found)]


def _bare(line: str) -> str:
    line = line.strip()
    for mark in ("**", "__"):
        if len(line) > 4 and line.startswith(mark) and line.endswith(mark):
            line = line[2:-2].strip()
    if len(line) > 2 and _QUOTES.get(line[0]) == line[-1] and line.count(line[-1]) <= 2:
        line = line[1:-1].strip()
    return line
