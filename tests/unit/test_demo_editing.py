"""The demo's passages to edit: each planted error is there once, and the corpus holds the evidence against it."""

from __future__ import annotations

from collections import Counter

import pytest

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
