"""The paper's released ratings become reference systems with predictions, labels, judgments and scores."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from sqlalchemy import update
from sqlalchemy.orm import Session

from core.benchmark import Benchmark, NewBenchmark
from core.benchmark_files import read_questions
from core.errors import Conflict, InvalidInput, NotFound
from core.records import Judgment, Report
from core.tables import Job, Submission
from core.text import canonical_question
from scorer.judges.released import SIGNATURE
from scorer.judgments import store
from server import auth
from server.bootstrap import Services
from submissions.formats import Findings
from submissions.kinds import EVALUATE, EVALUATE_RELEASED
from submissions.ratings.read import RatingFile
from submissions.released import FROM_RELEASE, card_of, file_digest, gather, stream, write_corpus

TEAM = "Attributed QA paper"
_CHUNK = 5_000
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Imported:
    """What an import stored. `systems`: name → submission id, None where that very version was there before."""

    benchmark: Benchmark
    systems: dict[str, str | None]
    batch: int | None
    """The batch of human labels; None if it had been applied before, or if the file has none."""
    labels: int
    judgments: int
    report: Report


def import_released(
    services: Services,
    path: Path,
    benchmark_id: str,
    *,
    questions: Path | None = None,
    author: str = "import",
    progress: Progress = lambda what, done, total: None,
) -> Imported:
    """Import the release; the systems' evaluations are queued, and need no model.

    Where there is no such benchmark, `questions` make it, with the release's passages as corpus. What an earlier
    import stored is not stored again, so one that was cut off can be repeated. Raises `AqaError`.
    """
    benchmark = _benchmark(services, path, benchmark_id, questions, progress)
    findings = Findings({"rows": 0, "matched": 0})
    progress("Reading", 0, 1)
    found = gather(benchmark, services.benchmarks.corpus(benchmark), stream(path, findings), findings)
    if not found.predictions:
        raise InvalidInput("No row of the file answers a question of the benchmark.", "Is it the right benchmark?")
    labels = found.labels(findings)
    _store_judgments(services, found.judgments, progress)
    report = findings.report()
    file = RatingFile("pre-aggregated", False, file_digest(path), labels, report)
    batch = _apply(services, benchmark, file, path.name, author) if labels else None
    systems: dict[str, str | None] = {}
    for name, answers in found.predictions.items():
        progress("Storing systems", len(systems), len(found.predictions))
        systems[name] = _submit(services, benchmark, name, answers)
    return Imported(benchmark, systems, batch, len(labels), len(found.judgments), report)


def _benchmark(
    services: Services, path: Path, benchmark_id: str, questions: Path | None, progress: Progress
) -> Benchmark:
    try:
        return services.benchmarks.get(benchmark_id)
    except NotFound as error:
        if questions is None:
            error.hint = f"{error.hint} Or give --questions, to make it with the release's passages as its corpus."
            raise
    progress("Making the corpus", 0, 1)
    with tempfile.TemporaryDirectory(dir=services.settings.data_path) as folder:
        known = {canonical_question(question.text) for question in read_questions(questions, None)}
        made = write_corpus(path, Path(folder), known, Findings())
        rated = made.rated if made.rated_questions else None
        new = NewBenchmark(benchmark_id, questions, [made.corpus], rated, description=FROM_RELEASE)
        return services.benchmarks.add(new)


def _store_judgments(services: Services, judgments: Mapping[bytes, Judgment], progress: Progress) -> None:
    left, done = iter(judgments.items()), 0
    while some := dict(islice(left, _CHUNK)):
        with services.database.transaction() as session:
            store(session, SIGNATURE, some)
        done += len(some)
        progress("Storing judgments", done, len(judgments))


def _apply(services: Services, benchmark: Benchmark, file: RatingFile, name: str, author: str) -> int | None:
    note = "Released ratings of the paper: the majority of five raters each."
    try:
        return services.ratings.store(benchmark, file, name, author=author, note=note).id
    except Conflict:
        return None


def _submit(services: Services, benchmark: Benchmark, name: str, answers: Mapping[int, tuple[str, str]]) -> str | None:
    """Send one system's answers through the same door as anybody's; reference systems have no quota."""
    rows = (
        {"question": benchmark.questions[position].text, "answer": answer, "attribution": attribution}
        for position, (answer, attribution) in sorted(answers.items())
    )
    data = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")
    try:
        return services.intake.unlimited().accept(
            _team(services), benchmark.id, card_of(name), io.BytesIO(data), f"{name}.jsonl",
            publish=True, reference=True, finish=_with_released_judge,
        ).id  # fmt: skip
    except Conflict:
        return None


def _with_released_judge(session: Session, submission: Submission) -> None:
    waiting = (Job.subject == submission.id, Job.kind == EVALUATE, Job.state == "queued")
    session.execute(update(Job).where(*waiting).values(kind=EVALUATE_RELEASED))


def _team(services: Services) -> int:
    with services.database.transaction() as session:
        return auth.found_or_added_team(session, TEAM).id
