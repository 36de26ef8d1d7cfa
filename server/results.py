"""The numbers and the scored outputs of an entry, for whoever may see it."""

from __future__ import annotations

import io
import shlex
import tempfile
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from core.tables import BenchmarkRow, EvaluationRow, Submission
from scorer import judges
from scorer.outputs import Outputs, Source, from_stored, scores_document, write_all, write_examples
from scorer.stored import read_scores
from server.auth import Identity
from server.bootstrap import Services
from server.entries import Entry, evaluated, find
from submissions.labels import synthetic_ratings

EXAMPLES = ("csv", "jsonl", "parquet")
KINDS = (*EXAMPLES, "manifest")


def scores(services: Services, session: Session, entry: Entry) -> dict[str, Any]:
    """`scores.json`: every metric with its interval, n and signature. Raises `Conflict` while there are none."""
    evaluation = session.get_one(EvaluationRow, evaluated(entry))
    # The rows of single questions are left out: this document does not hold them.
    outputs = Outputs(
        services.benchmarks.get(entry.benchmark), entry.digest, evaluation.judge, evaluation.signature,
        read_scores(session, evaluation.id), [], {}, {}, entry.report, synthetic(session, entry.benchmark),
    )  # fmt: skip
    return scores_document(outputs)


def synthetic(session: Session, benchmark_id: str) -> bool:
    """True where the human ratings shown are simulated."""
    return session.get_one(BenchmarkRow, benchmark_id).synthetic or synthetic_ratings(session, benchmark_id)


def download(services: Services, who: Identity | None, submission_id: str, kind: str) -> tuple[bytes, str]:
    """The scored outputs in one of `KINDS` and a name for them. Raises `NotFound`, `Conflict` without scores."""
    with services.database.reading() as session:
        entry = find(session, services.queue, who, submission_id)
        evaluated(entry)
    outputs = from_stored(services.database, services.benchmarks, entry.id)
    if kind == "manifest":
        return _manifest(outputs, source_of(services, entry.id)), f"{entry.id}-manifest.json"
    stream = io.BytesIO()
    write_examples(outputs, kind, stream)
    return stream.getvalue(), f"{entry.id}-examples.{kind}"


def source_of(services: Services, submission_id: str) -> Source:
    """The stored file of a scored submission and the command that scores it again."""
    with services.database.reading() as session:
        submission = session.get_one(Submission, submission_id)
        evaluation = session.get_one(EvaluationRow, submission.evaluation_id)
    name = submission.file_name or "predictions"
    judge = judges.spec_of(evaluation.judge)
    command = ["aqa", "score", name, "--benchmark", submission.benchmark_id, "--judge", judge, "--out", "OUT"]
    return Source(name, submission.file_blob, services.blobs.size(submission.file_blob), shlex.join(command))


def _manifest(outputs: Outputs, source: Source) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_all(outputs, Path(folder), source, EXAMPLES)
        return (Path(folder) / "manifest.json").read_bytes()
