"""The one door for entries: accept, publish, withdraw."""

from __future__ import annotations

import io
import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import BinaryIO

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from core import log_context, states
from core.architectures import ARCHITECTURES
from core.benchmark import Benchmark, Benchmarks
from core.blob_keeping import ensure, from_bytes
from core.database import Database
from core.errors import Conflict, Forbidden, InvalidInput, NotFound, TooLarge
from core.ports import Blobs
from core.queue import Queue
from core.settings import Settings
from core.tables import BenchmarkRow, Submission, System, Team
from core.tables.base import utc_now
from submissions import quotas, rescoring, tracks
from submissions.formats import Limits
from submissions.kinds import EVALUATE, priority_of
from submissions.report import refusal, report_to_dict
from submissions.tracks import Read

_LARGEST_SIZE = 1e6
"""Billions of parameters: far above any system, so that only mistakes are refused."""


class Unchanged(Conflict):
    """The latest version of the system has exactly the content that was sent; it is `submission_id`."""

    def __init__(self, latest: Submission) -> None:
        super().__init__(
            f"Version {latest.version} of {latest.system.name!r} ({latest.id}) has exactly this content.",
            "Nothing was stored. Send changed predictions, or use another system name.",
        )
        self.submission_id = latest.id


@dataclass(frozen=True)
class SystemCard:
    """What a team says of its system."""

    name: str
    architecture: str = "unknown"
    supervision: str = ""
    description: str = ""
    links: tuple[str, ...] = ()
    uses_autoais: bool = False
    size: float | None = None
    """Parameters in billions."""

    def check(self) -> None:
        """Raise `InvalidInput` naming what is wrong."""
        if not self.name.strip() or len(self.name) > 120 or not self.name.isprintable():
            raise InvalidInput("A system needs a name of 1 to 120 characters that can be printed.", "Set the name.")
        if "\0" in self.supervision + self.description:
            raise InvalidInput("A text holds a NUL character.", "Remove it.")
        if self.architecture not in ARCHITECTURES:
            raise InvalidInput(
                f"There is no architecture {self.architecture!r}.", f"Choose one of: {', '.join(ARCHITECTURES)}."
            )
        if len(self.supervision) > 120 or len(self.description) > 5_000 or len(self.links) > 10:
            raise InvalidInput(
                "The description of the system is too long.",
                "At most 120 characters of supervision, 5,000 of description and 10 links.",
            )
        if self.size is not None and not 0 < self.size <= _LARGEST_SIZE:
            hint = "Give billions of parameters, such as 0.25 or 11, or leave it out."
            raise InvalidInput(f"{self.size:g} is no size of a system.", hint)
        for link in self.links:
            if not link.startswith(("https://", "http://")) or len(link) > 500:
                raise InvalidInput(f"{link[:80]!r} is not a web link.", "Links start with https:// or http://.")


@dataclass
class Intake:
    """Takes files in; everything about one entry is stored in one transaction or not at all."""

    database: Database
    benchmarks: Benchmarks
    blobs: Blobs
    queue: Queue
    settings: Settings

    def unlimited(self) -> Intake:
        """The same door without a team's daily limit: for the service's own reference systems."""
        return replace(self, settings=replace(self.settings, submissions_per_day=0))

    def validate(self, benchmark_id: str, stream: BinaryIO, name: str) -> Read:
        """Read a file and report on it; stores nothing and costs no quota."""
        return self._read(self.benchmarks.get(benchmark_id), stream, name)

    def accept(
        self,
        team_id: int,
        benchmark_id: str,
        card: SystemCard,
        stream: BinaryIO,
        name: str,
        *,
        publish: bool = False,
        reference: bool = False,
        finish: Callable[[Session, Submission], None] = lambda session, submission: None,
    ) -> Submission:
        """Store an entry and queue its evaluation; `finish` runs in the same transaction.

        Raises `Refused` with the report's places for a bad file, `OverQuota`, `InvalidInput` for a bad card and
        `Conflict` for the content of the system's latest version; none of them stores anything.
        """
        card.check()
        benchmark = self.benchmarks.get(benchmark_id)
        with self.database.reading() as session:
            quotas.check(session, team_id, self.settings.submissions_per_day)
        data = _bounded(stream, Limits.from_settings(self.settings).file_bytes)
        accepted = self._read(benchmark, io.BytesIO(data), name)
        if not accepted.report.accepted:
            raise refusal(accepted.report)
        blob = self.blobs.put(io.BytesIO(data))
        with self.database.transaction() as session:
            # Locking the team makes quotas and version numbers exact under simultaneous uploads.
            if session.get(Team, team_id, with_for_update=True) is None:
                raise NotFound("There is no such team.")
            quotas.check(session, team_id, self.settings.submissions_per_day)
            system = _system(session, team_id, card, reference)
            submission = _submission(session, system, benchmark, accepted, blob, name)
            submission.published_at = utc_now() if publish else None
            size = priority_of(len(tracks.of(benchmark).rows(accepted)))
            self.queue.add(session, EVALUATE, submission.id, priority=size)
            rescoring.include(session, self.queue, submission)
            finish(session, submission)
            ensure(session, self.blobs, blob, from_bytes(data))
        log_context.note(submission.id)
        return submission

    def publish(self, submission_id: str, team_id: int | None) -> Submission:
        """Show a version on the board. `team_id` None means a maintainer, who may do so for any team."""
        return self._change(submission_id, team_id, _publish)

    def withdraw(self, submission_id: str, team_id: int | None) -> Submission:
        """Take a version off the board; its history stays."""
        return self._change(submission_id, team_id, _withdraw)

    def _change(self, submission_id: str, team_id: int | None, change: Callable[[Submission], None]) -> Submission:
        with self.database.transaction() as session:
            submission = session.get(Submission, submission_id)
            if submission is None:
                raise NotFound(f"There is no submission {submission_id!r}.")
            lock_benchmark(session, submission.benchmark_id)
            submission = session.get(Submission, submission_id, with_for_update=True, populate_existing=True)
            if submission is None:
                raise NotFound(f"There is no submission {submission_id!r}.")
            if team_id is not None and submission.system.team_id != team_id:
                raise Forbidden("This submission belongs to another team.")
            before = submission.published
            change(submission)
            if submission.published and not before:
                rescoring.catch_up(session, self.queue, submission)
        return submission

    def _read(self, benchmark: Benchmark, stream: BinaryIO, name: str) -> Read:
        return tracks.read(stream, name, benchmark, self.benchmarks, Limits.from_settings(self.settings))


def _publish(submission: Submission) -> None:
    if submission.state == states.FAILED:
        raise Conflict("This submission failed, so there is nothing to publish.", "Submit the file again.")
    if not submission.published:
        submission.published_at, submission.withdrawn_at = utc_now(), None


def _withdraw(submission: Submission) -> None:
    submission.withdrawn_at = utc_now()


def _bounded(stream: BinaryIO, limit: int) -> bytes:
    data = bytearray()
    while piece := stream.read(1 << 20):
        data += piece
        if len(data) > limit:
            hint = "Send it compressed with gzip, or smaller."
            raise TooLarge(f"The file is larger than {limit // 2**20} MiB.", hint)
    return bytes(data)


def lock_benchmark(session: Session, benchmark_id: str) -> None:
    """Hold off a rescore's start and promotion until the transaction ends; call it before an entry is locked.

    They lock the benchmark, then its entries: in that order here, too, so that they either find an entry shown or are
    found open.
    """
    session.get_one(BenchmarkRow, benchmark_id, with_for_update={"read": True, "key_share": True})


def _system(session: Session, team_id: int, card: SystemCard, reference: bool) -> System:
    system = session.scalars(select(System).where(System.team_id == team_id, System.name == card.name.strip())).first()
    if system is None:
        system = System(team_id=team_id, name=card.name.strip(), reference=reference)
        session.add(system)
    system.architecture, system.supervision = card.architecture, card.supervision
    system.description, system.links = card.description, list(card.links)
    system.uses_autoais, system.size = card.uses_autoais, card.size
    session.flush()
    return system


def _submission(
    session: Session, system: System, benchmark: Benchmark, accepted: Read, blob: str, name: str
) -> Submission:
    of_system = (Submission.system_id == system.id, Submission.benchmark_id == benchmark.id)
    latest = session.scalars(select(Submission).where(*of_system).order_by(Submission.version.desc())).first()
    stands = latest is not None and latest.state != states.FAILED and not latest.withdrawn_at
    if latest is not None and stands and latest.digest == accepted.digest:
        raise Unchanged(latest)
    submission = Submission(
        id=secrets.token_hex(6),
        system=system,
        benchmark_id=benchmark.id,
        version=(session.scalar(select(func.max(Submission.version)).where(*of_system)) or 0) + 1,
        digest=accepted.digest,
        file_blob=blob,
        file_name=name[:255],
        report=report_to_dict(accepted.report),
        coverage=accepted.coverage,
    )
    session.add(submission)
    session.flush()
    tracks.of(benchmark).store(session, submission.id, accepted)
    return submission
