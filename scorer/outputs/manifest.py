"""`manifest.json`: the digests and versions that another party needs to replay an evaluation and compare."""

from __future__ import annotations

import hashlib
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from scorer.outputs.record import Outputs
from scorer.outputs.scores import judge_name

FORMAT = 1
_ALWAYS = ("aqa-leaderboard", "numpy", "scipy")
_OF_JUDGES = ("torch", "transformers", "tokenizers", "onnxruntime", "sentencepiece")


@dataclass(frozen=True, slots=True)
class Source:
    """The predictions file that was scored, and the command that scores it again."""

    name: str
    sha256: str
    size: int
    command: str


def manifest(outputs: Outputs, source: Source, files: Sequence[Path], csv_escape: str | None) -> dict[str, Any]:
    """JSON-ready, without times, so that a replay can be compared byte for byte."""
    benchmark = outputs.benchmark
    return {
        "format": FORMAT,
        "command": source.command,
        "input": {"name": source.name, "sha256": source.sha256, "bytes": source.size},
        "predictions_digest": outputs.digest,
        "benchmark": {
            "id": benchmark.id,
            "content_hash": benchmark.content_hash,
            "corpus_digest": benchmark.corpus_digest,
            "questions": len(benchmark.questions),
            "synthetic_ratings": outputs.synthetic,
        },
        "judge": {"name": judge_name(outputs.judge), "signature": outputs.judge},
        "signature": outputs.signature,
        "versions": versions(),
        "csv_escape": csv_escape,
        "outputs": {path.name: {"sha256": _sha256(path), "bytes": path.stat().st_size} for path in files},
    }


def versions() -> dict[str, str]:
    """Python and the packages that scores can depend on; those of judges only where a judge loaded them."""
    names = [*_ALWAYS, *(name for name in _OF_JUDGES if name in sys.modules)]
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in names}


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
