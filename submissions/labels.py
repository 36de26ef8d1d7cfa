"""Labels from ratings: the strict majority of the newest word of each rater on each triple (AQA §3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from core.majority import strict_majority
from core.records import Label, Prediction
from core.tables import BenchmarkRow, RaterExclusion, RatingBatch, RatingRow
from core.text import counted, hash_key, near_key, triple_key

_LOOKUP = 500


class Vote(NamedTuple):
    """The newest rating of one rater (or the pre-aggregated one, whose rater is empty) on one triple."""

    triple: bytes
    near: bytes
    rater: str
    positive: bool
    position: int
    answer: str
    passage_id: str
    synthetic: bool
    batch_id: int


def labels_for(session: Session, benchmark_id: str, predictions: Sequence[Prediction]) -> dict[int, Label]:
    """The labels that apply to the given predictions, by question position."""
    keys = {triple_key(p.position, p.answer, p.passage_id): p.position for p in predictions if p.passage_id is not None}
    found = labels_of(session, benchmark_id, keys)
    return {keys[triple]: label for triple, label in found.items()}


def near_labels_for(
    session: Session, benchmark_id: str, predictions: Sequence[Prediction], labels: Mapping[int, Label]
) -> dict[int, Label]:
    """Labels of triples alike but for the answer's spelling, for the predictions that have no label of their own.

    Where several such triples were rated, the one that most raters saw speaks. They never enter a score.
    """
    keys = {
        near_key(p.position, p.answer, p.passage_id): p.position
        for p in predictions
        if p.passage_id is not None and p.answer.strip() and p.position not in labels
    }
    found = near_labels_of(session, benchmark_id, keys)
    return {keys[near]: label for near, label in found.items()}


def labels_of(session: Session, benchmark_id: str, triples: Iterable[bytes] | None = None) -> dict[bytes, Label]:
    """The labels of the given triples, or of all that were ever rated."""
    return majority(newest_votes(session, benchmark_id, triples), raters_per_item(session, benchmark_id))


def near_labels_of(session: Session, benchmark_id: str, nears: Iterable[bytes]) -> dict[bytes, Label]:
    """The label that speaks for each near key."""
    return near_majority(newest_near_votes(session, benchmark_id, nears), raters_per_item(session, benchmark_id))


def newest_votes(session: Session, benchmark_id: str, triples: Iterable[bytes] | None = None) -> list[Vote]:
    """The votes that count, of the given triples or of all.

    Later batches replace a rater's earlier word; batches that are open, revoked or for qualification, and raters
    left out, do not count.
    """
    if triples is None:
        return list(_latest(session.execute(_counting(benchmark_id))))
    return _newest(session, benchmark_id, RatingRow.triple, triples)


def newest_near_votes(session: Session, benchmark_id: str, nears: Iterable[bytes]) -> list[Vote]:
    """As `newest_votes`, for all triples that have one of the near keys."""
    return _newest(session, benchmark_id, RatingRow.near, nears)


def majority(votes: Iterable[Vote], raters: int) -> dict[bytes, Label]:
    """One label per triple. Raters' votes go before a pre-aggregated label; a tie is not attributable.

    `raters` is the benchmark's number of raters per item; a label with fewer votes is marked incomplete.
    """
    by_triple: dict[bytes, list[Vote]] = {}
    for vote in votes:
        by_triple.setdefault(vote.triple, []).append(vote)
    return {triple: _label(given, raters) for triple, given in by_triple.items()}


def few_raters_in_words(details: Mapping[str, Any]) -> list[str]:
    """What must be said of a metric's labels that rest on fewer votes than planned; nothing where none do."""
    incomplete = details.get("incomplete", 0)
    if not incomplete:
        return []
    return [f"{counted(incomplete, 'label')} {'has' if incomplete == 1 else 'have'} fewer raters than planned."]


def near_majority(votes: Sequence[Vote], raters: int) -> dict[bytes, Label]:
    """One label per near key: that of the triple which most raters saw."""
    near_of = {vote.triple: vote.near for vote in votes}
    found: dict[bytes, Label] = {}
    for triple, label in sorted(majority(votes, raters).items(), key=lambda item: (-item[1].raters, item[0])):
        found.setdefault(near_of[triple], label)
    return found


def labels_hash(
    labels: Mapping[int, Label],
    near: Mapping[int, Label] | None = None,
    sampled: Mapping[int, float] | None = None,
) -> str:
    """A hash of the labels, of the near ones counted beside them and of how rated triples were drawn.

    Part of a score's signature.
    """
    parts = [_spelled(at, label) for at, label in sorted(labels.items())]
    parts += [f"{at}%{probability!r}" for at, probability in sorted((sampled or {}).items())]
    parts += ["~" + _spelled(at, label) for at, label in sorted((near or {}).items())]
    return hash_key(*parts, size=6).hex() if parts else "none"


def labels_stamp(session: Session, benchmark_id: str) -> tuple[int, ...]:
    """Changes whenever labels of the benchmark may have changed: batches applied and revoked, raters out and back."""
    batches = select(func.count(RatingBatch.applied_at), func.count(RatingBatch.revoked_at)).where(
        RatingBatch.benchmark_id == benchmark_id
    )
    raters = select(func.count(RaterExclusion.id), func.count(RaterExclusion.restored_at)).where(
        RaterExclusion.benchmark_id == benchmark_id
    )
    return (*session.execute(batches).one(), *session.execute(raters).one())


def synthetic_ratings(session: Session, benchmark_id: str) -> bool:
    """True if a batch that makes labels was simulated."""
    query = select(RatingBatch.id).where(RatingBatch.benchmark_id == benchmark_id, RatingBatch.synthetic)
    return session.scalar(query.where(*batch_counts()).limit(1)) is not None


def raters_per_item(session: Session, benchmark_id: str) -> int:
    """How many raters each triple of the benchmark is to have."""
    return session.scalars(select(BenchmarkRow.raters_per_item).where(BenchmarkRow.id == benchmark_id)).one()


def raters_left_out(benchmark_id: str) -> Select[str]:
    """The query for the raters whose ratings a maintainer leaves out at present."""
    return select(RaterExclusion.rater).where(
        RaterExclusion.benchmark_id == benchmark_id, RaterExclusion.restored_at.is_(None)
    )


def batch_counts() -> list[ColumnElement[bool]]:
    """The conditions under which a batch makes labels."""
    return [RatingBatch.applied_at.is_not(None), RatingBatch.revoked_at.is_(None), ~RatingBatch.qualification]


def _newest(
    session: Session, benchmark_id: str, column: InstrumentedAttribute[bytes], keys: Iterable[bytes]
) -> list[Vote]:
    wanted = list(dict.fromkeys(keys))
    votes: list[Vote] = []
    for start in range(0, len(wanted), _LOOKUP):
        query = _counting(benchmark_id).where(column.in_(wanted[start : start + _LOOKUP]))
        votes += _latest(session.execute(query))
    return votes


def _counting(benchmark_id: str) -> Select[bytes, bytes, str, bool, int, str, str, bool, int]:
    return (
        select(
            RatingRow.triple, RatingRow.near, RatingRow.rater, RatingRow.positive, RatingRow.position,
            RatingRow.answer, RatingRow.passage_id, RatingBatch.synthetic, RatingRow.batch_id,
        )
        .join(RatingBatch, RatingBatch.id == RatingRow.batch_id)
        .where(
            RatingRow.benchmark_id == benchmark_id,
            *batch_counts(),
            RatingRow.rater.not_in(raters_left_out(benchmark_id)),
        )
        .order_by(RatingBatch.applied_at, RatingRow.batch_id, RatingRow.row)
    )  # fmt: skip


def _latest(rows: Iterable[Row[bytes, bytes, str, bool, int, str, str, bool, int]]) -> Iterator[Vote]:
    newest: dict[tuple[bytes, str], Vote] = {}
    for row in rows:
        vote = Vote(*row)
        newest[vote.triple, vote.rater] = vote
    return iter(newest.values())


def _spelled(position: int, label: Label) -> str:
    return f"{position}:{label.positive}/{label.raters}:{label.attributable}{':synthetic' * label.synthetic}"


def _label(votes: Sequence[Vote], raters: int) -> Label:
    of_raters = [vote for vote in votes if vote.rater]
    counted = of_raters or votes
    positive = sum(vote.positive for vote in counted)
    first = counted[0]
    return Label(
        first.position,
        first.answer,
        first.passage_id,
        positive,
        len(counted),
        strict_majority(positive, len(counted)),
        pre_aggregated=not of_raters,
        complete=not of_raters or len(counted) >= raters,
        synthetic=any(vote.synthetic for vote in counted),
    )
