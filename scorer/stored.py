"""Reading and writing what evaluations left in the database."""

from __future__ import annotations

import zlib

import numpy as np
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core import states
from core.editing import Revision, Snippet
from core.errors import NotFound
from core.records import Interval, Prediction, Score
from core.tables import EvaluationRow, PredictionRow, RevisionRow, ScoreRow, ShownEvaluation, Submission, ValuesRow
from scorer import metrics
from scorer.scoring import Evaluation, Values


def read_predictions(session: Session, submission_id: str) -> list[Prediction]:
    """The stored predictions of a submission, by position."""
    rows = session.execute(
        select(PredictionRow.position, PredictionRow.answer, PredictionRow.attribution, PredictionRow.passage_id)
        .where(PredictionRow.submission_id == submission_id)
        .order_by(PredictionRow.position)
    )
    return [Prediction(*row) for row in rows]


def read_revisions(session: Session, submission_id: str) -> list[Revision]:
    """The stored revisions of a submission of the editing track, by position."""
    rows = session.scalars(
        select(RevisionRow).where(RevisionRow.submission_id == submission_id).order_by(RevisionRow.position)
    )
    return [revision_of(row) for row in rows]


def revision_of(row: RevisionRow) -> Revision:
    """A stored revision as a value."""
    return Revision(row.position, row.text, tuple(Snippet(**snippet) for snippet in row.report))


def find(session: Session, benchmark_id: str, digest: str, signature: str) -> int | None:
    """The evaluation of this content under this signature, if it was done before."""
    return session.scalar(
        select(EvaluationRow.id).where(
            EvaluationRow.benchmark_id == benchmark_id,
            EvaluationRow.digest == digest,
            EvaluationRow.signature == signature,
        )
    )


def read_scores(session: Session, evaluation_id: int) -> dict[str, Score]:
    """The stored numbers of an evaluation by metric, in the metrics' order."""
    rows = {r.metric: r for r in session.scalars(select(ScoreRow).where(ScoreRow.evaluation_id == evaluation_id))}
    return {
        key: Score(
            key,
            row.value,
            row.n,
            Interval(row.low, row.high, row.se, row.method),
            row.signature,
            row.reason,
            row.details,
        )
        for key in metrics.all_keys()
        if (row := rows.get(key)) is not None
    }


def read_values(session: Session, evaluation_id: int, metric: str) -> Values:
    """A metric's value per question, NaN outside its denominator. Raises `NotFound`."""
    row = session.get(ValuesRow, (evaluation_id, metric))
    if row is None:
        raise NotFound(f"Evaluation {evaluation_id} has no values of {metric!r}.")
    return unpack(row.packed)


def pack(values: Values) -> bytes:
    """Little-endian float64, zlib-compressed."""
    return zlib.compress(values.astype("<f8").tobytes(), level=6)


def unpack(packed: bytes) -> Values:
    """The inverse of `pack`."""
    return np.frombuffer(zlib.decompress(packed), dtype="<f8")


def show(session: Session, submission_id: str, evaluation_id: int) -> None:
    """Point a submission at an evaluation: from now on its scores are these."""
    row = session.get_one(Submission, submission_id)
    if row.evaluation_id != evaluation_id:
        session.add(ShownEvaluation(submission_id=submission_id, evaluation_id=evaluation_id))
    row.evaluation_id, row.state, row.stage, row.progress, row.reason = evaluation_id, states.SCORED, "done", 1.0, None


def store(session: Session, submission: Submission, found: Evaluation) -> int:
    """Insert an evaluation; if another worker stored the same one first, that one is it."""
    row = EvaluationRow(
        benchmark_id=submission.benchmark_id, digest=submission.digest, signature=found.signature, judge=found.judge
    )
    try:
        with session.begin_nested():
            session.add(row)
    except IntegrityError:
        existing = find(session, submission.benchmark_id, submission.digest, found.signature)
        if existing is None:
            raise
        return existing
    scores = [
        {
            "evaluation_id": row.id, "metric": s.metric, "value": s.value, "n": s.n,
            "low": s.interval.low, "high": s.interval.high, "se": s.interval.se, "method": s.interval.method,
            "signature": s.signature, "reason": s.reason, "details": s.details,
        }
        for s in found.scores.values()
    ]  # fmt: skip
    session.execute(insert(ScoreRow), scores)
    session.execute(
        insert(ValuesRow),
        [{"evaluation_id": row.id, "metric": key, "packed": pack(v)} for key, v in found.values.items()],
    )
    return row.id
