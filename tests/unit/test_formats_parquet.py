"""Parquet: text as it is, whole numbers as digits, every other type refused by name."""

from __future__ import annotations

import datetime
import decimal
import io
import tracemalloc
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.records import Report
from submissions.formats import Accepted, Limits
from tests.formats_writers import LIMITS, accept, questions

BENCHMARK = questions("q one", "q two", "q three")
TEXTS = [question.text for question in BENCHMARK]


def parquet(answers: Any, texts: Any = TEXTS, **options: Any) -> bytes:
    table = pa.table({"question": texts, "answer": answers, "attribution": pa.array([None] * len(texts), pa.null())})
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


def answers(data: bytes) -> list[str]:
    accepted = accept(data, BENCHMARK)
    assert accepted.report.fatal == ()
    return [prediction.answer for prediction in accepted.predictions]


def refused(data: bytes, limits: Limits = LIMITS) -> Report:
    outcome: Accepted = accept(data, BENCHMARK, limits=limits)
    assert outcome.predictions == []
    assert outcome.report.fatal
    return outcome.report


@pytest.mark.parametrize(
    "kind",
    [
        *(pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()),
        *(pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())),
    ],
    ids=str,
)
def test_all_types_of_text(kind: pa.DataType) -> None:
    values: list[str | None] = ["N/A", None, "007"]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        array = pa.array([value.encode() if value else None for value in values], kind)
    else:
        array = pa.array(values, pa.string()).cast(kind) if not pa.types.is_dictionary(kind) else None
        if array is None:
            array = pa.array(values, pa.string()).dictionary_encode().cast(kind)
    assert answers(parquet(array)) == ["N/A", "", "007"]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int64(), pa.uint64()], ids=str)
def test_whole_numbers_are_their_digits(kind: pa.DataType) -> None:
    data = parquet(pa.array([7, None, 100], kind))
    assert answers(data) == ["7", "", "100"]
    assert "“answer” holds whole numbers" in accept(data, BENCHMARK).report.notes[0]
    assert answers(parquet(pa.array([7, None, 7], kind).dictionary_encode())) == ["7", "", "7"]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1990.0, None, 2.5]),
        pa.array([True, None, False]),
        pa.array([decimal.Decimal("67.0"), None, None]),
        pa.array([datetime.date(2022, 12, 15), None, None]),
        pa.array([datetime.datetime(2022, 12, 15), None, None]),
        pa.array([["a"], None, []]),
        pa.array([{"text": "a"}, None, None]),
        pa.array([1.5, None, None]).dictionary_encode(),
    ],
    ids=lambda array: str(array.type),
)
def test_types_that_lost_what_was_typed(array: pa.Array) -> None:
    report = refused(parquet(array))
    assert [place.kind for place in report.places] == ["column_type"]
    assert "Column “answer”" in report.fatal[0]


def test_columns_that_are_not_read_may_have_any_type() -> None:
    table = pa.table(
        {"question": TEXTS, "answer": TEXTS, "attribution": TEXTS, "score": [0.1, 0.2, 0.3], "m": [[1]] * 3}
    )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    accepted = accept(sink.getvalue(), BENCHMARK)
    assert accepted.coverage == 1.0
    assert "“score”, “m”" in accepted.report.notes[0]


def test_bytes_that_are_not_utf8() -> None:
    report = refused(parquet(pa.array([b"caf\xe9", b"a", b"b"])))
    assert "“answer” holds bytes that are not UTF-8" in report.fatal[0]
    assert refused(parquet(pa.array(["a\0", "b", "c"]))).counts["nul_byte"] == 1


def test_two_columns_of_one_name() -> None:
    table = pa.Table.from_arrays([pa.array(TEXTS)] * 4, names=["question", "answer", "attribution", "answer"])
    sink = io.BytesIO()
    pq.write_table(table, sink)
    assert "“answer” stands twice" in refused(sink.getvalue()).fatal[0]


def test_damaged_files() -> None:
    good = parquet(TEXTS)
    for data in (b"PAR1", b"PAR1" * 5, good[:-1], good[: len(good) // 2], good[:-8] + b"\xff\xff\xff\x7fPAR1"):
        assert "damaged" in refused(data).fatal[0]


def test_a_changed_byte_is_found_where_pages_carry_checksums() -> None:
    good = parquet(["Paris", "Rome", "Oslo"], write_page_checksum=True, compression="none")
    assert answers(good) == ["Paris", "Rome", "Oslo"]
    assert "damaged" in refused(good.replace(b"Rome", b"Bern", 1)).fatal[0]


def test_one_long_text_in_many_rows_does_not_fill_the_memory() -> None:
    rows = 1000
    answers = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), ["x" * 500_000])
    data = parquet(answers, [str(row) for row in range(rows)])
    assert len(data) < 500_000
    tracemalloc.start()
    report = refused(data, Limits(unpacked_bytes=100_000_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "unpack to more than" in report.fatal[0]
    assert peak < 50_000_000
    big = parquet([str(row) * 100_000 for row in range(3)], compression="zstd", use_dictionary=False)
    assert "unpacks to" in refused(big, Limits(unpacked_bytes=200_000)).fatal[0]
