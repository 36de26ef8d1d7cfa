"""Batches, previews, raters and agreement as the API and the command line show them: plain, JSON-ready values."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.tables import EditRatingRow, RaterExclusion, RatingBatch, RatingRow, RatingSheet
from core.tracks import EDITING, QA
from scorer.agreement_report import BatchAgreement
from scorer.sheet_strata import strata
from server.bootstrap import Services
from submissions.ratings import Preview, kinds
from submissions.ratings.chosen import published
from submissions.ratings.editing_sheets import to_rate, write_sheet
from submissions.report import report_to_dict

RATED = {QA: "triples", EDITING: "sentences and intents"}
"""What raters rate, by track."""
HELD = {QA: "triples", EDITING: "revisions"}
"""What submissions hold of it."""
_MOST = 1_000


def preview_document(found: Preview) -> dict[str, Any]:
    """What a file holds and what applying it would do; up to 1,000 conflicts and unheld triples, with their counts."""
    return {
        "benchmark": found.benchmark_id,
        "accepted": found.accepted,
        "applied_as": found.applied_as,
        "kind": found.kind,
        "qualification": found.qualification,
        "digest": found.digest,
        "ratings": found.ratings,
        "triples": found.triples,
        "raters": list(found.raters),
        "raters_left_out": list(found.left_out),
        "new": found.new,
        "repeats": found.repeats,
        "conflicts": len(found.conflicts),
        "unheld": len(found.unheld),
        "unknown_ids": found.unknown_ids,
        "new_labels": found.new_labels,
        "verdicts_changed": found.verdicts_changed,
        "submissions": list(found.submissions),
        "conflict_rows": [asdict(conflict) for conflict in found.conflicts[:_MOST]],
        "unheld_rows": [{"row": r.row, "answer": r.answer, "attribution": r.passage_id} for r in found.unheld[:_MOST]],
        "report": report_to_dict(found.report),
    }


def batch_documents(session: Session, batches: Sequence[RatingBatch]) -> list[dict[str, Any]]:
    """Batches with how many ratings, triples and raters each has."""
    wanted = [batch.id for batch in batches]
    of_triples = select(
        RatingRow.batch_id,
        func.count(),
        func.count(RatingRow.triple.distinct()),
        func.count(func.nullif(RatingRow.rater, "").distinct()),
    )
    found = session.execute(of_triples.where(RatingRow.batch_id.in_(wanted)).group_by(RatingRow.batch_id)).all()
    counts = {batch_id: (ratings, triples, raters) for batch_id, ratings, triples, raters in found}
    return [_batch(batch, *counts.get(batch.id) or _of_revisions(session, batch.id)) for batch in batches]


def _of_revisions(session: Session, batch_id: int) -> tuple[int, int, int]:
    """Ratings, different questions asked of revisions, and raters of a batch of the editing track; else zeros."""
    query = select(EditRatingRow.revision, EditRatingRow.sentence, EditRatingRow.rater)
    rows = session.execute(query.where(EditRatingRow.batch_id == batch_id)).all()
    return len(rows), len({(row.revision, row.sentence) for row in rows}), len({row.rater for row in rows})


def exclusion_document(row: RaterExclusion) -> dict[str, Any]:
    """A rater left out, and whether and by whom they were taken back."""
    return {
        "rater": row.rater,
        "reason": row.reason,
        "left_out_by": row.excluded_by,
        "left_out_at": row.excluded_at.isoformat(),
        "taken_back_by": row.restored_by,
        "taken_back_at": row.restored_at.isoformat() if row.restored_at else None,
    }


def agreement_document(found: BatchAgreement) -> dict[str, Any]:
    """Agreement on the whole and per question type, and the raters' accuracy in a qualification batch."""
    return {
        "batch": found.batch.id,
        "overall": asdict(found.overall),
        "by_type": {name: asdict(each) for name, each in found.by_type.items()},
        "accuracy": [asdict(share) for share in found.accuracy],
    }


def exported(services: Services, benchmark: str, what: str, kind: str) -> tuple[bytes, str]:
    """The labels or ratings of a benchmark as a file, and its name."""
    chosen, data = services.benchmarks.get(benchmark), io.BytesIO()
    with services.database.reading() as session:
        kinds.of(chosen).exports[what](session, chosen, kind, data)
    return data.getvalue(), f"{benchmark}-{what}.{kind}"


def drawn(
    services: Services,
    author: str,
    benchmark: str,
    method: str,
    size: int | None,
    seed: int,
    submissions: list[str],
    before: bool = False,
) -> RatingSheet:
    """A new sheet; the strata of a stratified one are where judge and answer match disagree.

    `before`, of the editing track, asks for the originals beside the same reports, too.
    """
    chosen = services.benchmarks.get(benchmark).id
    with services.database.reading() as session:
        known = strata(session, submissions or published(session, chosen)) if method == "stratified" else {}
    return services.sheets.make(
        chosen,
        author=author,
        method=method,
        size=size,
        submissions=submissions,
        strata=known,
        seed=seed,
        before=before,
    )


def revision_sheet(
    services: Services, benchmark: str, kind: str, submissions: Sequence[str], size: int | None, seed: int, before: bool
) -> tuple[bytes, int]:
    """A sheet of revisions to rate, as a file, and how many texts there are in it. Raises as `write_sheet`."""
    chosen, data = services.benchmarks.get(benchmark), io.BytesIO()
    if chosen.track != EDITING:
        raise InvalidInput(f"{chosen.id} is not of the editing track.", "Draw a sheet of triples: aqa ratings sheet.")
    with services.database.reading() as session:
        found = to_rate(session, chosen, submissions, before=before)
    count = write_sheet(chosen, found, kind, data, size=size, seed=seed)
    return data.getvalue(), count


def _batch(batch: RatingBatch, ratings: int, triples: int, raters: int) -> dict[str, Any]:
    state = "revoked" if batch.revoked_at else "applied" if batch.applied_at else "open"
    return {
        "id": batch.id,
        "benchmark": batch.benchmark_id,
        "state": state,
        "file": batch.file_name,
        "digest": batch.file_digest,
        "sheet": batch.sheet_id,
        "author": batch.author,
        "note": batch.note,
        "synthetic": batch.synthetic,
        "qualification": batch.qualification,
        "ratings": ratings,
        "triples": triples,
        "raters": raters,
        "applied_at": batch.applied_at.isoformat() if batch.applied_at else None,
        "revoked_at": batch.revoked_at.isoformat() if batch.revoked_at else None,
        "revoked_by": batch.revoked_by,
    }
