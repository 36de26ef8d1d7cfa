"""Few-shot prompts for answers without passages, and what is read out of a model's text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

STOP = ("\n\n", "\nQ:")
VERSION = "1"


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A training question with one of its answers, and the address of a page that supports it where that is asked."""

    question: str
    answer: str
    url: str = ""


def closed_book(exemplars: Sequence[Exemplar], question: str) -> str:
    """Questions with answers, then the question; the model goes on after `A:`."""
    shown = "".join(f"Q: {_line(each.question)}\nA: {_line(each.answer)}\n\n" for each in exemplars)
    return f"{shown}Q: {_line(question)}\nA:"


def with_url(exemplars: Sequence[Exemplar], question: str) -> str:
    """As `closed_book`, with the address of a supporting Wikipedia page after each answer."""
    shown = "".join(f"Q: {_line(each.question)}\nA: {_line(each.answer)}\nURL: {each.url}\n\n" for each in exemplars)
    return f"{shown}Q: {_line(question)}\nA:"


def read_answer(text: str) -> str:
    """The first line that holds something, without a repeated `A:` and without quotes around all of it."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = re.sub(r"^(?:A|Answer):\s*", "", line)
    return line[1:-1].strip() if len(line) > 2 and line[0] == line[-1] == '"' else line


def read_answer_and_url(text: str) -> tuple[str, str]:
    """The answer, and the address after `URL:`, or the first one anywhere; empty where there is none."""
    answer = read_answer(text.split("URL:")[0])
    match = re.search(r"URL:\s*(\S+)", text) or re.search(r"(https?://\S+)", text)
    return answer, match[1].rstrip(".,;)>\"'") if match else ""


def _line(text: str) -> str:
    return " ".join(text.split())
