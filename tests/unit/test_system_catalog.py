"""The catalog: every file is sound, marks are complete, what the paper states is stated."""

from __future__ import annotations

import pytest

from core.errors import InvalidInput, NotFound
from systems import catalog
from systems.config import from_mapping

STATED = {
    "RTR-10": {"k": 50, "T": 50, "P": 1, "A": 1, "retriever": "dense"},
    "RTR-11": {"T": 50, "P": 50, "A": 50},
    "RTR-12": {"T": 50, "P": 50, "A": 1},
    "RTR-4": {"retriever": "bm25"},
    "Post-1": {"retriever": "bm25", "k": 1, "query": "question+answer"},
    "Post-2": {"retriever": "bm25", "k": 50, "shots": 64},
    "Post-5": {"retriever": "dense", "k": 1},
    "Post-6": {"retriever": "dense", "k": 50},
}
MINIMAL = {
    "name": "X", "title": "x", "architecture": "retrieve-then-read", "retriever": "bm25", "k": 5,
    "stated": ["k"], "inferred": {"retriever": "why"},
}  # fmt: skip


@pytest.mark.parametrize("name", STATED)
def test_what_the_paper_states_is_stated(name: str) -> None:
    config = catalog.find(name)
    for field, value in STATED[name].items():
        assert getattr(config, field) == value
        assert config.mark(field) == "stated"


def test_every_choice_of_ours_has_a_reason() -> None:
    for config in catalog.catalog().values():
        assert all(config.inferred.values()), config.name
        assert set(config.stated) | set(config.inferred) == set(config.components())


def test_reranked_variants_declare_their_judge() -> None:
    judged = {name for name, config in catalog.catalog().items() if config.reranker == "judge"}
    assert judged == {name for name, config in catalog.catalog().items() if config.uses_autoais}
    assert judged == {"RTR-10-AutoAIS", "Post-6-AutoAIS"}


def test_both_readings_of_the_low_resource_system() -> None:
    assert catalog.find("Post-2").exemplars == "NQ-full"
    assert catalog.find("Post-BM25-k50-NQ-64").exemplars == "NQ-64"


def test_names_are_found_whatever_their_case_and_sorted_by_number() -> None:
    names = list(catalog.catalog())
    assert catalog.find("rtr-10").name == "RTR-10"
    assert names.index("RTR-4") < names.index("RTR-10") < names.index("Post-1") < names.index("LLM-as-retriever")
    with pytest.raises(NotFound, match="RTR-99"):
        catalog.find("RTR-99")


def test_what_has_not_run() -> None:
    left = [config.name for config in catalog.not_yet_run({"RTR-10", "Somebody's"})]
    assert "RTR-10" not in left
    assert len(left) == len(catalog.catalog()) - 1


def test_changes_are_marked_as_ours() -> None:
    changed = catalog.find("RTR-10").changed({"k": "20", "encoder": "minilm", "k1": "1.2"})
    assert (changed.k, changed.encoder, changed.k1, changed.mark("k")) == (20, "minilm", 1.2, "inferred")
    assert set(changed.lacks()) == {"model", "reranker"}
    assert changed.digest != catalog.find("RTR-10").digest


@pytest.mark.parametrize(
    "changes",
    [{"colour": "red"}, {"k": "many"}, {"name": "Mine"}, {"P": "51"}, {"retriever": "magic"}, {"k": "-1"}],
)
def test_wrong_changes_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(InvalidInput):
        catalog.find("RTR-10").changed(changes)


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": "5"}, {"architecture": "magic"}, {"colour": "red"}, {"stated": []},
        {"inferred": {"retriever": "w", "k": "w"}},
        {"k": 5, "P": 6, "stated": ["k", "P"]},
    ],
)  # fmt: skip
def test_bad_files_are_refused_by_name(wrong: dict[str, object]) -> None:
    assert from_mapping(MINIMAL, "x.yaml").k == 5
    with pytest.raises(InvalidInput, match=r"x\.yaml"):
        from_mapping(MINIMAL | wrong, "x.yaml")
