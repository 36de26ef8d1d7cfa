"""Entries of the editing track through the one door: what is taken, warned of and refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from sqlalchemy import select

from core.benchmark import NewBenchmark
from core.editing import LONGEST_TEXT, MOST_SENTENCES
from core.errors import InvalidInput, Refused
from core.records import Report
from core.tables import PredictionRow, RevisionRow
from server.bootstrap import Services
from submissions.editing.entries import COUNTS, AcceptedRevisions
from tests.small_benchmark import add_team
from tests.small_editing import GOOD, ITEMS, add_editing, jsonl, send


def read(services: Services, data: bytes, name: str = "e.jsonl") -> AcceptedRevisions:
    found = services.intake.validate("edit", io.BytesIO(data), name)
    assert isinstance(found, AcceptedRevisions)
    return found


def kinds(report: Report) -> set[str]:
    return {kind for kind, n in report.counts.items() if n and kind not in ("rows", "matched", "unchanged")}


def as_csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    columns = list(dict.fromkeys(key for row in rows for key in row))
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    writer.writerows(row | {"report": json.dumps(row["report"])} for row in rows)
    return text.getvalue().encode()


def as_parquet(rows: list[dict[str, Any]]) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([row | {"report": json.dumps(row["report"])} for row in rows]), sink)
    return sink.getvalue()


@pytest.fixture
def editing(services: Services, tmp_path: Path) -> Services:
    add_editing(services, tmp_path / "editing")
    return services


def test_passages_of_a_benchmark(editing: Services) -> None:
    benchmark = editing.benchmarks.get("edit")
    assert benchmark.track == "editing"
    assert [q.id for q in benchmark.questions] == ["p0", "p1", "p2", "p3"]
    assert benchmark.questions[1].context == ("Tell me of the Nile.", "Gladly.")
    assert benchmark.questions[0].type == "geography"
    assert benchmark.rated_positions == [0, 1, 2]


@pytest.mark.parametrize(
    "row",
    [
        {"id": "a", "text": " "},
        {"id": "a"},
        {"id": "a", "text": 7},
        {"id": "a", "text": "x", "context": "before"},
        {"id": "a", "text": "x", "context": [1]},
        {"id": "a", "text": "x\0"},
        {"id": "a", "text": "x", "context": ["\0"]},
        {"id": 3, "text": "x"},
        {"id": "p0", "text": "x"},
        {"id": "a", "text": "x" * (LONGEST_TEXT + 1)},
        {"id": "a", "text": "A b. " * (MOST_SENTENCES + 1)},
    ],
)
def test_passages_that_are_refused(services: Services, tmp_path: Path, row: dict[str, Any]) -> None:
    items, corpus = tmp_path / "i.jsonl", tmp_path / "c.jsonl"
    items.write_bytes(jsonl([*ITEMS, row]))
    corpus.write_text('{"id": "a", "contents": "« T » « T » text"}\n')
    with pytest.raises(Refused) as caught:
        services.benchmarks.add(NewBenchmark("edit", items, [corpus], track="editing"))
    assert [place.row for place in caught.value.places] == [5]


def test_a_text_that_two_passages_share_is_rated_by_id(services: Services, tmp_path: Path) -> None:
    items, corpus, rated = tmp_path / "i.jsonl", tmp_path / "c.jsonl", tmp_path / "r.txt"
    items.write_bytes(jsonl([{"id": "a", "text": "x"}, {"id": "b", "text": "x"}, {"text": "y"}]))
    corpus.write_text('{"id": "a", "contents": "« T » « T » text"}\n')
    rated.write_text("b\ny\n")
    found = services.benchmarks.add(NewBenchmark("edit", items, [corpus], rated, track="editing"))
    assert (found.rated_positions, found.questions[2].id) == ([1, 2], "2")
    rated.write_text("x\n")
    with pytest.raises(Refused):
        services.benchmarks.add(NewBenchmark("other", items, [corpus], rated, track="editing"))
    accepted = services.intake.validate("edit", io.BytesIO(jsonl([{"text": "x", "revised": "z", "report": []}])), "e")
    assert any("Several passages" in place.message for place in accepted.report.places)


def test_an_unknown_track_is_refused(services: Services, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no track 'edits'"):
        services.benchmarks.add(NewBenchmark("edit", tmp_path / "i", [tmp_path / "c"], track="edits"))


def test_a_good_entry_is_stored(editing: Services) -> None:
    sent = send(editing, add_team(editing))
    with editing.database.reading() as session:
        rows = session.scalars(select(RevisionRow).order_by(RevisionRow.position)).all()
        assert session.scalars(select(PredictionRow)).all() == []
    assert [row.text for row in rows] == [row["revised"] for row in GOOD]
    assert rows[0].report[1] == {
        "text": "Oslo lies by a fjord.", "source": "http://x/Fjord", "query": "Where does Oslo lie?",
    }  # fmt: skip
    assert sent.coverage == 0.75
    counts = sent.report["counts"]
    assert {kind: counts[kind] for kind in counts if counts[kind]} == {
        "rows": 3, "matched": 3, "unchanged": 1, "missing_passage": 1, "empty_report": 1,
    }  # fmt: skip
    assert sent.report["places_left_out"] == 0


def test_every_kind_of_file_means_the_same(editing: Services) -> None:
    by_text = [{"text" if at % 2 else "passage": ITEMS[at]["text"], **row} for at, row in enumerate(GOOD)]
    numbered = [
        {"id": row["id"], "revised": row["revised"]}
        | {f"evidence_{n}": s["text"] for n, s in enumerate(row["report"], 1)}
        | {f"source_{n}": s.get("source", s.get("url", "")) for n, s in enumerate(row["report"], 1)}
        | {f"query_{n}": s.get("query", "") for n, s in enumerate(row["report"], 1)}
        for row in GOOD
    ]
    plain = [
        {"passage": ITEMS[at]["text"], "revised": row["revised"], "report": row["report"]}
        for at, row in enumerate(GOOD)
    ]
    text = io.StringIO()
    columns = ["id", "revised", *(f"{part}_{n}" for n in (1, 2) for part in ("evidence", "source", "query"))]
    writer = csv.DictWriter(text, columns, restval="")
    writer.writeheader()
    writer.writerows(numbered)
    files = [
        jsonl(GOOD), jsonl(GOOD[::-1]), json.dumps(GOOD).encode(), as_csv(GOOD), gzip.compress(as_csv(GOOD)),
        as_parquet(GOOD), jsonl(plain), jsonl(numbered), text.getvalue().encode(),
    ]  # fmt: skip
    assert len({read(editing, data).digest for data in files}) == 1
    assert not read(editing, jsonl(by_text)).report.accepted  # both names for the passage


@pytest.mark.parametrize(
    "row, kind",
    [
        ({"report": [{"text": "e"}] * 6}, "too_many_snippets"),
        ({"report": {"text": "e"}}, "bad_report"),
        ({"report": ["e"]}, "bad_report"),
        ({"report": [{"source": "s"}]}, "bad_report"),
        ({"report": [{"text": ["e"]}]}, "bad_report"),
        ({"report": [{"text": "e", "query": {}}]}, "bad_report"),
        ({"report": "[{"}, "bad_report"),
        ({"report": "evidence"}, "bad_report"),
        ({"report": 5}, "bad_report"),
        ({"report": '[{"text": NaN}]'}, "bad_report"),
        ({"report": '[{"text": "a", "text": "b"}]'}, "bad_report"),
        ({"report": "[" * 100_000}, "bad_report"),
        ({"report": [{"text": "a\0"}]}, "nul_byte"),
        ({"report": '[{"text": "\\u0000"}]'}, "nul_byte"),
        ({"report": '[{"text": "\\ud800"}]'}, "lone_surrogate"),
        ({"report": [{"text": "x" * (LONGEST_TEXT + 1)}]}, "overlong_field"),
        ({"report": [{"text": "x", "query": "q" * 2**20}]}, "overlong_field"),
        ({"revised": "x" * (LONGEST_TEXT + 1)}, "overlong_field"),
        ({"revised": "A b. " * (MOST_SENTENCES + 1)}, "too_many_sentences"),
        ({"revised": "A b\n" * (MOST_SENTENCES + 1)}, "too_many_sentences"),
        ({"revised": "a\0"}, "nul_byte"),
        ({"revised": ["a"]}, "nested_value"),
        ({"revised": {"text": "a"}}, "nested_value"),
        ({"id": ["p3"]}, "nested_value"),
        ({"id": "p0"}, "duplicate_passage"),
        ({"evidence_6": "e"}, "too_many_snippets"),
        ({"evidence_1": "e"}, "wrong_header"),
        ({"evidence_01": "e"}, "wrong_header"),
        ({"evidence_0": "e"}, "wrong_header"),
        ({"evidence_١": "e"}, "wrong_header"),
        ({"evidence1": "e"}, "wrong_header"),
        ({f"evidence_{'9' * 5_000}": "e"}, "wrong_header"),
    ],
)
def test_what_is_refused_whole(editing: Services, row: dict[str, Any], kind: str) -> None:
    found = read(editing, jsonl([*GOOD, {"id": "p3", "revised": "Paris is old.", "report": []} | row]))
    assert not found.report.accepted
    assert found.report.counts[kind] >= 1
    assert (found.revisions, found.digest, found.coverage) == ([], "", 0.0)
    assert all(place.message for place in found.report.places)
    with pytest.raises(Refused):
        send(editing, add_team(editing), [*GOOD, {"id": "p3", "revised": "Paris is old.", "report": []} | row])


@pytest.mark.parametrize("lacking", ["id", "revised", "report"])
def test_a_row_without_a_field_is_refused(editing: Services, lacking: str) -> None:
    whole = {"id": "p3", "revised": "Paris is old.", "report": []}
    found = read(editing, jsonl([*GOOD, {key: value for key, value in whole.items() if key != lacking}]))
    assert found.report.counts["missing_field"] == 1
    only = read(editing, jsonl([{key: value for key, value in whole.items() if key != lacking}]))
    assert only.report.counts["wrong_header"] == 1


def test_parquets_own_lists_are_refused_unread(editing: Services) -> None:
    sink = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(GOOD), sink)
    found = read(editing, sink.getvalue(), "e.parquet")
    assert not found.report.accepted
    [message] = [place.message for place in found.report.places if place.kind == "column_type"]
    assert "json.dumps" in message


def test_what_is_warned_of(editing: Services) -> None:
    rows = [
        {"text": "Oslo  is the capital of Sweden. It lies by a fjord. ", "revised": "", "report": None},
        {"id": "p1", "revised": "The Nile flows south.", "report": [{"text": " ", "source": "s"}]},
        {"id": "p9", "revised": "x", "report": []},
        {"id": "p2", "text": "Rome has been the capital since 1861.", "revised": " 1990", "report": [{"text": 1990}]},
    ]
    found = read(editing, jsonl(rows))
    assert found.report.accepted
    assert kinds(found.report) == {
        "joined_loosely", "empty_revision", "empty_report", "empty_snippet", "unknown_passage", "missing_passage",
    }  # fmt: skip
    assert found.report.counts["unchanged"] == 1
    assert found.revisions[2].text == " 1990"
    assert found.revisions[2].report[0].text == "1990"


@pytest.mark.parametrize("data", [b"id,revised,report\n", b"[]", b"id,revised,report\np9,x,[]\n"])
def test_files_that_revise_nothing(editing: Services, data: bytes) -> None:
    assert read(editing, data).report.counts["no_match"] == 1


def test_a_contradicting_text_beside_an_id(editing: Services) -> None:
    found = read(editing, jsonl([*GOOD, {"id": "p3", "text": "Rome is old.", "revised": "x", "report": []}]))
    assert found.report.counts["unknown_passage"] == 1
    assert any("another passage" in place.message for place in found.report.places)


def test_unicode_line_separators_are_text(editing: Services) -> None:
    rows = [{"id": "p0", "revised": "Oslo\u2028is\u0085here", "report": [{"text": "e\u2029"}]}]
    found = read(editing, jsonl(rows))
    assert found.revisions[0].text == "Oslo\u2028is\u0085here"
    assert found.revisions[0].report[0].text == "e\u2029"


def test_a_missing_quote_that_swallows_rows(editing: Services) -> None:
    data = b'id,revised,report\np0,"Oslo,[]\np1,north",[]\np2,Rome,[]\n'
    found = read(editing, data, "e.csv")
    assert not found.report.accepted
    assert found.report.counts["quoting"] == 1


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_the_template_is_an_entry(editing: Services, kind: str) -> None:
    from submissions import tracks

    benchmark = editing.benchmarks.get("edit")
    made = tracks.of(benchmark).template(benchmark.questions, kind)
    if kind == "jsonl":
        assert all(json.loads(line)["report"] == [] for line in made.decode().splitlines())
    found = read(editing, made, f"t.{kind}")
    assert found.report.accepted
    assert found.report.counts["empty_revision"] == 4
    assert any("template" in note for note in found.report.notes)


def test_counts_are_documented() -> None:
    guide = Path("docs/formats.md").read_text()
    assert [kind for kind in COUNTS if f"`{kind}`" not in guide] == []
