"""The template to fill in, and what becomes of it if it is sent back as it is."""

from __future__ import annotations

import io

import pytest

from core.errors import InvalidInput
from submissions.formats import KINDS, read_table, template
from tests.formats_writers import LIMITS, PASSAGE, accept, questions, write

BENCHMARK = questions("who wrote “Emma”, again", 'say "when"', "=1+1", "line\nends\r", "café")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unchanged_template_is_read_and_warned_of(kind: str) -> None:
    accepted = accept(template(BENCHMARK, kind), BENCHMARK, f"template.{kind}")
    assert accepted.report.fatal == ()
    assert accepted.report.notes == ("Every answer is empty. Is this the template, not filled in yet?",)
    assert accepted.report.counts["matched"] == accepted.report.counts["empty_answer"] == len(BENCHMARK)
    assert accepted.report.counts["joined_loosely"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_a_filled_template_is_accepted(kind: str) -> None:
    table = read_table(io.BytesIO(template(BENCHMARK, kind)), "template", LIMITS)
    assert table.kind == kind
    assert table.header == ("id", "question", "answer", "attribution")
    rows = [
        {name: text or "" for name, text in row.cells.items()} | {"answer": f"a{row.row}", "attribution": PASSAGE}
        for row in table.rows
    ]
    accepted = accept(write(kind, rows), BENCHMARK)
    assert [prediction.answer for prediction in accepted.predictions] == ["a1", "a2", "a3", "a4", "a5"]
    assert accepted.report.notes == ()


def test_other_kinds() -> None:
    with pytest.raises(InvalidInput, match="xlsx"):
        template(BENCHMARK, "xlsx")
