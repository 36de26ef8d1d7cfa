"""Adding benchmarks: whole or not at all, never changed under their scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from core.benchmark import NewBenchmark
from core.errors import Conflict, InvalidInput, NotFound, Refused
from server.bootstrap import Services
from tests.small_benchmark import PASSAGES, add_benchmark


def lines(path: Path, rows: list[object]) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def new(folder: Path, questions: list[object], **more: object) -> NewBenchmark:
    corpus = lines(folder / "c.jsonl", [{"id": i, "contents": c} for i, c in PASSAGES.items()])
    return NewBenchmark("b", lines(folder / "q.jsonl", questions), [corpus], **more)  # type: ignore[arg-type]


def test_a_benchmark_comes_back_as_it_was_given(services: Services, tmp_path: Path) -> None:
    added = add_benchmark(services, tmp_path / "files", raters_per_item=3, synthetic=True)
    assert added == services.benchmarks.get("small")
    assert [q.position for q in added.questions] == [0, 1, 2, 3, 4]
    assert added.rated_positions == [0, 1, 2, 3]
    assert added.questions[1].references == ("Rome", "Roma")
    assert (added.raters_per_item, added.synthetic) == (3, True)
    assert [row.id for row in services.benchmarks.all()] == ["small"]
    assert services.benchmarks.corpus(added).size == 4


def test_adding_the_same_again_is_harmless(services: Services, tmp_path: Path) -> None:
    first = add_benchmark(services, tmp_path / "files")
    assert add_benchmark(services, tmp_path / "files") == first


def test_other_content_under_a_taken_id_is_refused(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    with pytest.raises(Conflict, match="different content"):
        add_benchmark(services, tmp_path / "files", raters_per_item=3)


def test_every_bad_row_is_named_and_nothing_is_stored(services: Services, tmp_path: Path) -> None:
    good = {"question": "who", "answer": ["me"], "id": "a"}
    rows: list[object] = [
        good, "not json", {"question": "", "answer": ["x"]}, {"question": "when", "answer": []},
        {"question": "what", "answer": "text"}, {"question": "where", "answer": ["x"], "id": "a"},
        {"question": "who ", "answer": ["x"], "id": "b"}, [1],
    ]  # fmt: skip
    with pytest.raises(Refused) as raised:
        services.benchmarks.add(new(tmp_path, rows))
    assert [place.row for place in raised.value.places] == [2, 3, 4, 5, 6, 7, 8]
    with pytest.raises(NotFound, match="no benchmark"):
        services.benchmarks.get("b")


def test_an_exemplar_must_not_be_evaluated(services: Services, tmp_path: Path) -> None:
    other = {"question": "else", "answer": ["y"]}
    exemplars = lines(tmp_path / "e.jsonl", [{"question": "Who", "answer": ["x"]}, other])
    with pytest.raises(Refused, match="evaluated"):
        services.benchmarks.add(new(tmp_path, [{"question": "who", "answer": ["me"]}], exemplars=exemplars))
    kept = lines(tmp_path / "e.jsonl", [other])
    services.benchmarks.add(new(tmp_path, [{"question": "who", "answer": ["me"]}], exemplars=kept))
    assert services.benchmarks.exemplars("b") == [("else", ("y",))]


def test_rated_lines_must_be_of_the_benchmark(services: Services, tmp_path: Path) -> None:
    rated = lines(tmp_path / "r.txt", ["who", "", "whom"])
    with pytest.raises(Refused) as raised:
        services.benchmarks.add(new(tmp_path, [{"question": "who", "answer": ["me"]}], rated=rated))
    assert [(place.row, place.excerpt) for place in raised.value.places] == [(3, "whom")]


@pytest.mark.parametrize("identifier", ["", "Big", "a/b", "../x", "x" * 65])
def test_ids_are_plain(services: Services, tmp_path: Path, identifier: str) -> None:
    with pytest.raises(InvalidInput):
        add_benchmark(services, tmp_path / "files", identifier)


def test_a_missing_file_is_named(services: Services, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="gone.jsonl"):
        services.benchmarks.add(NewBenchmark("b", tmp_path / "gone.jsonl", [tmp_path / "c.jsonl"]))


@pytest.mark.realdata
def test_the_real_questions_and_passages(services: Services, shared_data: Path) -> None:
    files = NewBenchmark(
        "nq-open-dev", shared_data / "nq_open/NQ-open.dev.jsonl", [shared_data / "corpus/passages.jsonl"]
    )
    added = services.benchmarks.add(files)
    corpus = services.benchmarks.corpus(added)
    assert (len(added.questions), corpus.size) == (3610, 4778)
    gold = [json.loads(line) for line in (shared_data / "corpus/gold_passages.jsonl").open()]
    ids = [identifier for row in gold for identifier in row["passage_ids"]]
    assert all(found == wanted for wanted, found in corpus.resolve(ids).items())
