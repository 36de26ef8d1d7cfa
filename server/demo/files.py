"""Reading and writing the demo benchmark's files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from core.corpus import parse_contents

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class DemoPassage:
    """One unit of the demo corpus; a page is all that stands before the first `#` of the id."""

    id: str
    title: str
    headings: str
    text: str

    @property
    def page(self) -> str:
        """The page's URL."""
        return self.id.partition("#")[0]


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSONL file in their order."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def read_passages() -> list[DemoPassage]:
    """The demo corpus in file order. Raises `ValueError` where contents are not of the corpus format."""
    passages = []
    for entry in read_jsonl(DATA / "corpus.jsonl"):
        parts = parse_contents(entry["contents"])
        if parts is None:
            raise ValueError(f"not of the corpus format: {entry['id']}")
        passages.append(DemoPassage(entry["id"], *parts))
    return passages


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file as text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write a CSV file with LF line ends, the same bytes on every system."""
    with path.open("w", encoding="utf-8", newline="") as file:
        write_rows(file, header, rows)


def write_rows(stream: TextIO, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write CSV rows with LF line ends."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
