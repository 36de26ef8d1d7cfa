"""The demo's passages to edit: each planted error is there once, and the corpus holds the evidence against it."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest
import yaml

from core.architectures import ARCHITECTURES
from core.editing import LARGEST_REPORT
from server.demo import make_edit_ratings, make_edits
from server.demo.files import DATA, read_jsonl, read_passages

FOLDER = DATA / "editing"
ITEMS = read_jsonl(FOLDER / "passages.jsonl")
PLANTED = read_jsonl(FOLDER / "planted.jsonl")
PASSAGES = {passage.id: passage for passage in read_passages()}
CASES = [pytest.param(item, planted, id=item["id"]) for item, planted in zip(ITEMS, PLANTED, strict=True)]


@pytest.mark.parametrize(("item", "planted"), CASES)
def test_planted_errors_are_in_the_passage_and_refuted_by_the_corpus(item, planted) -> None:
    assert item["id"] == planted["id"]
    corrected = item["text"]
    for error in planted["errors"]:
        assert item["text"].count(error["wrong"]) == 1
        assert error["quote"] in PASSAGES[error["passage"]].text
        assert error["passage"] in planted["passages"]
        corrected = corrected.replace(error["wrong"], error["right"])
    assert corrected == planted["corrected"]
    assert planted["passages"]
    assert set(planted["passages"]) <= PASSAGES.keys()
    assert len(planted["errors"]) <= 2


def test_passages_are_of_every_kind() -> None:
    assert len({item["text"] for item in ITEMS}) == len({item["id"] for item in ITEMS}) == len(ITEMS)
    kinds = Counter(item["type"] for item in ITEMS)
    assert kinds.keys() == {"statement", "reasoning", "dialogue"}
    assert min(kinds.values()) >= 6
    assert all(bool(item["context"]) == (item["type"] == "dialogue") for item in ITEMS)
    assert all(len(item["context"]) % 2 for item in ITEMS if item["context"])  # the asker's turn comes last


def test_readme_states_the_counts() -> None:
    readme = (DATA.parent / "README.md").read_text("utf-8")
    errors = sum(len(planted["errors"]) for planted in PLANTED)
    right = sum(not planted["errors"] for planted in PLANTED)
    assert len(ITEMS) - right >= 36
    assert f"{len(ITEMS)} passages" in readme
    assert f"{errors} planted errors" in readme
    assert f"{right} without any" in readme


def test_entries_are_made_again_and_described(tmp_path: Path) -> None:
    make_edits.write_entries(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in (FOLDER / "entries").glob("*.jsonl")}
    told = yaml.safe_load((FOLDER / "entries" / "entries.yaml").read_text("utf-8"))["entries"]
    assert {entry["file"] for entry in told} == made.keys()
    assert all(entry["architecture"] in ARCHITECTURES and "stand-in" in entry["description"] for entry in told)


@pytest.mark.parametrize("path", sorted((FOLDER / "entries").glob("*.jsonl")), ids=lambda path: path.stem)
def test_entries_are_whole(path: Path) -> None:
    rows = read_jsonl(path)
    assert [row["id"] for row in rows] == [item["id"] for item in ITEMS]
    assert all(0 < len(row["report"]) <= LARGEST_REPORT for row in rows)
    assert all(snippet["text"] == PASSAGES[snippet["source"]].text for row in rows for snippet in row["report"])


def test_ratings_are_made_again_and_called_synthetic(tmp_path: Path) -> None:
    make_edit_ratings.write_ratings(tmp_path / "ratings.csv.gz")
    made, kept = ((folder / "ratings.csv.gz").read_bytes() for folder in (tmp_path, FOLDER))
    assert gzip.decompress(made) == gzip.decompress(kept)
    rows = list(make_edit_ratings.rows())
    assert {row[-1] for row in rows} == {"synthetic"}
    assert len({(row[1], row[2], row[3]) for row in rows}) == len(rows)


def test_rule_of_the_simulated_raters() -> None:
    planted = {"corrected": "Oslo is in Norway. It is old.", "passages": ["a"]}
    marked, other = [{"text": "Said here.", "source": "a"}], [{"text": "Said here.", "source": "b"}]
    assert make_edit_ratings.attributable("It is old.", planted, marked)
    assert not make_edit_ratings.attributable("It is old.", planted, other)
    assert not make_edit_ratings.attributable("Oslo is in Sweden.", planted, marked)
    assert make_edit_ratings.attributable("Said here.", planted, other)
    assert make_edit_ratings.intent_kept("one two three four five", "one two three")
    assert not make_edit_ratings.intent_kept("one two three four five", "one two")
