"""Scoring a benchmark's entries anew under another recipe: planned, started, promoted at once, or dropped."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from core import states
from core.audit import record
from core.errors import Conflict, InvalidInput
from core.queue import OPEN as OPEN_JOBS
from core.queue import RESCORE as PRIORITY
from core.tables import BenchmarkRow, EvaluationRow, Job, Rescore, RescoreItem, Submission
from core.tables.base import utc_now
from scorer import judges
from scorer.judges import released
from scorer.judges.anywhere import check_anywhere
from scorer.signature import without_labels
from scorer.stored import show
from server import rescoring
from server.bootstrap import Services
from server.evaluations import RELEASED
from server.hub import outputs
from server.rescore_reading import Lacking, found, lacking
from submissions.kinds import RESCORE
from submissions.rescoring import DROPPED, OPEN, PROMOTED, open_of, subject_of

_LISTED = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rescore would do. `pairs` are those that the new judge must still judge, each counted once."""

    benchmark: str
    judge: str
    recipe: str
    before: tuple[str, ...]
    """The recipes of what is shown now."""
    entries: int
    same: int
    """Entries that stand under the recipe already."""
    released: int
    """Entries that keep the paper's released judgments."""
    pairs: int


def plan(
    services: Services,
    benchmark_id: str,
    judge: str = "",
    released_too: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Plan:
    """What starting would do; stores nothing. Raises `NotFound`, `InvalidInput` or `Unavailable` for the judge."""
    benchmark, spec = services.benchmarks.get(benchmark_id), _spec(services, benchmark_id, judge)
    scorer = services.scorer_for(spec)
    recipe = scorer.frame(benchmark)
    with services.database.reading() as session:
        rows = _entries(session, benchmark_id)
        shown = _shown(session, rows)
    kept = [row for row in rows if not released_too and _is_released(shown, row)]
    same = [row for row in rows if _stands(shown, row, recipe)]
    due = [row for row in rows if row not in same and row not in kept]
    keys: set[bytes] = set()
    for done, row in enumerate(due, start=1):
        keys.update(scorer.missing(row.id))
        progress(done, len(due))
    before = tuple(sorted({without_labels(each.signature) for each in shown.values()}))
    return Plan(benchmark_id, spec, recipe, before, len(rows), len(same), len(kept), len(keys))


def start(services: Services, benchmark_id: str, judge: str = "", released_too: bool = False) -> Rescore:
    """Queue the scoring of all entries that are shown or are their system's latest; what is shown stays.

    Raises as `plan`, and `Conflict` while another is open or where nothing would change.
    """
    benchmark, spec = services.benchmarks.get(benchmark_id), _spec(services, benchmark_id, judge)
    recipe = services.scorer_for(spec).frame(benchmark)
    released_recipe = services.released_scorer.frame(benchmark)
    with services.database.transaction() as session:
        # Entries come in and labels move under locks on this row: none is missed.
        session.get_one(BenchmarkRow, benchmark_id, with_for_update=True)
        if (other := open_of(session, benchmark_id)) is not None:
            hint = "Promote or drop it first: aqa rescore promote, aqa rescore drop"
            raise Conflict(f"Rescore {other.id} of {benchmark_id!r} is open already.", hint)
        rows = _entries(session, benchmark_id)
        shown = _shown(session, rows)
        made = Rescore(benchmark_id=benchmark_id, judge=spec, recipe=recipe, released_too=released_too)
        session.add(made)
        session.flush()
        queued = 0
        for row in rows:
            own = released_recipe if _is_released(shown, row) and not released_too else recipe
            stands = _stands(shown, row, own)
            item = RescoreItem(rescore_id=made.id, submission_id=row.id)
            item.evaluation_id = row.evaluation_id if stands else None
            session.add(item)
            if not stands:
                services.queue.add(session, RESCORE, subject_of(made.id, row.id), priority=PRIORITY)
                queued += 1
        if not queued:
            told = f"All {len(rows):,} entries" if rows else "There are no entries: nothing"
            raise Conflict(f"{told} of {benchmark_id!r} stand under this recipe.", "Nothing was started.")
        record(session, "rescore.started", made.id, benchmark_id=benchmark_id, judge=spec, entries=len(rows))
    return made


def promote(services: Services, rescore_id: int, leave_out: Collection[str] = ()) -> Rescore:
    """Show the new scores of all entries at once, and score by this judge from now on.

    Raises `NotFound`, `Conflict` where it is over or entries lack new scores that are not left out by name, and
    `InvalidInput` for a judge that not every worker can read.
    """
    with services.database.transaction() as session:
        row = _locked(session, rescore_id)
        check_anywhere(row.judge)
        _check_left_out(session, row, leave_out)
        if missing := [each for each in lacking(session, row) if each.submission not in leave_out]:
            raise _incomplete(row, missing)
        pairs = (
            select(RescoreItem, Submission)
            .join(Submission, Submission.id == RescoreItem.submission_id)
            .where(RescoreItem.rescore_id == row.id)
            # Locked in the order in which deletions and ratings lock submissions.
            .order_by(Submission.id)
            .with_for_update(of=Submission)
        )
        for item, submission in session.execute(pairs).all():
            item.left_out, item.before_id = item.submission_id in leave_out, submission.evaluation_id
            # What was never scored is left to its own job, which tells its team; it takes the new judge by itself.
            if submission.evaluation_id is None or item.left_out or item.evaluation_id is None:
                continue
            if item.evaluation_id != submission.evaluation_id:
                show(session, submission.id, item.evaluation_id)
                outputs.queue_outputs(session, services.queue, submission.id)
        session.get_one(BenchmarkRow, row.benchmark_id).judge = row.judge
        row.state, row.ended_at = PROMOTED, utc_now()
        record(session, "rescore.promoted", row.id, benchmark_id=row.benchmark_id, left_out=sorted(leave_out))
    return row


def drop(services: Services, rescore_id: int) -> Rescore:
    """Give it up: its jobs are cancelled, what is shown stays, and what was judged is kept for another start.

    Raises `NotFound` or `Conflict`.
    """
    with services.database.transaction() as session:
        row = _locked(session, rescore_id)
        row.state, row.ended_at = DROPPED, utc_now()
        mine = or_(Job.subject.like(f"%@{row.id}"), Job.subject.like(f"%@{row.id}:%"))
        kinds = (RESCORE, rescoring.CHUNK, rescoring.FINISH)
        jobs = select(Job.id).where(Job.kind.in_(kinds), Job.state.in_(OPEN_JOBS), mine)
        services.queue.cancel_all(session, session.scalars(jobs).all(), f"Rescore {row.id} was dropped.")
        record(session, "rescore.dropped", row.id, benchmark_id=row.benchmark_id)
    return row


def _locked(session: Session, rescore_id: int) -> Rescore:
    row = found(session, rescore_id)
    session.get_one(BenchmarkRow, row.benchmark_id, with_for_update=True)
    session.refresh(row)
    if row.state != OPEN:
        raise Conflict(f"Rescore {row.id} was {row.state} already.", "Start another: aqa rescore start")
    return row


def _check_left_out(session: Session, row: Rescore, leave_out: Collection[str]) -> None:
    held = set(session.scalars(select(RescoreItem.submission_id).where(RescoreItem.rescore_id == row.id)))
    if unknown := sorted(set(leave_out) - held):
        raise InvalidInput(f"Rescore {row.id} holds no submission {unknown[0]!r}.", "Name ids of its status.")


def _incomplete(row: Rescore, missing: Sequence[Lacking]) -> Conflict:
    told = "; ".join(f"{each.system} v{each.version} ({each.submission}): {each.why}" for each in missing[:_LISTED])
    more = f"; and {len(missing) - _LISTED:,} more" if len(missing) > _LISTED else ""
    plural = "entry lacks its" if len(missing) == 1 else "entries lack their"
    return Conflict(
        f"{len(missing):,} {plural} new scores, so nothing was promoted. {told}{more}.",
        "Let workers finish, retry what failed (aqa queue retry), or leave entries out by name (--leave-out).",
    )


def _spec(services: Services, benchmark_id: str, judge: str) -> str:
    """The judge that is named, else the benchmark's own; one that every worker can read."""
    chosen = judge or services.benchmarks.row(benchmark_id).judge or services.settings.judge
    judges.check(chosen)
    check_anywhere(chosen)
    if chosen == RELEASED:
        raise InvalidInput("The released judgments know the released systems' answers only.", "Name another judge.")
    return chosen


def _entries(session: Session, benchmark_id: str) -> list[Submission]:
    """What is shown, and the latest version of every system; none that failed."""
    here = (Submission.benchmark_id == benchmark_id, Submission.state != states.FAILED)
    rows = session.scalars(select(Submission).where(*here).order_by(Submission.system_id, Submission.version)).all()
    last = {row.system_id: row.id for row in rows}
    return [row for row in rows if row.published or last[row.system_id] == row.id]


def _shown(session: Session, rows: Sequence[Submission]) -> dict[int, EvaluationRow]:
    ids = sorted({row.evaluation_id for row in rows if row.evaluation_id is not None})
    scores: dict[int, EvaluationRow] = {}
    for start_at in range(0, len(ids), 500):
        part = EvaluationRow.id.in_(ids[start_at : start_at + 500])
        scores |= {each.id: each for each in session.scalars(select(EvaluationRow).where(part))}
    return scores


def _is_released(shown: dict[int, EvaluationRow], row: Submission) -> bool:
    return row.evaluation_id is not None and shown[row.evaluation_id].judge == released.SIGNATURE


def _stands(shown: dict[int, EvaluationRow], row: Submission, recipe: str) -> bool:
    """True where its scores are under the recipe already, and no job is about to change them."""
    if row.evaluation_id is None or row.state != states.SCORED:
        return False
    return without_labels(shown[row.evaluation_id].signature) == recipe
