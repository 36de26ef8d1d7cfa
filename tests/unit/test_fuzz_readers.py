"""Random files: readers never crash, never half-take a file, never change a text silently."""

from __future__ import annotations

import gzip
import io
import json

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from submissions.formats import Accepted, Limits, read_table
from submissions.report import report_to_dict, report_to_text
from tests.formats_writers import KINDS, LIMITS, PASSAGE, accept, questions, write

BENCHMARK = questions("who wrote “Emma”", "when, and where", 'say "when"', "6'2\" in cm", "what is it", "why not", "q7")
ANSWERS = ["Jane Austen", "N/A", '"Fix You"', "6'2\"", "1990", "a, b", "né\nà"]
ROWS = [
    {"question": question.text, "answer": answer, "attribution": PASSAGE}
    for question, answer in zip(BENCHMARK, ANSWERS, strict=True)
]
GOOD = {kind: write(kind, ROWS) for kind in KINDS}
HEADER = b"question,answer,attribution\n"
TEXT_KINDS = ("csv", "tsv", "jsonl", "json")
STARTS = [
    *(
        b"",
        HEADER,
        b"question\tanswer\tattribution\n",
        b"[",
        b"{",
        b"PAR1",
        b"PK\x03\x04",
        b"\x1f\x8b\x08\0",
        b"\xef\xbb\xbf",
    ),
    *(b'[{"question": "q7", "answer": ', b'{"question": "q7", "answer": ', HEADER + b'q7,"', b"\xff\xfe", b"%PDF-"),
]
tries = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def check_whole(outcome: Accepted) -> None:
    """What must hold for any outcome: taken whole or refused with a reason, and the report can be shown."""
    report = outcome.report
    json.dumps(report_to_dict(report), allow_nan=False).encode()
    report_to_text(report).encode("utf-8")
    assert report.accepted == bool(outcome.predictions) == bool(outcome.digest)
    assert all(sentence.strip() for sentence in report.fatal)
    if report.accepted:
        counts = report.counts
        assert len(outcome.predictions) == counts["matched"]
        assert counts["matched"] + counts["missing_question"] == len(BENCHMARK)
        positions = [prediction.position for prediction in outcome.predictions]
        assert positions == sorted(set(positions))


@tries
@given(start=st.sampled_from(STARTS), rest=st.binary(max_size=400), packed=st.booleans())
def test_any_bytes(start: bytes, rest: bytes, packed: bool) -> None:
    data = gzip.compress(start + rest) if packed else start + rest
    check_whole(accept(data, BENCHMARK))


pieces = st.sampled_from(
    [
        *("question", "answer", "attribution", "q7", "why not", "id", ",", "\t", '"', '""', "'", "\n", "\r\n", "\r"),
        *("{", "}", "[", "]", ":", '{"question": "q7", "answer": "a", "attribution": ""}', "\\", "\\u0000", "\\ud800"),
        *("NaN", "1e5", "null", "true", "-", "\0", "\ufeff", "é", "\u2028", " ", "=", ";"),
    ]
)


@tries
@given(start=st.sampled_from(["question,answer,attribution\n", "[", "{", ""]), parts=st.lists(pieces, max_size=40))
def test_any_pieces_of_files(start: str, parts: list[str]) -> None:
    check_whole(accept((start + "".join(parts)).encode(), BENCHMARK))


texts = st.text(st.characters(exclude_categories=()), max_size=30) | st.sampled_from(
    ["", "NA", "007", "1e5", "67.0", '"', '""', "\r", "\n", "\r\n", ",", "\t", "\ufeff", "\0", "\ud800", "{", "null"]
)


@pytest.mark.parametrize("kind", KINDS)
@tries
@given(cells=st.lists(st.tuples(texts, texts, texts), min_size=1, max_size=8), packed=st.booleans())
def test_what_is_written_comes_back(kind: str, packed: bool, cells: list[tuple[str, str, str]]) -> None:
    rows = [dict(zip(("question", "answer", "attribution"), each, strict=True)) for each in cells]
    halves = any("\ud800" <= char <= "\udfff" for each in cells for text in each for char in text)
    assume(not halves or kind == "json")  # no other kind can hold half a character
    data = write(kind, rows)
    table = read_table(io.BytesIO(gzip.compress(data) if packed else data), f"a.{kind}", Limits(ratio=10_000))
    nul = any("\0" in text for each in cells for text in each)
    if nul or halves:
        assert {place.kind for place in table.report.places} <= {"nul_byte", "lone_surrogate"}
        assert not table.report.accepted
    else:
        assert table.report.fatal == ()
        assert table.kind == kind
        assert [row.cells for row in table.rows] == rows
        assert [row.row for row in table.rows] == list(range(1, len(rows) + 1))


@st.composite
def mutations(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` with one place cut, doubled, overwritten or inserted into, or with its end cut off."""
    at = draw(st.integers(0, len(data) - 1))
    length = draw(st.integers(0, 3))
    extra = draw(
        st.binary(max_size=2) | st.sampled_from([b'"', b",", b"\n", b"\r", b"\t", b"\\", b"\0", b"{", b"}", b"]"])
    )
    how = draw(st.sampled_from(["replace", "truncate", "repeat"]))
    if how == "truncate":
        return data[:at]
    if how == "repeat":
        return data[: at + length] + data[at:]
    return data[:at] + extra + data[at + length :]


def check_others_unchanged(kind: str, data: bytes) -> None:
    """A mutation in one place touches at most the two rows it lies between; all others are as they were or missing."""
    outcome = accept(data, BENCHMARK)
    check_whole(outcome)
    changed = [each.position for each in outcome.predictions if each.answer != ANSWERS[each.position]]
    assert len(changed) <= 1, (kind, data)


@pytest.mark.parametrize("kind", TEXT_KINDS)
@settings(tries, max_examples=600)
@given(data=st.data())
def test_one_changed_place_changes_no_other_answer(kind: str, data: st.DataObject) -> None:
    check_others_unchanged(kind, data.draw(mutations(GOOD[kind])))


@pytest.mark.parametrize("kind", TEXT_KINDS)
@pytest.mark.parametrize("extra", [b'"', b",", b"\n", b"\\", b"\0", b"x", b"\xff"])
def test_every_inserted_and_every_lost_byte(kind: str, extra: bytes) -> None:
    good = GOOD[kind]
    for at in range(len(good)):
        check_others_unchanged(kind, good[:at] + extra + good[at:])
        check_others_unchanged(kind, good[:at] + extra + good[at + 1 :])
        if extra == b"x":
            check_others_unchanged(kind, good[:at] + good[at + 1 :])
            check_others_unchanged(kind, good[:at])


@tries
@given(data=st.data(), kind=st.sampled_from(KINDS))
def test_a_changed_gzip_is_refused_or_has_the_same_content(data: st.DataObject, kind: str) -> None:
    outcome = accept(data.draw(mutations(gzip.compress(GOOD[kind]))), BENCHMARK)
    check_whole(outcome)
    assert not outcome.report.accepted or [each.answer for each in outcome.predictions] == ANSWERS


@tries
@given(data=st.data())
def test_a_changed_parquet_file_never_crashes(data: st.DataObject) -> None:
    check_whole(accept(data.draw(mutations(GOOD["parquet"])), BENCHMARK))


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_every_changed_byte_of_a_parquet_file(mask: int) -> None:
    good = GOOD["parquet"]
    for at in range(4, len(good) - 8):
        check_whole(accept(good[:at] + bytes([good[at] ^ mask]) + good[at + 1 :], BENCHMARK))


@tries
@example(["a\0b"], "x")
@given(header=st.lists(texts, min_size=1, max_size=5), cell=texts)
def test_any_header(header: list[str], cell: str) -> None:
    rows = json.dumps([dict.fromkeys(header, cell)]).encode()
    for data in (rows, rows[1:-1], ("\t".join(header) + "\n").encode("utf-8", "replace")):
        table = read_table(io.BytesIO(data), cell, LIMITS, ("question", "answer"))
        json.dumps(report_to_dict(table.report)).encode()
        report_to_text(table.report).encode("utf-8")
