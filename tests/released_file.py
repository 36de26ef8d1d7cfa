"""A file like the paper's released ratings, on the small benchmark."""

from __future__ import annotations

import csv
from pathlib import Path

from submissions.released import COLUMNS
from tests.small_benchmark import NILE, OSLO, ROME

NORWAY, ITALY, LENGTH = "what is the capital of norway", "what is the capital of italy", "how long is the nile"
OSLO_TEXT = "Title: Oslo\n\nOslo is the capital of Norway."
ROME_TEXT = "Title: Rome\nSection: History\n\nRome is the capital of Italy,\nand has been since 1871."
NILE_TEXT = "Title: Nile\n\nThe Nile flows north for 6,650 km."
ROWS = [
    ("RTR-10", NORWAY, "Oslo", OSLO, OSLO_TEXT, "Y", "Y", "0.9"),
    ("RTR-10", ITALY, "Roma", ROME, ROME_TEXT, "N", "N", "0.25"),
    ("RTR-10", LENGTH, "6,650 km", NILE, NILE_TEXT, "", "Y", "0.5"),
    ("Post-6 AutoAIS reranked", NORWAY, "Oslo", OSLO, OSLO_TEXT, "Y", "Y", "0.9"),
    ("Post-6 AutoAIS reranked", ITALY, "Milan", "", "", "N", "N", ""),
    ("Mystery", ITALY, "Roma", ROME, ROME_TEXT, "Y", "N", "0.25"),
]


def write(path: Path, rows: list[tuple[str, ...]], header: tuple[str, ...] = COLUMNS) -> Path:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path
