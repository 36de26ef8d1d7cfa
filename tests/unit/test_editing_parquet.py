"""Reports of evidence as Parquet's own lists of structs: taken, warned of and refused as the same lists in JSON."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.editing import Snippet
from core.records import Report
from server.bootstrap import Services
from submissions.editing.entries import AcceptedRevisions
from submissions.editing.labels import key_of
from tests.small_editing import GOOD, add_editing, jsonl

LAST = {"id": "p3", "revised": "Paris is old."}
SNIPPET = pa.struct([(name, pa.string()) for name in ("text", "source", "url", "query")])
REPORT = pa.list_(SNIPPET)


@pytest.fixture
def editing(services: Services, tmp_path: Path) -> Services:
    add_editing(services, tmp_path / "editing")
    return services


def read(services: Services, data: bytes, name: str) -> AcceptedRevisions:
    found = services.intake.validate("edit", io.BytesIO(data), name)
    assert isinstance(found, AcceptedRevisions)
    return found


def as_parquet(rows: list[dict[str, Any]], kind: pa.DataType | None = None, **how: Any) -> bytes:
    """The rows with their reports in Parquet's own types; in `kind` where it is not the one that they tell."""
    reports = pa.array([row["report"] for row in rows], kind)
    table = pa.table(
        {"id": [row["id"] for row in rows], "revised": [row["revised"] for row in rows], "report": reports}
    )
    sink = io.BytesIO()
    parquet.write_table(table, sink, **how)
    return sink.getvalue()


def told(report: Report) -> list[tuple[int | None, str, str]]:
    return [(place.row, place.kind, place.message) for place in report.places]


@pytest.mark.parametrize(
    "kind",
    [
        None,
        REPORT,
        pa.large_list(SNIPPET),
        pa.list_(pa.struct([(f.name, pa.dictionary(pa.int32(), pa.string())) for f in SNIPPET])),
        pa.list_(pa.struct([(f.name, pa.large_binary()) for f in SNIPPET])),
        pa.list_(pa.struct([*SNIPPET, pa.field("score", pa.float64()), pa.field("more", pa.list_(pa.int8()))])),
    ],
    ids=["as told", "list", "large list", "dictionaries", "bytes", "with other fields"],
)
def test_lists_of_structs_mean_the_same(editing: Services, kind: pa.DataType | None) -> None:
    rows = [*GOOD, LAST | {"report": [{"text": f"“é” \\ {at}", "source": "", "url": "u"} for at in range(5)]}]
    data = as_parquet(
        [row | {"report": [{**dict.fromkeys(("source", "url", "query")), **s} for s in row["report"]]} for row in rows],
        kind,
        row_group_size=3,
    )
    found, same = read(editing, data, "e.parquet"), read(editing, jsonl(rows), "e.jsonl")
    assert found.report.accepted, found.report
    assert found.revisions == same.revisions
    assert (found.digest, found.coverage) == (same.digest, same.coverage)
    assert told(found.report) == told(same.report)


@pytest.mark.parametrize(
    ("report", "kind", "fault"),
    [
        ([{"text": "a"}] * 6, REPORT, "too_many_snippets"),
        ([{"text": "a"}, None], REPORT, "bad_report"),
        ([{"text": "a"}, {"text": None, "source": "s"}], REPORT, "empty_snippet"),
        ([{"text": None}], REPORT, "empty_report"),
        (None, REPORT, "empty_report"),
        ([], REPORT, "empty_report"),
        ([], None, "empty_report"),
        ([{"text": "a" * 10_001}], REPORT, "overlong_field"),
        ([{"text": "a\0"}], REPORT, "nul_byte"),
        ([{"txt": "a"}, {"txt": "b"}], None, "bad_report"),
        ([{"text": {"text": "a"}}], None, "bad_report"),
        ([{"text": ["a"]}], None, "bad_report"),
        ([{"text": "a", "url": [{"b": [1.5]}]}], None, "bad_report"),
        ([{"text": "a"}, {"text": "a", "query": {"b": None}}], None, "bad_report"),
        ([["a", "b"], None], None, "bad_report"),
        ([[{"text": "a"}]], None, "bad_report"),
        (["a", None], None, "bad_report"),
        ([1], None, "bad_report"),
        ({"text": "a"}, SNIPPET, "bad_report"),
    ],
)
def test_faults_are_told_as_in_json(editing: Services, report: Any, kind: pa.DataType | None, fault: str) -> None:
    rows = [LAST | {"report": None}, {"id": "p1", "revised": "The Nile flows north.", "report": report}]
    found, same = read(editing, as_parquet(rows, kind), "e.parquet"), read(editing, jsonl(rows), "e.jsonl")
    assert found.report.counts[fault] >= 1, found.report
    assert told(found.report) == told(same.report)
    assert found.report.accepted == same.report.accepted
    assert 2 in {row for row, which, _ in told(found.report) if which == fault}


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (pa.list_(pa.struct([("text", pa.float64())])), "“text” in column “report” has the type double"),
        (pa.list_(pa.struct([("text", pa.string()), ("source", pa.bool_())])), "“source” in column “report”"),
        (pa.list_(pa.float32()), "A value in column “report” has the type float"),
        (pa.list_(pa.map_(pa.string(), pa.string())), "A value in column “report” has the type map"),
        (pa.map_(pa.string(), pa.string()), "Column “report” has the type map"),
        (pa.date32(), "Column “report” has the type date32"),
    ],
    ids=str,
)
def test_types_that_lost_what_was_typed(editing: Services, kind: pa.DataType, where: str) -> None:
    found = read(editing, as_parquet([LAST | {"report": None}], kind), "e.parquet")
    assert not found.report.accepted
    assert found.report.counts["column_type"] == 1
    assert where in found.report.fatal[0]


def test_lists_elsewhere_are_refused_as_before(editing: Services) -> None:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"id": [["p3"]], "revised": ["Paris is old."], "report": ["[]"]}), sink)
    assert read(editing, sink.getvalue(), "e.parquet").report.counts["column_type"] == 1


def test_a_key_that_stands_twice(editing: Services) -> None:
    snippets = pa.StructArray.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    table = pa.table({"id": ["p3"], "revised": ["x"], "report": pa.ListArray.from_arrays([0, 1], snippets)})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    found = read(editing, sink.getvalue(), "e.parquet")
    assert "The key “text” stands twice in column “report”" in found.report.fatal[0]


def test_bytes_that_are_not_utf8(editing: Services) -> None:
    data = as_parquet([LAST | {"report": [{"text": b"caf\xe9"}]}])
    assert read(editing, data, "e.parquet").report.counts["wrong_encoding"] == 1


def test_few_bytes_that_stand_for_many_values(editing: Services) -> None:
    """Nulls by the million, and one long text in many snippets, take a few hundred bytes of a file."""
    nulls = pa.ListArray.from_arrays(pa.array([0, 9_000_000], pa.int32()), pa.nulls(9_000_000, SNIPPET))
    table = pa.table({"id": ["p3"], "revised": ["Paris is old."], "report": nulls})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    assert len(sink.getvalue()) < 10_000
    assert "holds 9,000,000 values" in read(editing, sink.getvalue(), "e.parquet").report.fatal[0]
    long = as_parquet([LAST | {"report": [{"text": "x" * 1_000_000}] * 100}])
    report = read(editing, long, "e.parquet").report
    assert (report.counts["overlong_field"], report.counts["too_many_snippets"], report.accepted) == (1, 0, False)


def test_a_batch_of_labels_names_its_revisions_by_such_lists_too(editing: Services) -> None:
    snippets = [{"text": "The Nile flows north.", "source": "s", "query": None}]
    table = pa.table(
        {
            "id": ["p1"], "revised": ["The Nile flows north."], "report": pa.array([snippets]), "sentence": ["1"],
            "rater": ["Ann"], "supported": ["Y"],
        }
    )  # fmt: skip
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    seen = editing.ratings.preview("edit", io.BytesIO(sink.getvalue()), "l.parquet")
    assert (seen.accepted, seen.ratings) == (True, 1)
    assert seen.unheld[0].revision == key_of(1, "The Nile flows north.", [Snippet("The Nile flows north.", "s")])
