"""The catalog: every file is sound, marks are complete, what the paper states is stated."""

from __future__ import annotations

from importlib.resources import files

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
USABLE = "A, b, k, k1, max_new_tokens, model, P, reader, reranker, retriever"
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


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Small-RTR", {"T": "3"}),
        ("Small-RTR", {"attribution": "the last one"}),
        ("Small-RTR", {"encoder": "minilm"}),
        ("Small-RTR", {"shots": "4"}),
        ("RTR-10-AutoAIS", {"P": "3"}),
        ("Post-2", {"P": "2"}),
        ("Attribute-BM25", {"answerer": "answers:x", "model": "smollm2"}),
        ("Small-URL", {"k": "3"}),
        ("Small-URL", {"retriever": "dense"}),
        ("Small-URL", {"answerer": "answers:x"}),
    ],
)
def test_a_setting_that_nothing_reads_is_refused_with_those_that_are(name: str, changes: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match="does not read") as caught:
        catalog.configured(name, changes)
    if name == "Small-RTR":
        assert caught.value.hint == f"What can be set: {USABLE}."


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("Small-RTR", {"query": "question+answer"}),
        ("Small-RTR", {"retriever": "dense"}),
        ("Small-RTR", {"P": "0"}),
        ("Small-RTR", {"k": "0", "P": "0", "A": "0"}),
        ("Small-RTR", {"b": "nan"}),
        ("Small-RTR", {"b": "1.5"}),
        ("Small-RTR", {"k1": "inf"}),
        ("Small-RTR", {"model": ""}),
        ("Small-RTR", {"reader": "magic"}),
        ("Small-RTR", {"model": "gpt2"}),
        ("Small-RTR", {"model": "magic:x"}),
        ("Small-Post", {"exemplars": "NQ-128"}),
        ("Small-Post", {"answerer": "magic"}),
        ("Small-Post", {"max_new_tokens": "0"}),
    ],
)
def test_settings_that_make_no_sense_are_refused(name: str, changes: dict[str, str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        catalog.configured(name, changes)
    assert caught.value.hint


def test_nothing_and_zero_can_be_set() -> None:
    assert catalog.configured("RTR-10", {"reranker": ""}).reranker == ""
    assert catalog.configured("Small-Post", {"shots": "0"}).shots == 0
    assert catalog.configured("Small-Post", {"b": "0", "k1": "0"}).components()["b"] == 0.0


def test_a_judge_that_is_set_is_declared() -> None:
    """Else a system that uses AutoAIS inside would be ranked by it."""
    assert catalog.configured("Small-RTR", {"reranker": "judge"}).uses_autoais
    assert not catalog.configured("RTR-10-AutoAIS", {"reranker": "", "P": "2"}).uses_autoais


def test_the_sentence_on_attribution_goes_where_it_may_be_wrong() -> None:
    assert catalog.configured("RTR-12", {"A": "50"}).attribution == ""
    assert catalog.configured("RTR-12", {"encoder": "minilm"}).attribution == "the top passage"


def test_a_name_like_it_is_offered() -> None:
    with pytest.raises(NotFound) as caught:
        catalog.find("smal-rtr")
    assert caught.value.hint.startswith("Did you mean Small-RTR")


FILE = (files("systems") / "configs" / "Small-RTR.yaml").read_text("utf-8")


@pytest.mark.parametrize(
    ("was", "becomes", "told"),
    [
        ("k: 10", "k: 10\nk: 11", "k stands twice"),
        ("k: 10", "k: ten", "k is 'ten'"),
        ("k: 10", "k: true", "k is True"),
        ("k: 10", "k: [", "not a YAML file"),
        ("k: 10", "k: 10\nk1: high", "k1 is 'high'"),
        ("title:", "title: 7\nname_:", "unknown"),
        ("uses_autoais: false", "uses_autoais: true", "uses_autoais"),
        ("P: 3\n", "", "marks"),
        ("  model: small enough to run anywhere", "  model:", "inferred is"),
        ("stated: []", "stated: 5", "stated is 5"),
        ("architecture: retrieve-then-read", "architecture: other", "nothing builds"),
        ("architecture: retrieve-then-read", "architecture: llm-as-retriever", "nothing reads k, reader"),
    ],
)
def test_a_bad_file_is_refused_with_its_name_and_place(was: str, becomes: str, told: str) -> None:
    assert catalog.read(FILE.encode(), "Small-RTR.yaml") == catalog.find("Small-RTR")
    assert was in FILE
    with pytest.raises(InvalidInput, match=rf"Small-RTR\.yaml: .*{told}") as caught:
        catalog.read(FILE.replace(was, becomes, 1).encode(), "Small-RTR.yaml")
    assert caught.value.hint


@pytest.mark.parametrize("data", [b"", b"- 1", b"just words", b"\xff\xfe", b"a: !!python/object/apply:os.getcwd []"])
def test_what_is_no_configuration_at_all(data: bytes) -> None:
    with pytest.raises(InvalidInput, match="^x.yaml: not a"):
        catalog.read(data, "x.yaml")


def test_every_configuration_has_what_it_needs_and_nothing_idle() -> None:
    for name in catalog.catalog():
        assert catalog.configured(name, {}) == catalog.find(name)
