"""NQ-Open's development questions and the Wikipedia paragraphs of AQA, as the benchmark `nq-open-dev`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.benchmark import Benchmark, Benchmarks, NewBenchmark
from core.errors import Refused, Unavailable
from core.hub_access import hub_access
from server.fetch.ranged import Progress, RemoteFile, fetch, look_up

CORPUS_URL = "https://storage.googleapis.com/gresearch/attributed_language_models/wikipedia.zip"
"""Wikipedia of 2021-10-13 in paragraphs; named by the README of google-research-datasets/Attributed-QA."""

DATASET = "google-research-datasets/nq_open"
SPLIT = "validation"
QUESTIONS = 3_610
"""Questions in the split, by the dataset's card and AQA §3."""

TITLE = "NQ-Open dev, Wikipedia 2021-10-13"


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be fetched: a file of one commit of the questions' dataset, and the corpus."""

    questions_file: str
    questions_size: int
    questions_revision: str
    corpus: RemoteFile


def plan(corpus_url: str = CORPUS_URL) -> Plan:
    """Ask both places what they have. Raises `Unavailable` and `Refused`."""
    from huggingface_hub import HfApi
    from huggingface_hub.hf_api import RepoFile

    access = hub_access()
    with _reaching_hub():
        hub = HfApi(access.endpoint, access.token)
        revision = hub.dataset_info(DATASET).sha or "main"
        tree = list(hub.list_repo_tree(DATASET, repo_type="dataset", revision=revision, recursive=True))
    found = [file for file in tree if isinstance(file, RepoFile) and _is_split(file.path)]
    if len(found) != 1:
        raise Refused(f"The dataset {DATASET} has {len(found)} Parquet files of the split {SPLIT} instead of one.")
    return Plan(found[0].path, found[0].size, revision, look_up(corpus_url))


def questions(planned: Plan, folder: Path) -> tuple[Path, int]:
    """Fetch the questions and write them as JSON Lines; returns the file and how many there are."""
    import pyarrow.parquet as parquet
    from huggingface_hub import hf_hub_download

    access = hub_access()
    with _reaching_hub():
        fetched = hf_hub_download(
            DATASET, planned.questions_file, repo_type="dataset", revision=planned.questions_revision,
            local_dir=folder, endpoint=access.endpoint, token=access.token,
        )  # fmt: skip
    rows = parquet.read_table(fetched, columns=["question", "answer"]).to_pylist()
    target = folder / "questions.jsonl"
    target.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return target, len(rows)


def corpus(planned: Plan, folder: Path, progress: Progress, sha256: str = "") -> Path:
    """Fetch the corpus, going on where an earlier try stopped."""
    target = folder / (planned.corpus.url.rsplit("/", 1)[-1] or "corpus")
    fetch(planned.corpus, target, progress, sha256)
    return target


def add(
    benchmarks: Benchmarks,
    benchmark_id: str,
    questions_file: Path,
    corpus_file: Path,
    rated: Path | None,
    progress: Callable[[int, int], None],
) -> Benchmark:
    """Index the corpus and add the benchmark."""
    new = NewBenchmark(benchmark_id, questions_file, (corpus_file,), rated, title=TITLE)
    return benchmarks.add(new, progress)


def _is_split(path: str) -> bool:
    return path.endswith(".parquet") and path.rsplit("/", 1)[-1].startswith(SPLIT)


@contextmanager
def _reaching_hub() -> Iterator[None]:
    import httpx2

    try:
        yield
    except (httpx2.HTTPError, OSError) as error:
        told = str(error).strip().partition("\n")[0] or type(error).__name__
        raise Unavailable(
            f"The Hub's dataset {DATASET} cannot be read: {told}",
            "Check the network; AQA_HUB_ENDPOINT or HF_ENDPOINT names a mirror of the Hub.",
        ) from error
