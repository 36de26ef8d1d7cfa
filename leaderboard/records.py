"""The frozen values a board is made of; `to_dict` gives the API's JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from core.tracks import QA
from scorer.statistics.ranks import Rank


@dataclass(frozen=True, slots=True)
class JudgeName:
    """Who judged: its key, how it is called, and what its number is called."""

    key: str
    title: str
    score_name: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a metric under one recipe. `recipe` is the signature without the labels used."""

    key: str
    metric: str
    title: str
    help: str
    recipe: str
    judge: JudgeName | None = None
    synthetic: bool = False
    apart: str | None = None
    """Why it stands apart from the metric's main column: its recipe differs."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One number of one system. `value` is None exactly when `reason` says why."""

    value: float | None
    n: int = 0
    low: float | None = None
    high: float | None = None
    se: float | None = None
    method: str = "none"
    signature: str = ""
    reason: str | None = None
    struck: str | None = None
    """Why the number is shown struck: it must not be compared in this column."""
    unranked: str | None = None
    """Why the number has no rank in this column; None for one that may be ranked."""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """A system's latest version that may stand on a board; everything but its numbers."""

    system_id: int
    system: str
    team: str
    architecture: str
    supervision: str
    description: str
    links: tuple[str, ...]
    uses_autoais: bool
    size: float | None
    """Billions of parameters, where its team said."""
    reference: bool
    submission: str
    version: int
    coverage: float
    evaluation_id: int
    judge: str
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Row:
    """One system on the board."""

    entry: Entry
    metrics: Mapping[str, Cell]
    rank: Rank | None = None
    unranked: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, no NaN."""
        entry = asdict(self.entry)
        entry["links"] = list(self.entry.links)
        entry["published_at"] = self.entry.published_at.isoformat() if self.entry.published_at else None
        return entry | {
            "metrics": {key: asdict(cell) for key, cell in self.metrics.items()},
            "rank": asdict(self.rank) if self.rank else None,
            "unranked": self.unranked,
        }


@dataclass(frozen=True, slots=True)
class Best:
    """The best ranked value of a column within an architecture, with its interval."""

    system_id: int
    system: str
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Spread:
    """Best and median of one column over an architecture's `n` systems that may be ranked in it."""

    n: int
    best: Best | None
    median: float | None


@dataclass(frozen=True, slots=True)
class Summary:
    """An architecture in short; `gap` is the mean of AutoAIS − AIS over its `gap_n` systems that have both."""

    systems: int
    columns: Mapping[str, Spread]
    gap: float | None
    gap_n: int


@dataclass(frozen=True, slots=True)
class Group:
    """An architecture's systems and their summary."""

    architecture: str
    title: str
    rows: tuple[Row, ...]
    summary: Summary


@dataclass(frozen=True, slots=True)
class Board:
    """A benchmark's leaderboard."""

    benchmark: str
    title: str
    description: str
    signature_name: str
    questions: int
    rated: int
    raters_per_item: int
    minimum_coverage: float
    synthetic: bool
    columns: tuple[Column, ...]
    rank_by: str | None
    groups: tuple[Group, ...]
    track: str = QA

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows, architecture by architecture."""
        return tuple(row for group in self.groups for row in group.rows)

    def column(self, key: str) -> Column | None:
        """The column of that key, if there is one."""
        return next((column for column in self.columns if column.key == key), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, no NaN; undefined numbers are None beside a reason."""
        return {
            "benchmark": {
                "id": self.benchmark, "title": self.title, "description": self.description,
                "name": self.signature_name, "questions": self.questions, "rated": self.rated,
                "raters_per_item": self.raters_per_item, "minimum_coverage": self.minimum_coverage,
            },
            "synthetic_ratings": self.synthetic,
            "rank_by": self.rank_by,
            "columns": [asdict(column) for column in self.columns],
            "rows": [row.to_dict() for row in self.rows],
            "architectures": [
                {"architecture": g.architecture, "title": g.title, "summary": asdict(g.summary)} for g in self.groups
            ],
        }  # fmt: skip
