"""Batches of human ratings: preview, apply, revoke; each of the last two is one transaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

from sqlalchemy import select

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import Conflict, NotFound, TooLarge
from core.queue import Queue
from core.settings import Settings
from core.tables import RatingBatch
from core.tables.base import utc_now
from submissions.formats import Limits
from submissions.ratings import kinds
from submissions.ratings.kinds import Files
from submissions.ratings.preview import Preview, applied_before
from submissions.ratings.touched import re_evaluating
from submissions.report import refusal


@dataclass
class Ratings:
    """The one door for human ratings."""

    database: Database
    benchmarks: Benchmarks
    queue: Queue
    settings: Settings

    def preview(
        self, benchmark_id: str, stream: BinaryIO, name: str, *, synthetic: bool = False, skip_unknown: bool = False
    ) -> Preview:
        """Read a file and say what applying it would change; writes nothing. Never raises for a bad file."""
        benchmark, file = self._read(benchmark_id, stream, name, skip_unknown)
        with self.database.reading() as session:
            return kinds.of(benchmark).preview(session, benchmark, file, synthetic)

    def apply(
        self,
        benchmark_id: str,
        stream: BinaryIO,
        name: str,
        *,
        author: str,
        note: str = "",
        synthetic: bool = False,
        skip_unknown: bool = False,
    ) -> RatingBatch:
        """Store a file's ratings as one batch and queue the evaluation of the submissions whose labels move.

        Raises `Refused` with the report's places for a bad file and `Conflict` for a file that was applied before
        and still counts; neither stores anything.
        """
        benchmark, file = self._read(benchmark_id, stream, name, skip_unknown)
        if not file.report.accepted:
            raise refusal(file.report)
        return self.store(benchmark, file, name, author=author, note=note, synthetic=synthetic)

    def store(
        self, benchmark: Benchmark, file: Any, name: str, *, author: str, note: str = "", synthetic: bool = False
    ) -> RatingBatch:
        """Store ratings that were read already; otherwise as `apply`."""
        kind = kinds.of(benchmark)
        keys = kind.keys_of(file.ratings)
        with (
            self.database.transaction() as session,
            re_evaluating(session, self.queue, benchmark.id, lambda: keys, kind.moves),
        ):
            before = applied_before(session, benchmark.id, file.digest)
            if before is not None:
                raise Conflict(f"This very file was applied as batch {before}.", "Revoke that batch first.")
            batch = RatingBatch(
                benchmark_id=benchmark.id, file_digest=file.digest, file_name=name[:255], author=author[:80], note=note,
                synthetic=synthetic, qualification=file.qualification, applied_at=utc_now(), splitter=file.splitter,
            )  # fmt: skip
            session.add(batch)
            session.flush()
            kind.insert(session, batch, file.ratings)
        return batch

    def revoke(self, batch_id: int, by: str) -> RatingBatch:
        """Take a batch out of every label and evaluate again what it moved; its rows stay.

        Raises `NotFound`, and `Conflict` if it was revoked before.
        """
        with self.database.transaction() as session:
            batch = session.get(RatingBatch, batch_id, with_for_update=True)
            if batch is None:
                raise NotFound(f"There is no rating batch {batch_id}.", "`aqa ratings list` shows all.")
            if batch.revoked_at is not None:
                raise Conflict(f"Batch {batch_id} was revoked before, by {batch.revoked_by}.")
            kind = kinds.of(self.benchmarks.get(batch.benchmark_id))
            keys = kind.keys_in(session, batch_id)
            with re_evaluating(session, self.queue, batch.benchmark_id, lambda: keys, kind.moves):
                batch.revoked_at, batch.revoked_by = utc_now(), by[:80]
        return batch

    def batches(self, benchmark_id: str | None = None) -> list[RatingBatch]:
        """All batches, or those of one benchmark, oldest first."""
        query = select(RatingBatch).order_by(RatingBatch.id)
        if benchmark_id is not None:
            query = query.where(RatingBatch.benchmark_id == self.benchmarks.get(benchmark_id).id)
        with self.database.reading() as session:
            return list(session.scalars(query))

    def _read(self, benchmark_id: str, stream: BinaryIO, name: str, skip_unknown: bool) -> tuple[Benchmark, Any]:
        benchmark = self.benchmarks.get(benchmark_id)
        limits = Limits.from_settings(self.settings)
        data = stream.read(limits.file_bytes + 1)
        if len(data) > limits.file_bytes:
            raise TooLarge(f"The file is larger than {self.settings.max_file_mb} MiB.", "Send it gzipped or in parts.")
        files = Files(self.database, self.benchmarks, limits, skip_unknown)
        return benchmark, kinds.of(benchmark).read(data, name, benchmark, files)
