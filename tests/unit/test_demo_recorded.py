"""The demo's recorded runs are whole, agree with what they say they rest on, and are those of the catalog."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import Any

import pytest

from server.demo import recorded
from server.demo.files import DATA, read_csv, read_jsonl, read_passages
from systems import catalog, prompts
from systems.llm import smollm2

TOLD = {told["system"]: told for told in recorded.provenances()}
ARCHITECTURES = {"retrieve-then-read", "post-hoc-retrieval", "llm-as-retriever"}


def outputs(name: str) -> list[dict[str, Any]]:
    text = gzip.decompress((recorded.FOLDER / f"{name}.outputs.jsonl.gz").read_bytes()).decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def test_each_architecture_of_the_paper_has_one():
    assert {entry["architecture"] for entry in recorded.entries()} == ARCHITECTURES
    for entry in recorded.entries():
        assert "SmolLM2-135M-Instruct stands in for PaLM-540B" in entry["description"]
        assert f"python -m server.demo.record_runs {entry['system']}" in entry["description"]
        assert entry["size"] == 0.135


@pytest.mark.parametrize("name", TOLD)
def test_a_run_is_of_the_catalogs_system_weights_and_prompts(name: str):
    told = TOLD[name]
    assert told["configuration_digest"] == catalog.find(name).digest, "the configuration changed: record the run anew"
    assert told["model_sha256"] == smollm2.DIGEST
    assert told["ended"] == "complete"
    assert any(prompts.load(prompt).signature in told["signature"] for prompt in prompts.names())
    assert smollm2.DIGEST[:12] in told["signature"]


@pytest.mark.parametrize("name", TOLD)
def test_predictions_are_those_of_the_outputs(name: str):
    questions = [entry["question"] for entry in read_jsonl(DATA / "questions.jsonl")]
    ids = {passage.id for passage in read_passages()}
    rows = list(read_csv(recorded.FOLDER / f"{name}.csv"))
    kept = outputs(name)
    assert [row["question"] for row in rows] == questions
    assert [each["position"] for each in kept] == list(range(len(questions)))
    for row, each in zip(rows, kept, strict=True):
        assert (row["answer"], row["attribution"]) == (each["answer"], each["passage_id"] or "")
        assert row["attribution"] in ids | {""}


@pytest.mark.parametrize("name", TOLD)
def test_answers_are_read_from_the_raw_texts_and_prompts_hold_no_reference(name: str):
    questions = read_jsonl(DATA / "questions.jsonl")
    for entry, each in zip(questions, outputs(name), strict=True):
        part = each["trace"].get("reader") or each["trace"]["answerer"]
        assert each["answer"] == prompts.read_answer_and_url(part["raw"])[0]
        assert entry["question"] in part["prompt"]
        assert part["prompt"].rstrip().endswith(("A:", "Answer:")), "the open question stands last, unanswered"


@pytest.mark.parametrize("name", TOLD)
def test_the_sums_are_right(name: str):
    told, kept = TOLD[name], outputs(name)
    assert told["answered"] == len(kept)
    assert told["attributed"] == sum(each["passage_id"] is not None for each in kept)
    for field in ("prompt_tokens", "new_tokens"):
        assert told[field] == sum(each["trace"]["usage"][field] for each in kept)
    assert Counter(told["flags"]) == Counter(flag for each in kept for flag in each["trace"].get("flags", []))
