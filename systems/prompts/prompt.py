"""A prompt is a YAML file that never changes once published: another wording is another version."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from core.records import Passage
from systems.prompts import versions

_DATA = files("systems.prompts") / "data"


@dataclass(frozen=True, slots=True)
class Exemplar:
    """A solved question: one answer, and where the prompt shows them a page's address or passages to read."""

    question: str
    answer: str
    url: str = ""
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """How solved questions and the open one are written; a model's text ends before the first of `stop`."""

    key: str
    """NAME@VERSION."""
    digest: str
    instruction: str
    example: str
    """A solved question: `{passages}`, `{question}`, `{answer}` and `{url}` stand for its parts."""
    open: str
    """The question to be answered; the model goes on from its last character."""
    passage: str
    """One passage: `{number}`, `{title}`, `{headings}`, `{text}`."""
    stop: tuple[str, ...]
    exemplars: tuple[Exemplar, ...]
    """Solved questions written for this project; shown where a caller has none of its own."""

    @property
    def signature(self) -> str:
        """Name, version and digest of the file, as they stand in a run's signature."""
        return f"prompt:{self.key}#{self.digest}"

    def render(
        self, question: str, exemplars: Sequence[Exemplar] | None = None, passages: Sequence[Passage] = ()
    ) -> str:
        """The whole prompt. Without `exemplars` the file's own are shown, and never the question itself.

        Spaces and line ends within each part are collapsed.
        """
        own = _line(question).lower()
        shown = self.exemplars if exemplars is None else exemplars
        solved = [
            self.example.format(
                passages=self._passages(each.passages),
                question=_line(each.question),
                answer=_line(each.answer),
                url=each.url,
            )
            for each in shown
            if _line(each.question).lower() != own
        ]
        last = self.open.format(passages=self._passages(passages), question=_line(question))
        return "".join([self.instruction, *solved, last])

    def _passages(self, passages: Sequence[Passage]) -> str:
        return "".join(
            self.passage.format(
                number=number, title=_line(each.title), headings=_line(each.headings), text=_line(each.text)
            )
            for number, each in enumerate(passages, start=1)
        )


def names() -> list[str]:
    """NAME@VERSION of every prompt there is."""
    return versions.names(_DATA)


@cache
def load(name: str) -> Prompt:
    """The prompt NAME@VERSION; NAME alone is its newest version. Raises `NotFound` with the names there are."""
    found = versions.read(_DATA, name)
    entry = found.entry
    return Prompt(
        key=found.key,
        digest=found.digest,
        instruction=entry["instruction"],
        example=entry["example"],
        open=entry["open"],
        passage=entry.get("passage", ""),
        stop=tuple(entry["stop"]),
        exemplars=tuple(_exemplar(each) for each in entry.get("exemplars", [])),
    )


def _exemplar(entry: dict[str, Any]) -> Exemplar:
    passages = tuple(
        Passage(id="", title=each["title"], headings=each["title"], text=each["text"])
        for each in entry.get("passages", [])
    )
    return Exemplar(entry["question"], entry["answer"], entry.get("url", ""), passages)


def _line(text: str) -> str:
    return " ".join(text.split())
