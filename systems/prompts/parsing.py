"""What is read out of a model's text. Models repeat labels, quote, mark up and go on talking; a parser never raises."""

from __future__ import annotations

import re

_NAMES = r"(?:final\s+answer|the\s+answer\s+is|answer|a)\s*:"
_LABEL = re.compile(rf"^(?:(\*\*|__){_NAMES}\s*\1|{_NAMES})\s*", re.IGNORECASE)
_URL_LABEL = re.compile(r"\s*\b(?:url|source|page|link)\s*:\s*", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:https?://)?(?:[a-z-]+\.)?(?:m\.)?wikipedia\.org/wiki/[^\s<>\"|\]]+|https?://[^\s<>\"|\]]+", re.IGNORECASE
)
_SPECIAL = re.compile(r"<\|[a-z_]+\|>|</?s>|<pad>")
_CITED = re.compile(r"\s*[\[(](\d{1,3})[\])]")
_PAIRS = {'"': '"', "'": "'", "“": "”", "`": "`", "«": "»"}


def read_answer(text: str) -> str:
    """The first line that holds something, without a repeated label, mark-up or quotes around all of it."""
    lines = (_bare(line) for line in _SPECIAL.sub("\n", text).splitlines())
    return next((line for line in lines if line), "")


def read_answer_and_url(text: str) -> tuple[str, str]:
    """The answer, and the address after a label or anywhere in the text; an empty address where there is none."""
    text = _SPECIAL.sub("\n", text)
    label, address = _URL_LABEL.search(text), _ADDRESS.search(text)
    ends = [found.start() for found in (label, address) if found]
    answer = read_answer(text[: min(ends)] if ends else text).rstrip(" ([<").strip()
    if address:
        return answer, _trimmed(address[0])
    written = text[label.end() :].split("\n")[0].split() if label else []
    return answer, _trimmed(written[0]) if written and "/" in written[0] else ""


def read_cited_answer(text: str, passages: int) -> tuple[str, int | None]:
    """The answer and the index of the passage whose number is cited with it; None without a number that there is."""
    line = read_answer(text)
    cited = [int(number) - 1 for number in _CITED.findall(line)]
    known = [index for index in cited if 0 <= index < passages]
    return (_CITED.sub("", line).strip() if known else line), (known[0] if known else None)


def _bare(line: str) -> str:
    line = _LABEL.sub("", line.strip())
    for mark in ("**", "__", "*", "_"):
        if len(line) > 2 * len(mark) and line.startswith(mark) and line.endswith(mark):
            line = line[len(mark) : -len(mark)].strip()
    line = _LABEL.sub("", line)
    if len(line) > 2 and _PAIRS.get(line[0]) == line[-1] and line.count(line[0]) <= 2:
        line = line[1:-1].strip()
    return line


def _trimmed(address: str) -> str:
    """Without what ends the sentence around it; a bracket stays where it closes one of the address."""
    while address and (address[-1] in ".,;:!?'*>”" or (address[-1] == ")" and address.count("(") < address.count(")"))):
        address = address[:-1]
    return address
