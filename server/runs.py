"""Runs of systems: planned, queued as jobs, answered in steps that survive a kill, entered like anybody's file."""

from __future__ import annotations

import io
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from core.audit import record
from core.benchmark import Benchmark
from core.benchmark_files import read_exemplars
from core.blob_keeping import ensure, from_bytes
from core.errors import Conflict, InvalidInput, NotFound
from core.hub_access import hub_access, reaching_hub
from core.queue import MODEL, Claim
from core.tables import Job, RunRow, Submission
from core.tables.base import utc_now
from server import auth
from server.bootstrap import Services
from server.run_entries import Extent, counted, entry_card, entry_file, supersede
from server.run_parts import Decoding, blobs_of, parts_for, provenance, with_answers_kept
from submissions.intake import Unchanged, lock_benchmark
from submissions.sources import model
from systems import catalog, runner
from systems.config import SystemConfig

TEAM = "Reference systems"
KIND = "run_system"


@dataclass(frozen=True)
class RunPlan:
    """What a run is asked to do. `changes` are components in place of the configured ones."""

    changes: dict[str, str] = field(default_factory=dict)
    limit: int | None = None
    """Only the first so many questions."""
    seed: int = 0
    seconds: float | None = None
    tokens: int | None = None
    exemplars: str = ""
    """The blob of a file of exemplars in place of the benchmark's own."""
    judge: str = ""
    """For systems that rerank by a judge; empty means the service's."""
    publish: bool = False
    temperature: float = 0.0
    """0 takes the likeliest token."""
    entry: dict[str, Any] | None = None
    """What a team says of its own model, as a `SystemCard`; None for systems of the catalog."""

    @classmethod
    def kept(cls, stored: Mapping[str, Any]) -> RunPlan:
        """A plan from its row; an earlier version kept a reader's `max_new_tokens` apart from the components."""
        plan = dict(stored)
        if tokens := plan.pop("max_new_tokens", 0):
            plan["changes"] = plan["changes"] | {"max_new_tokens": str(tokens)}
        return cls(**plan)

    @property
    def decoding(self) -> Decoding:
        """How text is drawn."""
        return Decoding(self.temperature)

    def config(self, system: str) -> SystemConfig:
        """The named system with the changes. Raises `AqaError`."""
        return catalog.configured(system, self.changes)


def start(
    services: Services,
    system: str,
    benchmark_id: str,
    plan: RunPlan = RunPlan(),
    *,
    team_id: int | None = None,
    exemplars: Path | None = None,
    queue: str = "cpu",
) -> str:
    """Plan a run and queue it; returns its id. Without a team it is a reference system's.

    Raises `NotFound` for an unknown system or benchmark, `InvalidInput` for a component that must be handed in.
    """
    config, benchmark = plan.config(system), services.benchmarks.get(benchmark_id)
    catalog.check_track(config, benchmark.track)
    if lacking := config.lacks():
        hint = " ".join(f"--set {name}=… ({what})" for name, what in lacking.items())
        raise InvalidInput(f"{config.name} needs its {', '.join(lacking)} handed in.", hint)
    if plan.limit is not None and plan.limit < 1:
        raise InvalidInput("A run answers at least one question.", "Set a limit of 1 or more.")
    changes, answers = with_answers_kept(services, plan.changes)
    plan = replace(plan, changes=changes)
    if exemplars is not None:
        read_exemplars(exemplars, list(benchmark.questions))
        with exemplars.open("rb") as file:
            plan = replace(plan, exemplars=services.blobs.put(file))
    team = _reference_team(services) if team_id is None else team_id
    identifier = secrets.token_hex(6)
    with services.database.transaction() as session:
        session.add(
            RunRow(id=identifier, team_id=team, benchmark_id=benchmark.id, system=config.name, plan=asdict(plan))
        )
        if exemplars is not None:
            ensure(session, services.blobs, plan.exemplars, lambda: exemplars.open("rb"))
        if answers is not None:
            ensure(session, services.blobs, blobs_of(asdict(plan))[-1], from_bytes(answers))
        services.queue.add(session, KIND, identifier, queue, MODEL)
    return identifier


def resume(services: Services, run_id: str, *, seconds: float | None = None, tokens: int | None = None) -> None:
    """Queue a run that failed or ran out of its budget again, with another budget; answers that are there stay.

    Budgets count over all attempts; a run that failed keeps its own if no other is given. Raises `NotFound`, and
    `Conflict` for a run that is done.
    """
    with services.database.transaction() as session:
        row = found(session, run_id, lock=True)
        if row.state == "done":
            raise Conflict(f"Run {run_id} is done.", "Start a new one.")
        if row.state in ("queued", "running"):
            return
        if row.state == "partial" or seconds is not None or tokens is not None:
            row.plan = row.plan | {"seconds": seconds, "tokens": tokens}
        row.state, row.stage, row.reason, row.finished_at = "queued", "waiting for a worker", None, None
        queue = session.scalars(select(Job.queue).where(Job.subject == run_id).order_by(Job.id.desc())).first()
        services.queue.add(session, KIND, run_id, queue or "cpu", MODEL)


def execute(services: Services, claim: Claim) -> None:
    """Answer the questions and enter the predictions; what an earlier attempt answered is not asked again."""
    row = get(services, claim.subject)
    plan, access = RunPlan.kept(row.plan), hub_access()
    if plan.entry is not None:  # a team's: only what is on the Hub for all, and nothing that names another place
        model.parse(plan.changes.get("model", ""))
        access = access.open_to_all()
    with reaching_hub(access):
        _execute(services, claim, row, plan)


def _execute(services: Services, claim: Claim, row: RunRow, plan: RunPlan) -> None:
    config, benchmark = plan.config(row.system), services.benchmarks.get(row.benchmark_id)
    questions = benchmark.questions[: plan.limit]
    tell = _Teller(services, claim)
    tell(0.0, "opening indexes and models", now=True)
    parts = parts_for(services, benchmark, plan.exemplars, plan.judge, plan.seed, plan.decoding)
    parts.progress = lambda done, total: tell(0.0, f"building an index: {done:,} of {total:,} passages")
    system = catalog.make(config, parts)
    begun = time.monotonic()

    def progress(run: runner.Run, total: int) -> None:
        tell(len(run.outputs) / total, _stage(benchmark, run, total, time.monotonic() - begun))

    folder = services.settings.data_path / "runs" / row.id
    result = runner.run(system, questions, folder, runner.Budget(plan.seconds, plan.tokens), progress)
    with (folder / runner.OUTPUTS).open("rb") as file:
        blob = services.blobs.put(file)
    told = provenance(system, config, benchmark, plan.seed) | result.summary() | {"outputs": blob}
    _enter(services, claim, row, plan, config, benchmark, result, told)


def failed(services: Services, session: Session, run_id: str, reason: str) -> None:
    """Tell a run that it ended without predictions; its answers stay on disk."""
    values = {"state": "failed", "stage": "failed", "reason": reason, "finished_at": utc_now()}
    session.execute(update(RunRow).where(RunRow.id == run_id).values(**values))
    record(session, "run.failed", run_id)


def again(services: Services, session: Session, run_id: str) -> None:
    """Its job was queued again."""
    values = {"state": "queued", "stage": "waiting for a worker", "reason": None, "finished_at": None}
    session.execute(update(RunRow).where(RunRow.id == run_id).values(**values))


def get(services: Services, run_id: str) -> RunRow:
    """A run. Raises `NotFound`."""
    with services.database.reading() as session:
        return found(session, run_id)


def found(session: Session, run_id: str, *, lock: bool = False) -> RunRow:
    """A run in a session, locked for a change if asked. Raises `NotFound`."""
    row = session.get(RunRow, run_id, with_for_update=lock or None)
    if row is None:
        raise NotFound(f"There is no run {run_id[:40]!r}.", "List them with: aqa system runs")
    return row


def _enter(
    services: Services,
    claim: Claim,
    row: RunRow,
    plan: RunPlan,
    config: SystemConfig,
    benchmark: Benchmark,
    result: runner.Run,
    told: dict[str, Any],
) -> None:
    card = entry_card(plan.entry, config, plan.changes, Extent.of(result, _asked(plan, benchmark), benchmark))
    reference = row.team_id == _reference_team(services)
    state = "done" if result.ended == runner.COMPLETE else "partial"
    reason = None if state == "done" else f"The run ended {result.ended}; what it had answered entered as {card.name}."

    def finish(session: Session, submission_id: str | None, reason: str | None) -> None:
        values = {"state": state, "stage": state, "progress": len(result.outputs) / max(1, _asked(plan, benchmark))}
        kept = services.settings.data_path / "runs" / row.id / runner.OUTPUTS
        ensure(session, services.blobs, told["outputs"], lambda: kept.open("rb"))
        values |= {"details": told, "submission_id": submission_id, "reason": reason, "finished_at": utc_now()}
        session.execute(update(RunRow).where(RunRow.id == row.id).values(**values))
        services.queue.finish(session, claim)

    def accepted(session: Session, submission: Submission) -> None:
        finish(session, submission.id, reason)
        supersede(session, row.submission_id, submission)

    intake = services.intake.unlimited() if reference else services.intake
    if not result.outputs:
        with services.database.transaction() as session:
            finish(session, None, f"The run ended {result.ended} before it had answered anything.")
        return
    try:
        intake.accept(
            row.team_id, benchmark.id, card, io.BytesIO(entry_file(benchmark, result)), f"{row.id}.jsonl",
            publish=plan.publish, reference=reference, finish=accepted,
        )  # fmt: skip
    except Conflict as error:
        with services.database.transaction() as session:
            stands = row.submission_id
            if isinstance(error, Unchanged) and state == "done":
                lock_benchmark(session, benchmark.id)
                if (same := session.get(Submission, error.submission_id, with_for_update=True)) is not None:
                    supersede(session, stands, same)
                    stands = same.id
            finish(session, stands, f"{error.message} Nothing new was entered.")


def _asked(plan: RunPlan, benchmark: Benchmark) -> int:
    return len(benchmark.questions[: plan.limit])


def _stage(benchmark: Benchmark, run: runner.Run, total: int, seconds: float) -> str:
    fresh, left = len(run.outputs) - run.resumed, total - len(run.outputs)
    about = f", about {_duration(left * seconds / fresh)} left" if fresh and left else ""
    return f"{counted(benchmark, run, total)}{about}"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"


class _Teller:
    """Writes how far a run is, at most once a second; a run that is no longer this worker's ends there."""

    def __init__(self, services: Services, claim: Claim) -> None:
        self._services = services
        self._claim = claim
        self._last = 0.0

    def __call__(self, progress: float, stage: str, *, now: bool = False) -> None:
        if not now and time.monotonic() - self._last < 1.0:
            return
        self._last = time.monotonic()
        values = {"state": "running", "stage": stage, "progress": progress}
        with self._services.database.transaction() as session:
            self._services.queue.hold(session, self._claim)
            session.execute(update(RunRow).where(RunRow.id == self._claim.subject).values(**values))


def _reference_team(services: Services) -> int:
    with services.database.transaction() as session:
        return auth.found_or_added_team(session, TEAM).id
