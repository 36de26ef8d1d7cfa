"""A file refused for some of its rows: what the others hold is counted; what nobody knows is not told as 0."""

from __future__ import annotations

import io
import json

import pytest

from core.records import Question, Report
from submissions.editing.entries import read_revisions
from submissions.formats import Limits
from submissions.formats.predictions import read_predictions
from submissions.report import report_to_dict, report_to_text

QUESTIONS = [Question(at, f"q{at}", f"question {at}", ("a",)) for at in range(5)]
ANSWERS = [{"id": f"q{at}", "answer": text, "attribution": at_ and f"p{at_}"} for at, text, at_ in (
    (0, "a", "1"), (1, "", "1"), (2, "a", ""), (9, "a", "1"), (2, "b", "2"),
)]  # fmt: skip
REVISED = [
    {"id": "q0", "revised": "Other.", "report": [{"text": "e"}]},
    {"id": "q1", "revised": "", "report": []},
    {"id": "q2", "revised": "question 2", "report": []},
    {"id": "q9", "revised": "x", "report": []},
    {"id": "q2", "revised": "y", "report": []},
]
BROKEN = ['{"id": "q3", "answer": ', '{"id": "q4"}', '{"id": "q4", "answer": NaN, "revised": NaN}']


def lines(rows: list[dict[str, object]], broken: list[str]) -> bytes:
    return "\n".join([*map(json.dumps, rows[:2]), *broken, *map(json.dumps, rows[2:])]).encode()


def read(track: str, data: bytes, name: str = "f.jsonl") -> Report:
    if track == "editing":
        return read_revisions(io.BytesIO(data), name, QUESTIONS, Limits()).report
    known = {"p1": "p1"}
    found = read_predictions(io.BytesIO(data), name, QUESTIONS, lambda ids: {i: known.get(i) for i in ids}, Limits())
    assert (found.predictions, found.digest, found.coverage) == ([], "", 0.0)
    return found.report


TRUE = {
    "qa": {
        "rows": 6, "matched": 3, "joined_loosely": 0, "unknown_question": 1, "duplicate_question": 1,
        "empty_answer": 1, "empty_attribution": 1, "unknown_attribution": 0, "overlong_field": 0,
        "unusual_characters": 0, "invalid_json": 1, "not_a_number": 1, "missing_field": 1,
    },
    "editing": {
        "rows": 6, "matched": 3, "unchanged": 1, "joined_loosely": 0, "unknown_passage": 1, "duplicate_passage": 1,
        "empty_revision": 1, "empty_report": 2, "empty_snippet": 0, "too_many_snippets": 0, "bad_report": 0,
        "overlong_field": 0, "too_many_sentences": 0, "invalid_json": 1, "not_a_number": 2, "missing_field": 1,
    },
}  # fmt: skip
ROWS: dict[str, list[dict[str, object]]] = {"qa": ANSWERS, "editing": REVISED}


@pytest.mark.parametrize("track", ["qa", "editing"])
def test_one_bad_row_hides_nothing_of_the_others(track: str) -> None:
    report = read(track, lines(ROWS[track], BROKEN))
    for kind, n in TRUE[track].items():
        if kind != "not_a_number":
            assert (kind, report.counts[kind]) == (kind, n)
    assert not [kind for kind in report.counts if kind.startswith("missing_") and kind != "missing_field"]
    assert [place.row for place in report.places if place.kind.startswith("duplicate")] == [8]
    assert report_to_dict(report)["places_left_out"] == 0
    assert "Row 3: " in " ".join(report.fatal)
    assert "missing question" not in report_to_text(report)


@pytest.mark.parametrize("track", ["qa", "editing"])
@pytest.mark.parametrize(
    ("data", "name", "counts"),
    [
        (b"\xff\xfe\x00", "f.csv", {"wrong_encoding": 1}),
        (b'id,answer,attribution,revised,report\n"q0,a,p1,r,[]\n', "f.csv", {"quoting": 1}),
        (b"id\nq0\n", "f.csv", {"rows": 1, "wrong_header": 1}),
        (b'{"id": \n{"id": \n', "f.jsonl", {"rows": 0, "invalid_json": 2}),
    ],
)
def test_what_nobody_counted_is_not_told_as_none(track: str, data: bytes, name: str, counts: dict[str, int]) -> None:
    assert read(track, data, name).counts == counts
