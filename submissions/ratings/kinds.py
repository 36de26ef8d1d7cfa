"""What human ratings are in each track: of triples, or of the sentences and the intent of revisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.tables import EditRatingRow, RatingBatch, RatingRow, SheetRow
from core.tracks import EDITING, QA
from submissions.formats import Limits
from submissions.ratings import editing_preview, editing_touched, preview, touched
from submissions.ratings.editing_export import export_edit_labels, export_edit_ratings
from submissions.ratings.editing_file import EditGround, EditRating, EditRatingFile, read_edit_ratings
from submissions.ratings.export import export_labels, export_ratings
from submissions.ratings.preview import Preview
from submissions.ratings.pseudonyms import pseudonyms
from submissions.ratings.read import Ground, Rating, RatingFile, read_ratings
from submissions.ratings.sheets import sheet_rows
from submissions.ratings.touched import Key, Moves


@dataclass(frozen=True)
class Files:
    """What reading a file of ratings takes."""

    database: Database
    benchmarks: Benchmarks
    limits: Limits
    skip_unknown: bool = False


@dataclass(frozen=True)
class RatingKind:
    """One track's ratings: files in, what they would change, rows, and the keys of what was rated."""

    read: Callable[[bytes, str, Benchmark, Files], Any]
    preview: Callable[[Session, Benchmark, Any, bool], Preview]
    insert: Callable[[Session, RatingBatch, Sequence[Any]], None]
    keys_of: Callable[[Sequence[Any]], Sequence[Any]]
    keys_in: Callable[[Session, int], Sequence[Any]]
    """Of a stored batch."""
    keys_of_rater: Callable[[Session, str, str], Sequence[Any]]
    moves: Moves
    exports: Mapping[str, Callable[[Session, Benchmark, str, BinaryIO], None]]
    """Writers of `labels` and `ratings` as tables."""


def of(benchmark: Benchmark) -> RatingKind:
    """The ratings that a benchmark takes."""
    return _KINDS[benchmark.track]


def insert_ratings(session: Session, batch: RatingBatch, ratings: Sequence[Rating]) -> None:
    """Insert the rows of a batch of triples."""
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


def _insert_edit_ratings(session: Session, batch: RatingBatch, ratings: Sequence[EditRating]) -> None:
    rows = [
        {
            "batch_id": batch.id, "row": r.row, "benchmark_id": batch.benchmark_id, "revision": r.revision,
            "position": r.position, "sentence": r.sentence, "rater": r.rater, "positive": r.positive, "note": r.note,
        }
        for r in ratings
    ]  # fmt: skip
    session.execute(insert(EditRatingRow), rows)


def _read(data: bytes, name: str, benchmark: Benchmark, files: Files) -> RatingFile:
    def rows(names: Sequence[str]) -> dict[str, SheetRow]:
        with files.database.reading() as session:
            return sheet_rows(session, benchmark.id, names)

    resolve = files.benchmarks.corpus(benchmark).resolve
    pseudonym = pseudonyms(files.database).of
    return read_ratings(
        data, name, Ground(benchmark.questions, resolve, pseudonym, files.limits, files.skip_unknown, rows)
    )  # fmt: skip


def _read_edits(data: bytes, name: str, benchmark: Benchmark, files: Files) -> EditRatingFile:
    def held(positions: Sequence[int]) -> dict[tuple[int, bytes], str]:
        with files.database.reading() as session:
            found = editing_touched.held_texts(session, benchmark.id, positions)
            return {(each.position, each.revision): each.text for each in found}

    pseudonym = pseudonyms(files.database).of
    return read_edit_ratings(
        data, name, EditGround(benchmark.questions, held, pseudonym, files.limits, files.skip_unknown)
    )  # fmt: skip


def _keys_of_rater(session: Session, benchmark_id: str, rater: str) -> list[Key]:
    query = select(RatingRow.position, RatingRow.triple, RatingRow.near).where(
        RatingRow.benchmark_id == benchmark_id, RatingRow.rater == rater
    )
    return [Key(*row) for row in session.execute(query.distinct())]


_KINDS: dict[str, RatingKind] = {
    QA: RatingKind(
        _read, preview.preview, insert_ratings, preview.keys_of, touched.keys_in, _keys_of_rater, touched.TRIPLES,
        {"labels": export_labels, "ratings": export_ratings},
    ),
    EDITING: RatingKind(
        _read_edits, editing_preview.preview, _insert_edit_ratings, editing_preview.keys_of, editing_touched.keys_in,
        editing_touched.keys_of_rater, editing_touched.REVISIONS,
        {"labels": export_edit_labels, "ratings": export_edit_ratings},
    ),
}  # fmt: skip
