"""Rating sheets: unrated triples drawn for raters, with each one's probability of being drawn; or revisions."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from core.benchmark import Benchmark, Benchmarks
from core.database import Database
from core.errors import InvalidInput, NotFound
from core.passage_text import rating_text
from core.tables import PredictionRow, RatingSheet, SheetRevision, SheetRow
from core.tabular import write_table
from core.text import triple_key
from core.tracks import EDITING
from submissions.labels import labels_of
from submissions.ratings.chosen import chosen
from submissions.ratings.editing_sheets import draw_revisions, kept, to_rate, write_sheet

METHODS = ("all", "random", "stratified")
COLUMNS = {
    "sheet_row": "text", "question": "text", "answer": "text", "attribution": "text", "passage": "text",
    "rater": "text", "interpretable": "text", "supported": "text", "sampling_probability": "number",
}  # fmt: skip
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Candidate:
    """A triple that could be rated."""

    triple: bytes
    position: int
    answer: str
    passage_id: str


def candidates(session: Session, benchmark: Benchmark, submissions: Sequence[str]) -> list[Candidate]:
    """The submissions' different unrated triples on the questions that humans rate, in the benchmark's order."""
    query = select(PredictionRow.position, PredictionRow.answer, PredictionRow.passage_id).where(
        PredictionRow.submission_id.in_(submissions), PredictionRow.passage_id.is_not(None)
    )
    due = set(benchmark.rated_positions)
    found: dict[bytes, Candidate] = {}
    for position, answer, passage in session.execute(query.order_by(PredictionRow.position)):
        if position in due and answer.strip() and passage is not None:
            triple = triple_key(position, answer, passage)
            found.setdefault(triple, Candidate(triple, position, answer, passage))
    rated = labels_of(session, benchmark.id, found)
    left = [candidate for triple, candidate in found.items() if triple not in rated]
    return sorted(left, key=lambda each: (each.position, each.answer, each.passage_id))


def draw(
    population: Sequence[Candidate], method: str, size: int | None, strata: Mapping[bytes, str], seed: int
) -> list[tuple[Candidate, str, float]]:
    """(triple, stratum, probability) in random order; without replacement, and the same for the same seed.

    `stratified` gives every stratum an equal share of `size`, and what a small one cannot use to the others; so
    rare strata are drawn more often than at random, and the probabilities say by how much. Raises `InvalidInput`.
    """
    if method not in METHODS:
        raise InvalidInput(f"There is no way to draw {method!r}.", f"Ways: {', '.join(METHODS)}.")
    if method != "all" and (size is None or size < 1):
        raise InvalidInput("The size of the sheet is missing.", "Give the number of triples to draw, at least 1.")
    groups: dict[str, list[Candidate]] = {}
    for candidate in population:
        name = strata.get(candidate.triple, "not judged") if method == "stratified" else ""
        groups.setdefault(name, []).append(candidate)
    sizes = {name: len(group) for name, group in groups.items()}
    if method != "all" and (size or 0) < len(sizes):
        raise InvalidInput(
            f"There are {len(sizes)} strata, and each needs a triple in the sheet.", f"Draw {len(sizes)} or more."
        )
    shares = sizes if method == "all" else _shares(sizes, size or 0)
    rng = random.Random(seed)
    drawn = [
        (candidate, name, shares[name] / len(group))
        for name, group in sorted(groups.items())
        for candidate in rng.sample(group, shares[name])
    ]
    rng.shuffle(drawn)
    return drawn


@dataclass
class Sheets:
    """Makes sheets and writes them as files for raters."""

    database: Database
    benchmarks: Benchmarks

    def make(
        self,
        benchmark_id: str,
        *,
        author: str,
        method: str = "random",
        size: int | None = None,
        submissions: Sequence[str] = (),
        strata: Mapping[bytes, str] | None = None,
        seed: int = 0,
        before: bool = False,
    ) -> RatingSheet:
        """Draw and store a sheet; without `submissions`, from the latest published version of each system.

        Of triples, or in the editing track of revisions; there with `before`, also of the originals beside the same
        reports. Raises `InvalidInput`, and `NotFound` for a submission to another benchmark or where all is rated.
        """
        benchmark = self.benchmarks.get(benchmark_id)
        with self.database.transaction() as session:
            entries = chosen(session, benchmark.id, submissions)
            table: type[SheetRow | SheetRevision]
            if benchmark.track == EDITING:
                found = to_rate(session, benchmark, entries, before=before)
                population, table, rows = len(found), SheetRevision, draw_revisions(found, method, size, seed)
            else:
                triples = candidates(session, benchmark, entries)
                population, table, rows = len(triples), SheetRow, _drawn(triples, method, size, strata or {}, seed)
            sheet = RatingSheet(
                benchmark_id=benchmark.id, method=method, seed=seed, population=population, submissions=entries,
                author=author[:80],
            )  # fmt: skip
            session.add(sheet)
            session.flush()
            session.execute(insert(table), [{"sheet_id": sheet.id, **row} for row in rows])
        return sheet

    def write(self, sheet_id: int, kind: str, stream: BinaryIO) -> None:
        """The sheet for raters to fill in: `rater`, `interpretable` and `supported` are empty.

        `sheet_row` names the triple, so that it is found again whatever a spreadsheet does to the other cells.
        """
        with self.database.reading() as session:
            sheet = session.get(RatingSheet, sheet_id)
            if sheet is None:
                raise NotFound(f"There is no rating sheet {sheet_id}.")
            rows = session.scalars(select(SheetRow).where(SheetRow.sheet_id == sheet_id).order_by(SheetRow.row)).all()
            benchmark = self.benchmarks.get(sheet.benchmark_id)
            if benchmark.track == EDITING:
                write_sheet(benchmark, kept(session, sheet_id), kind, stream)
                return
        passages = self.benchmarks.corpus(benchmark).passages(row.passage_id for row in rows)
        table = (
            (
                f"{row.sheet_id}:{row.row}", benchmark.questions[row.position].text, row.answer, row.passage_id,
                rating_text(passages[row.passage_id]), None, None, None, row.probability,
            )
            for row in rows
        )  # fmt: skip
        write_table(kind, COLUMNS, table, stream)


def sheet_rows(session: Session, benchmark_id: str, names: Sequence[str]) -> dict[str, SheetRow]:
    """The rows that `SHEET:ROW` names stand for; unknown names are left out."""
    found: dict[str, SheetRow] = {}
    sheets = {name.partition(":")[0] for name in names}
    for text in sheets:
        if text.isascii() and text.isdigit() and len(text) < 10:
            query = (
                select(SheetRow)
                .join(RatingSheet, RatingSheet.id == SheetRow.sheet_id)
                .where(SheetRow.sheet_id == int(text), RatingSheet.benchmark_id == benchmark_id)
            )
            found |= {f"{row.sheet_id}:{row.row}": row for row in session.scalars(query)}
    return {name: found[name] for name in names if name in found}


def sampling(session: Session, benchmark_id: str, triples: Sequence[bytes]) -> dict[bytes, float]:
    """The probability with which each triple was drawn, by the newest sheet that holds it; others are left out."""
    found: dict[bytes, float] = {}
    for start in range(0, len(triples), _CHUNK):
        query = (
            select(SheetRow.triple, SheetRow.probability)
            .join(RatingSheet, RatingSheet.id == SheetRow.sheet_id)
            .where(RatingSheet.benchmark_id == benchmark_id, SheetRow.triple.in_(triples[start : start + _CHUNK]))
            .order_by(SheetRow.sheet_id)
        )
        found |= dict(session.execute(query).all())
    return found


def _drawn(
    population: Sequence[Candidate], method: str, size: int | None, strata: Mapping[bytes, str], seed: int
) -> list[dict[str, Any]]:
    """Rows of a sheet of triples."""
    if not population:
        raise NotFound(
            "There is no unrated triple.",
            "All that is on the board is rated, or nothing is published on this benchmark.",
        )
    return [
        {"row": row, "triple": c.triple, "position": c.position, "answer": c.answer, "passage_id": c.passage_id,
         "stratum": stratum, "probability": probability}
        for row, (c, stratum, probability) in enumerate(draw(population, method, size, strata, seed), start=1)
    ]  # fmt: skip


def _shares(sizes: Mapping[str, int], size: int) -> dict[str, int]:
    """How many to draw from each stratum: equal shares, what one cannot fill goes to the larger ones."""
    shares: dict[str, int] = {}
    left = min(size, sum(sizes.values()))
    for at, (name, here) in enumerate(sorted(sizes.items(), key=lambda item: (item[1], item[0]))):
        shares[name] = min(here, left // (len(sizes) - at))
        left -= shares[name]
    return shares
