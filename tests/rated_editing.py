"""Sheets of the small editing benchmark, filled in and applied, and the scores that come of it."""

from __future__ import annotations

import csv
import io
from typing import Any

from core.records import Score
from core.tables import Submission
from scorer.stored import read_scores
from server.bootstrap import Services
from server.ratings import revision_sheet
from server.worker import Worker

Rows = list[dict[str, str]]


def sheet(services: Services, submissions: list[str] | None = None, *, before: bool = False) -> Rows:
    """What nobody has rated yet."""
    data, _ = revision_sheet(services, "edit", "csv", submissions or [], None, 0, before)
    return list(csv.DictReader(io.StringIO(data.decode())))


def filled(rows: Rows, rater: str, said: dict[tuple[str, str], str]) -> bytes:
    """The sheet with answers by (id, sentence) of the revised texts, Y where there is none."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        column = "intent" if row["sentence"] == "0" else "supported"
        writer.writerow(row | {"rater": rater, column: said.get((row["id"], row["sentence"]), "Y")})
    return text.getvalue().encode()


def scores(services: Services, submission: Submission) -> dict[str, Score]:
    """The scores once all evaluations are done."""
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        row = session.get_one(Submission, submission.id)
        assert row.state == "scored"
        assert row.evaluation_id is not None
        return read_scores(session, row.evaluation_id)


def apply(services: Services, data: bytes, **more: Any) -> int:
    """The id of the batch that a file becomes."""
    return services.ratings.apply("edit", io.BytesIO(data), "l.csv", author="mo", **more).id
