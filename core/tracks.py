"""The tracks a benchmark can belong to: what an entry gives, and how that is called where it is shown."""

from __future__ import annotations

QA, EDITING = "qa", "editing"

TRACKS: dict[str, str] = {
    QA: "Attributed question answering",
    EDITING: "Editing for attribution",
}
