"""The demo benchmark: its files keep their promises and are made again byte for byte."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from core.architectures import ARCHITECTURES
from core.text import canonical_question, squad_normalise
from server.demo import make_entries, make_rated, make_ratings, summary
from server.demo.files import DATA, read_csv, read_jsonl, read_passages
from server.demo.recorded import FOLDER
from server.demo.summary import exact_match, predictions, simulated_ais

QUESTIONS = read_jsonl(DATA / "questions.jsonl")
SUPPORT = read_jsonl(DATA / "support.jsonl")
PASSAGES = {passage.id: passage for passage in read_passages()}
ENTRIES = yaml.safe_load((DATA / "entries" / "entries.yaml").read_text("utf-8"))["entries"]
RATED = (DATA / "rated.txt").read_text("utf-8").split()


def test_ids_are_unique() -> None:
    assert len(PASSAGES) == len(read_jsonl(DATA / "corpus.jsonl"))
    assert len({entry["id"] for entry in QUESTIONS}) == len(QUESTIONS)
    assert len({canonical_question(entry["question"]) for entry in QUESTIONS}) == len(QUESTIONS)
    assert len(set(RATED)) == len(RATED)
    assert len({entry["system"] for entry in ENTRIES}) == len(ENTRIES)


def test_there_is_enough_of_everything() -> None:
    pages = Counter(passage.page for passage in PASSAGES.values())
    assert len(PASSAGES) >= 160
    assert len(pages) >= 60
    assert sum(count >= 3 for count in pages.values()) >= 25
    assert len(QUESTIONS) >= 64
    assert len(RATED) >= 40
    assert len(read_jsonl(DATA / "exemplars.jsonl")) >= 16
    assert len(ENTRIES) >= 5


@pytest.mark.parametrize("passage", PASSAGES.values(), ids=lambda passage: passage.id.rpartition("/")[2])
def test_passage_id_repeats_title_and_headings(passage) -> None:
    url, *headings, number = passage.id.split("#")
    assert url.startswith("http://en.wikipedia.org/wiki/")
    assert number.isdigit()
    assert ", ".join(headings).replace("_", " ") == passage.headings
    assert passage.headings.split(", ")[0] == passage.title
    assert 40 <= len(passage.text.split()) <= 110


def test_questions_are_in_search_style() -> None:
    for entry in QUESTIONS:
        assert entry["question"] == entry["question"].lower().strip()
        assert not entry["question"].endswith("?")
        assert entry["answer"]
        assert entry["type"] in {"who", "what", "when", "where", "how many", "which"}


def test_every_question_has_a_supporting_passage() -> None:
    assert {entry["id"] for entry in SUPPORT} == {entry["id"] for entry in QUESTIONS}


@pytest.mark.parametrize("entry", SUPPORT, ids=lambda entry: entry["id"])
def test_supporting_passages_hold_a_reference(entry) -> None:
    references = next(question["answer"] for question in QUESTIONS if question["id"] == entry["id"])
    assert entry["passages"]
    assert entry["answers"]
    for passage in entry["passages"]:
        text = f" {squad_normalise(PASSAGES[passage].text)} "
        assert any(f" {squad_normalise(answer)} " in text for answer in references)
        assert any(f" {squad_normalise(answer)} " in text for answer in entry["answers"])


def test_no_exemplar_is_evaluated() -> None:
    evaluated = {canonical_question(entry["question"]).casefold() for entry in QUESTIONS}
    for entry in read_jsonl(DATA / "exemplars.jsonl"):
        assert canonical_question(entry["question"]).casefold() not in evaluated
        assert entry["answer"]


def test_rated_subset_is_made_again() -> None:
    assert make_rated.rated_ids() == RATED


def test_entries_are_made_again(tmp_path: Path) -> None:
    make_entries.write_entries(tmp_path)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in (DATA / "entries").glob("*.csv")}


def test_ratings_are_made_again(tmp_path: Path) -> None:
    make_ratings.write_ratings(tmp_path / "ratings.csv")
    assert (tmp_path / "ratings.csv").read_bytes() == (DATA / "ratings.csv").read_bytes()


def test_every_entry_is_described_and_whole() -> None:
    assert {entry["file"] for entry in ENTRIES} == {path.name for path in (DATA / "entries").glob("*.csv")}
    for entry in ENTRIES:
        assert entry["architecture"] in ARCHITECTURES
        assert entry["uses_autoais"] is False
        assert {"team", "system", "supervision", "description"} <= entry.keys()
        rows = read_csv(DATA / "entries" / entry["file"])
        assert [row["question"] for row in rows] == [question["question"] for question in QUESTIONS]
        assert {row["attribution"] for row in rows if row["attribution"]} <= PASSAGES.keys()


def test_entries_differ_clearly_in_quality() -> None:
    files = [path for path in predictions() if path.parent.name == "entries"]
    em = [exact_match(file) for file in files]
    ais = [simulated_ais(file) for file in files]
    assert max(em) - min(em) >= 0.4
    assert max(ais) - min(ais) >= 0.4
    assert len(set(em)) >= 5


def test_the_summary_tells_every_entry_and_says_which_are_real_runs(capsys: pytest.CaptureFixture[str]) -> None:
    summary.main()
    told = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[1:]}
    runs = {path.stem for path in FOLDER.glob("*.csv")}
    assert set(told) == {path.stem for path in (DATA / "entries").glob("*.csv")} | runs
    assert {name for name, line in told.items() if "recorded run" in line} == runs == {
        "Small-RTR", "Small-Post", "Small-URL",
    }  # fmt: skip


def test_ratings_are_complete_and_called_synthetic() -> None:
    rows = read_csv(DATA / "ratings.csv")
    keys = [(row["question"], row["answer"], row["attribution"], row["rater"]) for row in rows]
    assert len(set(keys)) == len(keys) == 5 * len(make_ratings.triples())
    assert {row["note"] for row in rows} == {"synthetic"}
    for row in rows:
        assert (row["interpretable"], row["supported"]) in {("Y", "Y"), ("Y", "N"), ("N", "")}


def test_raters_err_about_as_often_as_stated() -> None:
    pairs = make_ratings.supported_pairs()
    rows = [row for row in read_csv(DATA / "ratings.csv") if row["interpretable"] == "Y"]
    for rater, rate in make_ratings.ERROR_RATES.items():
        wrong = [
            (row["supported"] == "Y")
            != ((row["attribution"], squad_normalise(row["answer"])) in pairs[row["question"]])
            for row in rows
            if row["rater"] == rater
        ]
        spread = 4 * (rate * (1 - rate) / len(wrong)) ** 0.5
        assert abs(sum(wrong) / len(wrong) - rate) < spread


def test_readme_states_the_counts_and_seeds() -> None:
    readme = (DATA.parent / "README.md").read_text("utf-8")
    pages = Counter(passage.page for passage in PASSAGES.values())
    several = sum(count >= 3 for count in pages.values())
    assert f"{len(PASSAGES)} on {len(pages)} pages, {several} of them with three or more" in readme
    for number in (len(QUESTIONS), f"{len(SUPPORT)} rows", make_rated.SEED, make_ratings.SEED, make_rated.SIZE):
        assert re.search(rf"\b{number}\b", readme)
