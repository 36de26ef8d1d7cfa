"""What a run is wired from, and what is written down of it so that another can repeat it."""

from __future__ import annotations

import io
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from core.benchmark import Benchmark
from core.benchmark_files import read_exemplars
from core.errors import NotFound
from core.ports import Judge
from core.records import Judgment, Pair
from scorer import judges
from scorer.judgments import JudgmentCache
from server.bootstrap import Services
from systems.answerers import FromFile
from systems.config import SystemConfig
from systems.parts import Parts, load_llm, load_reader, read_file
from systems.records import LLM, Reader, System
from systems.retrieval.store import IndexStore

_PACKAGES = (
    "aqa-leaderboard", "bm25s", "PyStemmer", "faiss-cpu", "sentence-transformers", "transformers", "torch", "numpy",
    "xllamacpp", "openai",
)  # fmt: skip


class CachedJudge:
    """A judge through the judgment cache: what a run judged before a stop, or a scorer ever, is not judged again."""

    def __init__(self, services: Services, judge: Judge) -> None:
        self.key, self.title, self.help, self.score_name = judge.key, judge.title, judge.help, judge.score_name
        self.signature = judge.signature
        self._cache = JudgmentCache(services.database, judge, services.settings.judge_chunk)

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`."""
        return self._cache.judge_all(pairs)


@dataclass(frozen=True)
class Decoding:
    """How text is drawn: with `temperature` 0 the likeliest token is taken."""

    temperature: float = 0.0

    def llm(self, spec: str, seed: int) -> LLM:
        """A language model that draws so."""
        model: Any = load_llm(spec, seed)
        return replace(model, temperature=self.temperature) if self.temperature else model  # type: ignore[no-any-return]

    def reader(self, spec: str, model: str, seed: int) -> Reader:
        """A reader on such a model."""
        reader: Any = load_reader(spec, model, seed)
        if self.temperature:
            reader = replace(reader, llm=replace(reader.llm, temperature=self.temperature))
        return reader  # type: ignore[no-any-return]


def parts_for(
    services: Services, benchmark: Benchmark, exemplars: str, judge: str, seed: int, decoding: Decoding = Decoding()
) -> Parts:
    """The parts of a run; `exemplars` is a blob, or empty for the benchmark's own."""
    return Parts(
        corpus=services.benchmarks.corpus(benchmark),
        indexes=IndexStore(services.settings.data_path / "indexes"),
        exemplars=_exemplars(services, benchmark, exemplars),
        seed=seed,
        track=benchmark.track,
        llm_source=decoding.llm,
        reader_source=decoding.reader,
        answers_source=lambda where: _stored(services, where),
        judge_source=_judge_source(services, judge or services.settings.judge),
    )


def with_answers_kept(services: Services, changes: Mapping[str, str]) -> tuple[dict[str, str], bytes | None]:
    """The changes with `answers:NAME@DIGEST` of a blob in place of a file, and the file's bytes if there is one.

    So any worker finds it at any time, and no folder of ours is told. Raises `InvalidInput` for a file that is missing
    or is not as it should be.
    """
    kind, _, where = changes.get("answerer", "").partition(":")
    if kind != "answers":
        return dict(changes), None
    name, data = Path(where).name.replace("@", "_"), read_file(where)
    FromFile(name, data).check()
    return dict(changes) | {"answerer": f"answers:{name}@{services.blobs.put(io.BytesIO(data))}"}, data


def blobs_of(plan: Mapping[str, Any]) -> list[str]:
    """The blobs that a run's plan, as its row keeps it, rests on: exemplars and a file of answers."""
    kind, _, where = str(plan.get("changes", {}).get("answerer", "")).partition(":")
    answers = where.rpartition("@")[2] if kind == "answers" else ""
    return [blob for blob in (plan.get("exemplars"), answers) if blob]


def _stored(services: Services, where: str) -> bytes:
    name, _, digest = where.rpartition("@")
    if not services.blobs.exists(digest):
        raise NotFound(f"The file of answers {name or where} is not stored here.", "Start a new run with the file.")
    with services.blobs.open(digest) as stream:
        return stream.read()


def provenance(system: System, config: SystemConfig, benchmark: Benchmark, seed: int) -> dict[str, Any]:
    """What the outputs rest on: configuration, signature, benchmark, seed, versions and machine."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "configuration": config.components(), "configuration_digest": config.digest, "signature": system.signature,
        "benchmark": benchmark.name, "corpus": benchmark.corpus_digest, "seed": seed, "versions": versions,
        "machine": {"python": platform.python_version(), "platform": platform.platform(), "cpus": os.cpu_count()},
    }  # fmt: skip


def _judge_source(services: Services, spec: str) -> Callable[[], Judge]:
    return lambda: CachedJudge(services, judges.load(spec))


def _exemplars(services: Services, benchmark: Benchmark, blob: str) -> list[tuple[str, tuple[str, ...]]]:
    if not blob:
        return services.benchmarks.exemplars(benchmark.id)
    with tempfile.NamedTemporaryFile(suffix=".jsonl") as file, services.blobs.open(blob) as stream:
        file.write(stream.read())
        file.flush()
        read = read_exemplars(Path(file.name), list(benchmark.questions))
    return [(question, tuple(answers)) for question, answers in read]
