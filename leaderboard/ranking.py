"""Rank intervals over all systems that may be ranked in a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import ValuesRow
from scorer.scoring import Values
from scorer.statistics.ranks import Rank, rank_intervals
from scorer.stored import unpack

_BATCH = 500


def read_many(session: Session, evaluation_ids: Sequence[int], metric: str) -> dict[int, Values]:
    """A metric's values per question of many evaluations; evaluations without them are left out."""
    found: dict[int, Values] = {}
    wanted = list(dict.fromkeys(evaluation_ids))
    for start in range(0, len(wanted), _BATCH):
        query = select(ValuesRow.evaluation_id, ValuesRow.packed).where(
            ValuesRow.evaluation_id.in_(wanted[start : start + _BATCH]), ValuesRow.metric == metric
        )
        found |= {evaluation_id: unpack(packed) for evaluation_id, packed in session.execute(query)}
    return found


def ranks(session: Session, evaluation_ids: Sequence[int], metric: str) -> list[Rank | None]:
    """A rank interval per evaluation (paired t with Holm over all of them), on the questions all have."""
    values = read_many(session, evaluation_ids, metric)
    if not evaluation_ids or any(each not in values for each in evaluation_ids):
        return [None] * len(evaluation_ids)
    table = np.column_stack([values[each] for each in evaluation_ids])
    table = table[np.isfinite(table).all(axis=1)]
    if not len(table):
        return [None] * len(evaluation_ids)
    return list(rank_intervals(table))
