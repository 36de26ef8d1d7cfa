"""The tracks a benchmark can belong to: what an entry gives, and how that is called where it is shown."""

from __future__ import annotations

from dataclasses import dataclass

QA, EDITING = "qa", "editing"

TRACKS: dict[str, str] = {
    QA: "Attributed question answering",
    EDITING: "Editing for attribution",
}


@dataclass(frozen=True, slots=True)
class Words:
    """What a track's items are called, and what an entry does to them."""

    item: str
    items: str
    does: str
    done: str


WORDS: dict[str, Words] = {
    QA: Words("question", "questions", "answers", "answered"),
    EDITING: Words("passage", "passages to edit", "revises", "revised"),
}
