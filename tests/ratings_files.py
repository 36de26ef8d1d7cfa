"""Rating files for tests, in the raters' format."""

from __future__ import annotations

import csv
import io

from core.tables import RatingBatch
from server.bootstrap import Services
from submissions.ratings import Preview
from tests.small_benchmark import NILE, OSLO, ROME

TRIPLES = {
    "oslo": ("what is the capital of norway", "Oslo", OSLO),
    "roma": ("what is the capital of italy", "Roma", ROME),
    "nile": ("how long is the nile", "6,650 km", NILE),
}
HEADER = ("question", "answer", "attribution", "rater", "interpretable", "supported")


def ratings_csv(votes: dict[str, str], header: tuple[str, ...] = HEADER, raters: int = 1) -> bytes:
    """Votes per triple, a letter per rater from number `raters` on: Y, N (not supported), U (not interpretable)."""
    rows = [
        (*TRIPLES[name], f"rater-{number}", "N" if vote == "U" else "Y", "" if vote == "U" else vote)
        for name, given in votes.items()
        for number, vote in enumerate(given, start=raters)
    ]
    return table(header, rows)


def labels_csv(labels: dict[str, str]) -> bytes:
    """Pre-aggregated labels per triple."""
    rows = [(*TRIPLES[name], label) for name, label in labels.items()]
    return table(("question", "answer", "attribution", "human_rating"), rows)


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> bytes:
    """A CSV file."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue().encode()


def apply(services: Services, data: bytes, **more: object) -> RatingBatch:
    """Apply a file to the small benchmark."""
    return services.ratings.apply("small", io.BytesIO(data), "ratings.csv", author="maintainer", **more)  # type: ignore[arg-type]


def preview(services: Services, data: bytes, **more: object) -> Preview:
    """Preview a file on the small benchmark."""
    return services.ratings.preview("small", io.BytesIO(data), "ratings.csv", **more)  # type: ignore[arg-type]
