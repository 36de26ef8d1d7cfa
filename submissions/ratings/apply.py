"""Batches of human ratings: preview, apply, revoke; each of the last two is one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import Conflict, NotFound, TooLarge
from core.queue import Queue
from core.settings import Settings
from core.tables import RatingBatch, RatingRow, SheetRow
from core.tables.base import utc_now
from submissions.formats import Limits
from submissions.ratings.preview import Preview, applied_before, keys_of, preview
from submissions.ratings.pseudonyms import pseudonyms
from submissions.ratings.read import Ground, Rating, RatingFile, read_ratings
from submissions.ratings.sheets import sheet_rows
from submissions.ratings.touched import keys_in, re_evaluating
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
            return preview(session, benchmark, file, synthetic)

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
        self, benchmark: Benchmark, file: RatingFile, name: str, *, author: str, note: str = "", synthetic: bool = False
    ) -> RatingBatch:
        """Store ratings that were read already; otherwise as `apply`."""
        keys = keys_of(file.ratings)
        with self.database.transaction() as session, re_evaluating(session, self.queue, benchmark.id, lambda: keys):
            before = applied_before(session, benchmark.id, file.digest)
            if before is not None:
                raise Conflict(f"This very file was applied as batch {before}.", "Revoke that batch first.")
            batch = RatingBatch(
                benchmark_id=benchmark.id, file_digest=file.digest, file_name=name[:255], author=author[:80], note=note,
                synthetic=synthetic, qualification=file.qualification, applied_at=utc_now(),
            )  # fmt: skip
            session.add(batch)
            session.flush()
            insert_ratings(session, batch, file.ratings)
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
            with re_evaluating(session, self.queue, batch.benchmark_id, lambda: keys_in(session, batch_id)):
                batch.revoked_at, batch.revoked_by = utc_now(), by[:80]
        return batch

    def batches(self, benchmark_id: str | None = None) -> list[RatingBatch]:
        """All batches, or those of one benchmark, oldest first."""
        query = select(RatingBatch).order_by(RatingBatch.id)
        if benchmark_id is not None:
            query = query.where(RatingBatch.benchmark_id == self.benchmarks.get(benchmark_id).id)
        with self.database.reading() as session:
            return list(session.scalars(query))

    def _read(self, benchmark_id: str, stream: BinaryIO, name: str, skip_unknown: bool) -> tuple[Benchmark, RatingFile]:
        benchmark = self.benchmarks.get(benchmark_id)
        limits = Limits.from_settings(self.settings)
        data = stream.read(limits.file_bytes + 1)
        if len(data) > limits.file_bytes:
            raise TooLarge(f"The file is larger than {self.settings.max_file_mb} MiB.", "Send it gzipped or in parts.")
        resolve = self.benchmarks.corpus(benchmark).resolve
        ground = Ground(
            benchmark.questions, resolve, pseudonyms(self.database).of, limits, skip_unknown,
            lambda names: self._sheet_rows(benchmark.id, names),
        )  # fmt: skip
        return benchmark, read_ratings(data, name, ground)

    def _sheet_rows(self, benchmark_id: str, names: Sequence[str]) -> dict[str, SheetRow]:
        with self.database.reading() as session:
            return sheet_rows(session, benchmark_id, names)


def insert_ratings(session: Session, batch: RatingBatch, ratings: Sequence[Rating]) -> None:
    """Insert the rows of a batch."""
    rows = [
        {
            "batch_id": batch.id, "row": r.row, "benchmark_id": batch.benchmark_id, "triple": r.triple, "near": r.near,
            "position": r.position, "answer": r.answer, "passage_id": r.passage_id, "rater": r.rater,
            "interpretable": r.interpretable, "supported": r.supported, "positive": r.positive, "known": r.known,
            "system": r.system, "note": r.note, "rated_at": r.rated_at,
        }
        for r in ratings
    ]  # fmt: skip
    session.execute(insert(RatingRow), rows)
