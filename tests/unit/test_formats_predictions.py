"""Predictions joined to a benchmark's questions and a corpus, with complete counts."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence

import pytest

from core.records import Place, Question
from submissions.formats import Limits, content_digest, read_predictions, read_rows
from submissions.formats.predictions import COUNTS
from tests.formats_writers import KINDS, LIMITS, OTHER, PASSAGE, accept, questions, write

BENCHMARK = questions("who wrote “Emma”", "when did it rain, again", "what's the café’s name")


def row(question: str, answer: str = "a", attribution: str = PASSAGE) -> dict[str, str]:
    return {"question": question, "answer": answer, "attribution": attribution}


def places(found: Sequence[Place]) -> list[tuple[str, int | None]]:
    return [(place.kind, place.row) for place in found]


def test_released_format() -> None:
    accepted = accept(
        b"question,answer,attribution\r\n"
        b'"when did it rain, again",N/A,' + PASSAGE.encode() + b"\r\n"
        b"who wrote \xe2\x80\x9cEmma\xe2\x80\x9d,007,nowhere\r\n",
        BENCHMARK,
    )
    assert accepted.report.fatal == ()
    assert [(p.position, p.answer, p.attribution, p.passage_id) for p in accepted.predictions] == [
        (0, "007", "nowhere", None),
        (1, "N/A", PASSAGE, PASSAGE),
    ]
    assert accepted.coverage == 2 / 3
    assert tuple(accepted.report.counts) == COUNTS
    assert accepted.report.counts == dict.fromkeys(COUNTS, 0) | {
        "rows": 2,
        "matched": 2,
        "missing_question": 1,
        "unknown_attribution": 1,
    }
    assert places(accepted.report.places) == [("unknown_attribution", 2), ("missing_question", None)]


@pytest.mark.parametrize(
    "typed",
    [
        'who wrote "Emma"',
        "  who  wrote\t“Emma” ",
        "who wrote\u00a0“Emma”",
        "who wrote “Emma”\u200b",
        "who wrote „Emma‟",
    ],
)
def test_loose_joins_are_reported(typed: str) -> None:
    accepted = accept(write("jsonl", [row(typed)]), BENCHMARK)
    assert [prediction.position for prediction in accepted.predictions] == [0]
    assert accepted.report.counts["joined_loosely"] == accepted.report.counts["matched"] == 1
    assert places(accepted.report.places)[:1] == [("joined_loosely", 1)]


def test_decomposed_questions_join_loosely() -> None:
    accepted = accept(write("csv", [row("what's the cafe\u0301's name")]), BENCHMARK)
    assert [prediction.position for prediction in accepted.predictions] == [2]


@pytest.mark.parametrize("typed", ["Who wrote “Emma”", "who wrote “Emma”?", "who wrote Emma", "who wrote", "", "q1"])
def test_nothing_is_joined_by_guess(typed: str) -> None:
    accepted = accept(write("csv", [row(typed), row(BENCHMARK[1].text)]), BENCHMARK)
    assert [prediction.position for prediction in accepted.predictions] == [1]
    assert accepted.report.counts["unknown_question"] == 1
    assert accepted.report.counts["missing_question"] == 2


def test_exact_text_goes_before_canonical_text() -> None:
    benchmark = questions("who is “x”", 'who is "x"')
    accepted = accept(write("csv", [row('who is "x"', "b"), row("who is “x”", "a")]), benchmark)
    assert [prediction.answer for prediction in accepted.predictions] == ["a", "b"]
    assert accepted.report.counts["joined_loosely"] == 0
    unclear = accept(write("csv", [row("who is  “x”"), row("who is “x”")]), benchmark)
    assert unclear.report.counts["unknown_question"] == 1
    assert "Several questions" in unclear.report.places[0].message


def test_questions_of_one_text_need_ids() -> None:
    benchmark = questions("who", "who", "when")
    accepted = accept(write("csv", [row("who"), row("when")]), benchmark)
    assert [prediction.position for prediction in accepted.predictions] == [2]
    rows = [{"id": "q2", **row("who", "b")}, {"id": "q1", **row("who", "a")}, {"id": "", **row("when", "c")}]
    accepted = accept(write("csv", rows), benchmark)
    assert [prediction.answer for prediction in accepted.predictions] == ["a", "b", "c"]
    assert accepted.report.counts["joined_loosely"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_ids_alone(kind: str) -> None:
    rows = [{"id": each, "answer": each, "attribution": ""} for each in ("q3", " q1 ", "q9")]
    accepted = accept(write(kind, rows), BENCHMARK)
    assert [(p.position, p.answer) for p in accepted.predictions] == [(0, " q1 "), (2, "q3")]
    assert places(accepted.report.places)[0] == ("unknown_question", 3)


def test_ids_that_contradict_the_question_are_not_used() -> None:
    rows = [{"id": "q1", **row(BENCHMARK[1].text)}, {"id": "77", **row(BENCHMARK[2].text)}]
    accepted = accept(write("csv", rows), BENCHMARK)
    assert [prediction.position for prediction in accepted.predictions] == [2]
    assert "that of another question" in accepted.report.places[0].message


@pytest.mark.parametrize("second", ["who wrote “Emma”", 'who wrote "Emma"'])
def test_a_question_answered_twice_refuses_the_file(second: str) -> None:
    rows = [row("who wrote “Emma”", "a"), row(BENCHMARK[1].text), row(second, "b")]
    refused = accept(write("csv", rows), BENCHMARK)
    assert refused.predictions == []
    assert refused.report.fatal == ("Row 3: Row 1 answers the same question. Keep one row per question.",)
    assert refused.report.counts["duplicate_question"] == 1
    assert places(refused.report.places)[0] == ("duplicate_question", 3)


def test_no_question_matched() -> None:
    refused = accept(write("csv", [row("x"), row("y")]), BENCHMARK)
    assert "No row matches" in refused.report.fatal[0]
    assert "who wrote “Emma”" in refused.report.fatal[0]
    assert refused.report.counts["unknown_question"] == 2
    assert accept(write("csv", [row("x")]), []).predictions == []


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", "\n\t"])
def test_blank_answers_and_attributions_are_counted(blank: str) -> None:
    accepted = accept(write("jsonl", [row(each.text, blank, blank) for each in BENCHMARK]), BENCHMARK)
    assert accepted.report.accepted
    assert accepted.coverage == 1.0
    assert accepted.report.counts["empty_answer"] == accepted.report.counts["empty_attribution"] == 3
    assert accepted.report.counts["unknown_attribution"] == 0
    assert "Every answer is empty" in accepted.report.notes[0]


def test_attributions_are_resolved_once_each_and_trimmed() -> None:
    asked: list[Sequence[str]] = []

    def resolve(attributions: Sequence[str]) -> dict[str, str | None]:
        asked.append(attributions)
        return {PASSAGE: PASSAGE, "http://en.wikipedia.org/wiki/Paris%23": OTHER}

    rows = [
        row(BENCHMARK[0].text, attribution=f" {PASSAGE}\n"),
        row(BENCHMARK[1].text, attribution=PASSAGE),
        row(BENCHMARK[2].text, attribution=PASSAGE + "#"),
        row("unknown", attribution="never asked for"),
    ]
    accepted = read_predictions(io.BytesIO(write("json", rows)), "a.json", BENCHMARK, resolve, LIMITS)
    assert asked == [[PASSAGE, PASSAGE + "#"]]
    assert [prediction.passage_id for prediction in accepted.predictions] == [PASSAGE, PASSAGE, None]
    assert accepted.predictions[0].attribution == f" {PASSAGE}\n"
    assert accepted.report.counts["unknown_attribution"] == 1


def test_rows_without_text_are_left_out() -> None:
    rows = [row(BENCHMARK[0].text), row("", "", " "), row(BENCHMARK[1].text)]
    for kind in KINDS:
        accepted = accept(write(kind, rows), BENCHMARK)
        assert accepted.report.counts["rows"] == 3
        assert accepted.report.counts["unknown_question"] == 0
        assert "Rows without any text were left out: 1." in accepted.report.notes


def test_the_digest_is_that_of_the_content() -> None:
    rows = [row(each.text, f"né {each.id}") for each in BENCHMARK]
    benchmark_digest = accept(write("csv", rows), BENCHMARK).digest
    assert {accept(write(kind, rows[::-1]), BENCHMARK).digest for kind in KINDS} == {benchmark_digest}
    spaced = [dict(each, attribution=f"{PASSAGE} ", score="1") for each in rows]
    assert accept(write("csv", spaced), BENCHMARK).digest == benchmark_digest
    for change in ({"answer": "né q1 "}, {"attribution": OTHER}, {"question": "unknown"}):
        assert accept(write("csv", [rows[0] | change, *rows[1:]]), BENCHMARK).digest != benchmark_digest


def test_the_digest_can_be_computed_elsewhere() -> None:
    import hashlib

    accepted = accept(write("csv", [row(BENCHMARK[1].text, 'é"\\\u2028'), row(BENCHMARK[0].text, "a")]), BENCHMARK)
    lines = [["q1", "a", PASSAGE], ["q2", 'é"\\\u2028', PASSAGE]]
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    assert accepted.digest == hashlib.sha256(text.encode()).hexdigest()
    assert content_digest(accepted.predictions[::-1], BENCHMARK) == accepted.digest


def test_counts_are_complete_where_places_are_cut() -> None:
    benchmark = [Question(number, f"q{number}", f"question {number}", ("x",)) for number in range(3000)]
    rows = [row(each.text, "", "nowhere") for each in benchmark[:1500]] + [row(f"no {n}") for n in range(700)]
    report = accept(write("csv", rows), benchmark).report
    assert report.counts["rows"] == 2200
    assert report.counts["unknown_question"] == 700
    assert report.counts["missing_question"] == report.counts["empty_answer"] == 1500
    assert report.counts["unknown_attribution"] == 1500
    kinds = [place.kind for place in report.places]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "unknown_question": 250,
        "missing_question": 250,
        "empty_answer": 250,
        "unknown_attribution": 250,
    }


def test_reading_without_a_benchmark() -> None:
    read = read_rows(io.BytesIO(write("tsv", [row("q", "007")])), "a.tsv", Limits())
    assert (read.kind, read.columns) == ("tsv", ("question", "answer", "attribution"))
    assert (read.rows[0].row, read.rows[0].answer, read.rows[0].id) == (1, "007", "")
