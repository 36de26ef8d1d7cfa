"""Where the judge and the answer match disagree: the strata that rating sheets are drawn from."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import Submission
from core.text import triple_key
from scorer.stored import read_predictions, read_values

_NAMES = {
    (True, True): "judge yes, match yes",
    (True, False): "judge yes, match no",
    (False, True): "judge no, match yes",
    (False, False): "judge no, match no",
}


def strata(session: Session, submissions: Sequence[str]) -> dict[bytes, str]:
    """The stratum of every triple of the submissions, by AutoAIS decision and exact match; unscored ones have none."""
    found: dict[bytes, str] = {}
    query = select(Submission.id, Submission.evaluation_id).where(Submission.id.in_(submissions))
    for submission_id, evaluation_id in session.execute(query.order_by(Submission.id)):
        if evaluation_id is None:
            continue
        judged, matched = (read_values(session, evaluation_id, key) for key in ("autoais", "em"))
        for p in read_predictions(session, submission_id):
            if p.passage_id is not None:
                triple = triple_key(p.position, p.answer, p.passage_id)
                found.setdefault(triple, _NAMES[bool(judged[p.position] >= 0.5), bool(matched[p.position] >= 0.5)])
    return found
