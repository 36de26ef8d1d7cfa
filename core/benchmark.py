"""Benchmarks: adding one (all or nothing), loading one, and the hash of everything its scores depend on."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from core import corpus as corpora
from core.benchmark_files import read_exemplars, read_passages, read_questions
from core.corpus import Corpus
from core.database import Database
from core.errors import Conflict, InvalidInput, NotFound
from core.records import Question
from core.tables import BenchmarkRow, ExemplarRow, QuestionRow
from core.text import hash_key
from core.tracks import EDITING, QA, TRACKS

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


@dataclass(frozen=True)
class Benchmark:
    """A benchmark as evaluation needs it: questions in their order, and how to find its corpus."""

    id: str
    title: str
    content_hash: str
    corpus_digest: str
    questions: tuple[Question, ...]
    raters_per_item: int
    minimum_coverage: float
    synthetic: bool
    track: str = QA

    @property
    def name(self) -> str:
        """`id@hash`, as it stands in signatures."""
        return f"{self.id}@{self.content_hash[:12]}"

    @property
    def rated_positions(self) -> list[int]:
        """The positions humans rate, ascending."""
        return [question.position for question in self.questions if question.rated]


@dataclass(frozen=True)
class NewBenchmark:
    """What `add` needs; see docs/benchmarks.md for the files."""

    id: str
    questions: Path
    corpus: Sequence[Path]
    rated: Path | None = None
    exemplars: Path | None = None
    raters_per_item: int = 5
    minimum_coverage: float = 0.95
    title: str = ""
    description: str = ""
    synthetic: bool = False
    track: str = QA


class Benchmarks:
    """Finds benchmarks and their corpora; keeps what it opened, since both are immutable."""

    def __init__(self, database: Database, data_path: Path) -> None:
        self._database = database
        self._folder = data_path / "corpora"
        self._loaded: dict[str, Benchmark] = {}
        self._opened: dict[str, Corpus] = {}
        self._lock = threading.Lock()

    def add(self, new: NewBenchmark, progress: Callable[[int, int], None] = lambda done, total: None) -> Benchmark:
        """Read, check and store a benchmark. Raises `Refused` (bad file), `Conflict` (id taken by another content)."""
        if not _ID.fullmatch(new.id):
            raise InvalidInput(
                f"{new.id!r} is not a benchmark id.", "Use lower-case letters, digits, '.', '_' and '-'."
            )
        questions = _items(new)
        exemplars = read_exemplars(new.exemplars, questions) if new.exemplars else []
        digest, size = corpora.build(new.corpus, self._folder, progress)
        content_hash = _content_hash(questions, digest, new.raters_per_item, new.track)
        with self._database.transaction() as session:
            existing = session.get(BenchmarkRow, new.id)
            if existing is None:
                _insert(session, new, questions, exemplars, digest, size, content_hash)
            elif existing.content_hash != content_hash:
                raise Conflict(
                    f"There is another benchmark {new.id!r} with different content.",
                    "Benchmarks never change under their scores: choose a new id, such as one with a version.",
                )
        return self.get(new.id)

    def get(self, benchmark_id: str) -> Benchmark:
        """The benchmark of that id. Raises `NotFound` with the ids there are."""
        with self._lock:
            if benchmark_id in self._loaded:
                return self._loaded[benchmark_id]
        with self._database.reading() as session:
            loaded = _load(session, _find(session, benchmark_id))
        with self._lock:
            return self._loaded.setdefault(benchmark_id, loaded)

    def row(self, benchmark_id: str) -> BenchmarkRow:
        """What is told of a benchmark without its questions. Raises `NotFound` with the ids there are."""
        with self._database.reading() as session:
            return _find(session, benchmark_id)

    def all(self) -> list[BenchmarkRow]:
        """All benchmarks, oldest first."""
        with self._database.reading() as session:
            return list(session.scalars(select(BenchmarkRow).order_by(BenchmarkRow.created_at, BenchmarkRow.id)))

    def corpus(self, benchmark: Benchmark) -> Corpus:
        """The opened corpus of a benchmark. Raises `NotFound` if its file is gone."""
        with self._lock:
            if benchmark.corpus_digest not in self._opened:
                path = self._folder / f"{benchmark.corpus_digest}.sqlite"
                self._opened[benchmark.corpus_digest] = Corpus(path)
            return self._opened[benchmark.corpus_digest]

    def exemplars(self, benchmark_id: str) -> list[tuple[str, tuple[str, ...]]]:
        """The (question, answers) pairs that systems may learn from."""
        with self._database.reading() as session:
            rows = session.scalars(
                select(ExemplarRow).where(ExemplarRow.benchmark_id == benchmark_id).order_by(ExemplarRow.position)
            )
            return [(row.question, tuple(row.answers)) for row in rows]


def _find(session: Session, benchmark_id: str) -> BenchmarkRow:
    row = session.get(BenchmarkRow, benchmark_id)
    if row is None:
        there = ", ".join(session.scalars(select(BenchmarkRow.id).order_by(BenchmarkRow.id))) or "none yet"
        raise NotFound(f"There is no benchmark {benchmark_id!r}.", f"Benchmarks here: {there}.")
    return row


def _items(new: NewBenchmark) -> list[Question]:
    if new.track == QA:
        return read_questions(new.questions, new.rated)
    if new.track != EDITING:
        raise InvalidInput(f"There is no track {new.track!r}.", f"Tracks: {', '.join(TRACKS)}.")
    if new.exemplars is not None:
        raise InvalidInput("A benchmark of the editing track has no exemplars.", "Leave them out.")
    return read_passages(new.questions, new.rated)


def _content_hash(questions: Sequence[Question], corpus_digest: str, raters_per_item: int, track: str) -> str:
    content = [
        [q.id, q.text, list(q.references), q.rated, *([list(q.context)] if q.context else [])] for q in questions
    ]
    of_track = () if track == QA else (track,)
    return hash_key(orjson.dumps(content).decode(), corpus_digest, str(raters_per_item), *of_track, size=32).hex()


def _insert(
    session: Session,
    new: NewBenchmark,
    questions: Sequence[Question],
    exemplars: Sequence[tuple[str, list[str]]],
    digest: str,
    size: int,
    content_hash: str,
) -> None:
    session.add(
        BenchmarkRow(
            id=new.id, title=new.title or new.id, description=new.description, content_hash=content_hash,
            corpus_digest=digest, corpus_size=size, question_count=len(questions),
            rated_count=sum(q.rated for q in questions), raters_per_item=new.raters_per_item,
            minimum_coverage=new.minimum_coverage, synthetic=new.synthetic, track=new.track,
        )
    )  # fmt: skip
    session.flush()
    session.execute(
        insert(QuestionRow),
        [
            {"benchmark_id": new.id, "position": q.position, "id": q.id, "text": q.text,
             "references": list(q.references), "rated": q.rated, "type": q.type, "context": list(q.context)}
            for q in questions
        ],
    )  # fmt: skip
    if exemplars:
        session.execute(
            insert(ExemplarRow),
            [
                {"benchmark_id": new.id, "position": position, "question": text, "answers": answers}
                for position, (text, answers) in enumerate(exemplars)
            ],
        )


def _load(session: Session, row: BenchmarkRow) -> Benchmark:
    questions = session.scalars(
        select(QuestionRow).where(QuestionRow.benchmark_id == row.id).order_by(QuestionRow.position)
    )
    return Benchmark(
        row.id, row.title, row.content_hash, row.corpus_digest,
        tuple(
            Question(q.position, q.id, q.text, tuple(q.references), q.rated, q.type, tuple(q.context))
            for q in questions
        ),
        row.raters_per_item, row.minimum_coverage, row.synthetic, row.track,
    )  # fmt: skip
