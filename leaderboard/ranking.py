"""Rank intervals over all systems that may be ranked in a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from core.tables import ValuesRow
from scorer import metrics
from scorer.scoring import Values
from scorer.statistics.harmonic import linearised
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
    """A rank interval per evaluation (paired t with Holm over all of them), on the questions all have.

    A harmonic mean of two means is ranked by its tangent, question by question (`statistics.harmonic.linearised`).
    """
    if not evaluation_ids:
        return []
    parts = []
    for part in metrics.harmonic_of(metric) or (metric,):
        values = read_many(session, evaluation_ids, part)
        if any(each not in values for each in evaluation_ids):
            return [None] * len(evaluation_ids)
        parts.append(np.column_stack([values[each] for each in evaluation_ids]))
    known = np.isfinite(np.hstack(parts)).all(axis=1)
    if not known.any():
        return [None] * len(evaluation_ids)
    tables = [part[known] for part in parts]
    if len(tables) == 1:
        return list(rank_intervals(tables[0]))
    both = np.stack(tables, axis=-1)
    return list(rank_intervals(np.column_stack([linearised(both[:, at]) for at in range(both.shape[1])])))
