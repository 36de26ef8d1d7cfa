"""Real judgments by up to three annotators (of correctness, not of attribution) as a batch on NQ-Open questions.

The data has no passages, so every answer is attributed to one placeholder passage.
"""

from __future__ import annotations

import csv
import io
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from core.benchmark import Benchmark, NewBenchmark
from core.records import Label, Prediction
from core.settings import Settings
from core.tables import Submission, System
from core.text import squad_normalise, triple_key
from scorer.agreement_report import batch_agreement
from scorer.statistics.correlations import correlate
from scorer.statistics.resamples import ResampleStore
from scorer.stored import read_predictions, read_scores, read_values
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.intake import SystemCard
from submissions.labels import labels_for, labels_of, near_labels_for
from tests.ratings_files import HEADER, table
from tests.small_benchmark import add_team, jsonl

SYSTEMS = ("DPR", "EMDR2", "FiD", "FiD-KD", "R2D2")
MATCHED = {"DPR": 291, "EMDR2": 274, "FiD": 300, "FiD-KD": 300, "R2D2": 300}
"""Answers, of 301, whose normal form was judged."""
PLACEHOLDER = "placeholder"
Row = dict[str, str]


@pytest.fixture(scope="module")
def judged(shared_data: Path) -> list[Row]:
    with (shared_data / "human/NQ301_human.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def ratings_file(rows: list[Row]) -> bytes:
    """One row per annotator's word; a blank is no word."""
    words = [
        (row["Question"], row["Model answer"], PLACEHOLDER, f"annotator{n}", "Y", row[f"annotator{n}"][0])
        for row in rows
        for n in (1, 2, 3)
        if row[f"annotator{n}"]
    ]
    return table(HEADER, words)


def once(rows: list[Row]) -> list[Row]:
    """Without the row that stands in the file twice."""
    return list({(row["Question"], row["Model answer"]): row for row in rows}.values())


def majority(row: Row) -> bool:
    words = [row[f"annotator{n}"] for n in (1, 2, 3) if row[f"annotator{n}"]]
    return 2 * words.count("Yes") > len(words)


@pytest.fixture(scope="module")
def services(judged: list[Row], shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Services:
    """The 301 questions, the batch, and five real systems, evaluated."""
    folder = tmp_path_factory.mktemp("nq301")
    asked = {row["Question"] for row in judged}
    questions, corpus = folder / "questions.jsonl", folder / "corpus.jsonl"
    with (shared_data / "nq_open/NQ-open.dev.jsonl").open(encoding="utf-8") as file:
        questions.write_text("".join(line for line in file if json.loads(line)["question"] in asked), "utf-8")
    corpus.write_text(json.dumps({"id": PLACEHOLDER, "contents": "« P » « P » A placeholder."}) + "\n", "utf-8")
    wired = build(
        Settings(judge="token-overlap", data_dir=str(folder / "data"), bootstrap_resamples=999, submissions_per_day=0)
    )
    wired.database.ensure_current()
    wired.benchmarks.add(NewBenchmark("nq301", questions, [corpus], raters_per_item=2))
    wired.ratings.apply("nq301", io.BytesIO(ratings_file(once(judged))), "nq301.csv", author="test")
    team = add_team(wired)
    for system in SYSTEMS:
        with (shared_data / f"answers/{system}.jsonl").open(encoding="utf-8") as file:
            answers = {row["question"]: row["prediction"] for row in map(json.loads, file)}
        rows = [{"question": q, "answer": answers[q], "attribution": PLACEHOLDER} for q in sorted(asked)]
        wired.intake.accept(team, "nq301", SystemCard(system), io.BytesIO(jsonl(rows)), f"{system}.jsonl", publish=True)
    Worker(wired).run_until_idle()
    return wired


@pytest.mark.realdata
def test_the_row_that_stands_twice_is_named_with_its_twin(services: Services, judged: list[Row]) -> None:
    found = services.ratings.preview("nq301", io.BytesIO(ratings_file(judged)), "raw.csv")
    assert not found.accepted
    assert found.report.counts["rated_twice"] == 2
    for place in found.report.places:
        assert place.kind == "rated_twice"
        assert place.excerpt == "1991"
        assert "in row" in place.message
    assert len(judged) == 1490
    assert len(once(judged)) == 1489


@pytest.mark.realdata
def test_every_majority_is_that_of_a_direct_count(services: Services, judged: list[Row]) -> None:
    benchmark = services.benchmarks.get("nq301")
    position = {question.text: question.position for question in benchmark.questions}
    with services.database.reading() as session:
        labels = labels_of(session, "nq301")
    assert len(labels) == 1489
    for row in once(judged):
        words = [row[f"annotator{n}"] for n in (1, 2, 3) if row[f"annotator{n}"]]
        label = labels[triple_key(position[row["Question"]], row["Model answer"], PLACEHOLDER)]
        assert (label.positive, label.raters) == (words.count("Yes"), len(words))
        assert label.attributable is (words.count("Yes") > len(words) / 2)
    assert sum(label.attributable for label in labels.values()) == sum(majority(row) for row in once(judged))


@pytest.mark.realdata
def test_a_sample_by_hand(services: Services, judged: list[Row]) -> None:
    """One row of each way in which the annotators agree and disagree, its majority counted by eye."""
    seen = {}
    for row in once(judged):
        seen.setdefault(tuple(row[f"annotator{n}"] for n in (1, 2, 3)), row)
    expected = {
        ("Yes", "Yes", ""): (2, 2, True), ("No", "No", ""): (0, 2, False), ("Yes", "No", "Yes"): (2, 3, True),
        ("No", "Yes", "No"): (1, 3, False), ("Yes", "No", "No"): (1, 3, False), ("No", "Yes", "Yes"): (2, 3, True),
        ("No", "No", "Yes"): (1, 3, False), ("Yes", "Yes", "No"): (2, 3, True), ("Yes", "", "Yes"): (2, 2, True),
        ("Yes", "Yes", "Yes"): (3, 3, True),
    }  # fmt: skip
    assert set(seen) == set(expected)
    benchmark = services.benchmarks.get("nq301")
    position = {question.text: question.position for question in benchmark.questions}
    asked = [Prediction(position[r["Question"]], r["Model answer"], PLACEHOLDER, PLACEHOLDER) for r in seen.values()]
    with services.database.reading() as session:
        for pattern, prediction in zip(seen, asked, strict=True):
            label = labels_for(session, "nq301", [prediction])[prediction.position]
            assert (label.positive, label.raters, label.attributable) == expected[pattern]


@pytest.mark.realdata
def test_alpha_is_that_of_the_coincidences(services: Services, judged: list[Row]) -> None:
    """Nominal alpha by its definition: each unit's ordered disagreeing pairs over its words less one."""
    observed, yes, words = 0.0, 0, 0
    for row in once(judged):
        given = [row[f"annotator{n}"] == "Yes" for n in (1, 2, 3) if row[f"annotator{n}"]]
        observed += 2 * sum(given) * (len(given) - sum(given)) / (len(given) - 1)
        yes, words = yes + sum(given), words + len(given)
    expected = 2 * yes * (words - yes) / (words - 1)
    with services.database.reading() as session:
        found = batch_agreement(session, 1).overall
    assert (found.items, found.ratings) == (1489, words)
    assert found.alpha == pytest.approx(1 - observed / expected, abs=1e-12)


def human(services: Services, system: str) -> tuple[dict[int, Label], str]:
    """Labels by position, own and near, and the submission's id."""
    with services.database.reading() as session:
        submission = session.scalars(select(Submission).join(System).where(System.name == system)).one()
        predictions = read_predictions(session, submission.id)
        exact = labels_for(session, "nq301", predictions)
        return near_labels_for(session, "nq301", predictions, exact) | exact, submission.id


@pytest.mark.realdata
@pytest.mark.parametrize("system", SYSTEMS)
def test_answers_join_on_their_normal_form(
    services: Services, judged: list[Row], shared_data: Path, system: str
) -> None:
    known = defaultdict(set)
    for row in judged:
        known[row["Question"]].add(squad_normalise(row["Model answer"]))
    with (shared_data / f"answers/{system}.jsonl").open(encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["question"] in known]
    direct = sum(squad_normalise(row["prediction"]) in known[row["question"]] for row in rows)
    labels, submission = human(services, system)
    assert len(labels) == direct == MATCHED[system]
    with services.database.reading() as session:
        row = session.get_one(Submission, submission)
        ais = read_scores(session, row.evaluation_id)["ais"]
    assert ais.details["labelled"] + ais.details["near"]["hits"] == direct
    assert ais.details["coverage"] == ais.details["labelled"] / 301


@pytest.mark.realdata
def test_em_and_human_judgment_correlate_over_systems_as_a_direct_computation_says(services: Services) -> None:
    benchmark: Benchmark = services.benchmarks.get("nq301")
    n = len(benchmark.questions)
    ais, rated, em = np.zeros((n, 5)), np.zeros((n, 5), dtype=bool), np.zeros((n, 5))
    for at, system in enumerate(SYSTEMS):
        labels, submission = human(services, system)
        with services.database.reading() as session:
            em[:, at] = read_values(session, session.get_one(Submission, submission).evaluation_id, "em")
        for position, label in labels.items():
            rated[position, at], ais[position, at] = True, label.attributable
    found = correlate(ais, em, rated, ["unknown"] * 5, ResampleStore().get(n, 999, 1)).everyone.pearson
    shares = [ais[rated[:, at], at].mean() for at in range(5)]
    assert found.value == pytest.approx(float(np.corrcoef(shares, em.mean(axis=0))[0, 1]), abs=1e-12)
    assert found.value == pytest.approx(0.8847, abs=5e-5)
