"""Scored outputs: the same numbers in every form, nothing undefined without a reason, and a manifest that holds."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from core.passage_text import parse_passage, rating_text
from core.records import Item, Judgment, Passage, Prediction, Question
from core.settings import Settings
from scorer import judges
from scorer.metrics.autoais import AutoAis
from scorer.outputs import COLUMNS, Outputs, Source, escape_formula, from_evaluation, from_stored, write_all
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.report import report_to_dict
from tests.small_benchmark import GOOD, NILE, OSLO, ROME, add_benchmark, add_team, jsonl, submit

SOURCE = Source("p.jsonl", "0" * 64, 3, "aqa score p.jsonl")
RATINGS = [f"what is the capital of norway,Oslo,{OSLO},r{at},Y,{said}\n" for at, said in enumerate("YYYNN")] + [
    f"what is the capital of italy,Roma,{ROME},r{at},Y,{said}\n" for at, said in enumerate("YNNNY")
]


@pytest.fixture
def services(sqlite_url: str, tmp_path: Path) -> Services:
    return build(
        Settings(
            judge="token-overlap", data_dir=str(tmp_path / "data"), database_url=sqlite_url, bootstrap_resamples=199
        )
    )


def scored(services: Services, tmp_path: Path, rows: list[dict[str, str]] = GOOD, **more: object) -> Outputs:
    benchmark = add_benchmark(services, tmp_path / "files", **more)
    accepted = services.intake.validate("small", io.BytesIO(jsonl(rows)), "p.jsonl")
    found = services.scorer_with(judges.load("token-overlap")).score(benchmark, accepted.predictions)
    report = report_to_dict(accepted.report)
    return from_evaluation(services.database, benchmark, accepted.digest, found, report)


def rate(services: Services, synthetic: bool = False) -> None:
    header = "question,answer,attribution,rater,interpretable,supported\n"
    data = (header + "".join(RATINGS)).encode()
    services.ratings.apply("small", io.BytesIO(data), "r.csv", author="test", synthetic=synthetic)


def test_scores_document(services: Services, tmp_path: Path) -> None:
    outputs = scored(services, tmp_path)
    document = write_all(outputs, tmp_path / "out", SOURCE)
    assert document == json.loads((tmp_path / "out" / "scores.json").read_text())
    assert (document["benchmark"], document["judge"]) == ("small", "token-overlap@1")
    assert document["signature"].startswith("bench:small@")
    assert document["synthetic_ratings"] is False
    assert list(document["metrics"]) == ["em", "f1", "autoais", "ais", "em_lenient", "em_compat", "f1_compat"]
    em, ais = document["metrics"]["em"], document["metrics"]["ais"]
    assert em["value"] == 0.6
    assert em["n"] == 5
    assert 0 <= em["low"] < 0.6 < em["high"] <= 1
    assert "reason" not in em
    assert document["metrics"]["autoais"]["judge"] == "token-overlap@1"
    assert {key for key, block in document["metrics"].items() if "judge" in block} == {"autoais"}
    # q3 cites an unknown passage and needs no rater; that alone is no AIS.
    assert (ais["value"], ais["n"], ais["details"]["coverage"]) == (None, 0, 0.25)
    assert document["report"]["matched"] == 5
    assert document["report"]["unknown_attribution"] == 1
    assert {place["kind"] for place in document["places"]} >= {"unknown_attribution", "empty_answer"}


def test_undefined_is_null_with_a_reason(services: Services, tmp_path: Path) -> None:
    outputs = scored(services, tmp_path, GOOD[:3])
    document = write_all(outputs, tmp_path / "out", SOURCE)
    text = (tmp_path / "out" / "scores.json").read_text()
    assert "NaN" not in text
    assert "Infinity" not in text
    assert [key for key, block in document["metrics"].items() if block["value"] is None] == ["ais"]
    ais = document["metrics"]["ais"]
    assert ais["reason"].startswith("No human")
    assert (ais["low"], ais["high"], ais["se"], ais["method"]) == (None, None, None, "none")


def test_the_same_rows_in_every_form(services: Services, tmp_path: Path) -> None:
    rate_later = scored(services, tmp_path)
    rate(services)
    benchmark = services.benchmarks.get("small")
    accepted = services.intake.validate("small", io.BytesIO(jsonl(GOOD)), "p.jsonl")
    found = services.scorer_with(judges.load("token-overlap")).score(benchmark, accepted.predictions)
    outputs = from_evaluation(services.database, benchmark, accepted.digest, found, rate_later.report)
    write_all(outputs, tmp_path / "out", SOURCE, ("jsonl", "csv", "parquet"))
    lines = [json.loads(line) for line in (tmp_path / "out" / "examples.jsonl").read_text().splitlines()]
    assert [tuple(line) for line in lines] == [COLUMNS] * 5
    oslo, rome, nile, grade, france = lines
    assert (oslo["human_rating"], oslo["votes"], oslo["em"], oslo["autoais"]) == ("Y", "3/5", 1.0, 1.0)
    assert (rome["human_rating"], rome["votes"]) == ("N", "2/5")
    assert rome["passage"] == "Title: Rome\nSection: History\n\nRome is the capital of Italy,\nand has been since 1871."
    assert rome["references"] == ["Rome", "Roma"]
    assert (nile["human_rating"], nile["votes"], nile["attribution"]) == (None, None, NILE)
    assert (grade["autoais_p"], grade["autoais"], grade["reasons"]) == (None, 0.0, ["unknown_attribution"])
    assert (france["passage"], france["reasons"]) == (None, ["absent_answer"])
    assert parquet.read_table(tmp_path / "out" / "examples.parquet").to_pylist() == lines
    with (tmp_path / "out" / "examples.csv").open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    for cell, line in zip(cells, lines, strict=True):
        assert json.loads(cell["references"]) == line["references"]
        assert cell["passage"] == (line["passage"] or "")
        assert float(cell["f1"]) == line["f1"]
        assert cell["autoais_p"] == ("" if line["autoais_p"] is None else repr(line["autoais_p"]))


def test_formulas_are_escaped_in_csv_alone(services: Services, tmp_path: Path) -> None:
    answers = ["=1+1", "+1", "-1", "@SUM(A1)", "\ttab"]
    rows = [row | {"answer": answer} for row, answer in zip(GOOD, answers, strict=True)]
    outputs = scored(services, tmp_path, rows)
    write_all(outputs, tmp_path / "out", SOURCE, ("jsonl", "csv", "parquet"))
    with (tmp_path / "out" / "examples.csv").open(newline="", encoding="utf-8") as file:
        assert [row["answer"] for row in csv.DictReader(file)] == [f"'{answer}" for answer in answers]
    lines = (tmp_path / "out" / "examples.jsonl").read_text().splitlines()
    assert [json.loads(line)["answer"] for line in lines] == answers
    assert parquet.read_table(tmp_path / "out" / "examples.parquet")["answer"].to_pylist() == answers
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert "apostrophe" in manifest["csv_escape"]
    write_all(outputs, tmp_path / "other", SOURCE)
    assert json.loads((tmp_path / "other" / "manifest.json").read_text())["csv_escape"] is None
    assert escape_formula("\rx") == "'\rx"
    assert escape_formula("a=b") == "a=b"


def test_manifest_holds_and_a_replay_gives_the_same_bytes(services: Services, tmp_path: Path) -> None:
    outputs = scored(services, tmp_path)
    for name in ("one", "two"):
        write_all(outputs, tmp_path / name, SOURCE, ("jsonl", "csv", "parquet"))
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert set(manifest["outputs"]) == {"scores.json", "examples.jsonl", "examples.csv", "examples.parquet"}
    for name, about in manifest["outputs"].items():
        data = (tmp_path / "one" / name).read_bytes()
        assert about == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        assert data == (tmp_path / "two" / name).read_bytes()
    assert (tmp_path / "one" / "manifest.json").read_bytes() == (tmp_path / "two" / "manifest.json").read_bytes()
    benchmark = services.benchmarks.get("small")
    assert manifest["benchmark"]["content_hash"] == benchmark.content_hash
    assert manifest["benchmark"]["corpus_digest"] == benchmark.corpus_digest
    assert manifest["judge"]["signature"] == "judge:token-overlap@1|tmpl:aqa"
    assert manifest["predictions_digest"] == outputs.digest
    assert manifest["input"] == {"name": "p.jsonl", "sha256": "0" * 64, "bytes": 3}
    assert {"python", "numpy", "scipy", "aqa-leaderboard"} <= set(manifest["versions"])
    assert not list((tmp_path / "one").glob("*.partial"))


@pytest.mark.parametrize("synthetic", [True, False])
def test_stored_outputs_equal_fresh_ones(services: Services, tmp_path: Path, synthetic: bool) -> None:
    scored(services, tmp_path)
    rate(services, synthetic)
    made = submit(services, add_team(services))
    Worker(services).run_until_idle()
    stored = from_stored(services.database, services.benchmarks, made.id)
    accepted = services.intake.validate("small", io.BytesIO(jsonl(GOOD)), "p.jsonl")
    found = services.scorer.score(services.benchmarks.get("small"), accepted.predictions)
    report = report_to_dict(accepted.report)
    fresh = from_evaluation(services.database, services.benchmarks.get("small"), accepted.digest, found, report)
    assert stored.synthetic == fresh.synthetic == synthetic
    for name, outputs in (("stored", stored), ("fresh", fresh)):
        write_all(outputs, tmp_path / name, SOURCE, ("jsonl", "parquet"))
    for file in ("scores.json", "examples.jsonl", "examples.parquet", "manifest.json"):
        assert (tmp_path / "stored" / file).read_bytes() == (tmp_path / "fresh" / file).read_bytes(), file


@pytest.mark.parametrize(
    ("title", "headings", "text", "section"),
    [
        ("Rome", "Rome", "text", None),
        ("Rome", "Rome, History, Empire", "text\n\nmore", "History, Empire"),
        ("T", "Tiger", "text", "Tiger"),
        ("Chrysler", "First, 1955", "", "First, 1955"),
    ],
)
def test_rating_form(title: str, headings: str, text: str, section: str | None) -> None:
    shown = rating_text(Passage("id", title, headings, text))
    expected = f"Title: {title}\n" + (f"Section: {section}\n" if section else "") + f"\n{text}"
    assert shown == expected


def test_passages_are_read_from_all_three_forms() -> None:
    whole = Passage("", "Rome", "Rome, History", "line\nline » «")
    assert parse_passage("« Rome » « Rome, History » line\nline » «") == whole
    assert parse_passage(rating_text(whole)) == whole
    assert parse_passage("just text") == Passage("", "", "", "just text")
    assert parse_passage(rating_text(Passage("", "T", "T", ""))) == Passage("", "T", "T", "")


def test_a_row_near_the_threshold_is_counted_once_whoever_flags_it() -> None:
    question = Question(0, "q0", "who", ("a",))
    prediction = Prediction(0, "a", "p", "p")
    for flags in ((), ("near-threshold",)):
        item = Item(question, prediction, Judgment(0.51, "1", (*flags, "premise-cut")))
        assert AutoAis().measure([item]).details["counts"] == {"judged": 1, "near_threshold": 1, "premise-cut": 1}
