"""Reports as dictionaries, texts and errors."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from core.errors import Refused, TooLarge
from core.records import Place, Report
from submissions.formats import Findings, Limits, excerpt
from submissions.formats.predictions import COUNTS
from submissions.report import places_left_out, refusal, report_to_dict, report_to_text
from tests.formats_writers import accept, questions, write

ROOT = Path(__file__).resolve().parents[2]

BENCHMARK = questions("q one", "q two")


def row(question: str, answer: str = "a") -> dict[str, str]:
    return {"question": question, "answer": answer, "attribution": ""}


def test_dictionary() -> None:
    report = Report({"rows": 2, "matched": 1, "empty_answer": 3}, (Place(2, "empty_answer", "m", "e"),), (), ("n",))
    assert report_to_dict(report) == {
        "accepted": True,
        "counts": {"rows": 2, "matched": 1, "empty_answer": 3},
        "fatal": [],
        "notes": ["n"],
        "places": [{"row": 2, "kind": "empty_answer", "message": "m", "excerpt": "e"}],
        "places_left_out": 2,
    }


def test_text_of_an_accepted_file() -> None:
    report = accept(write("csv", [row("q one", ""), row("other")]), BENCHMARK).report
    text = report_to_text(report)
    assert text.startswith("The file was accepted.\n")
    assert "\n  empty answer         1\n" in text
    assert "row 2, unknown question: The benchmark has no such question.  [other]" in text
    assert "file, missing question: No row answers question q2; it scores 0.  [q two]" in text
    assert report_to_text(report, most_places=1).endswith("  … and 3 more\n")


def test_refusals_carry_reasons_and_places() -> None:
    report = accept(write("csv", [row("q one"), row("q one")]), BENCHMARK).report
    error = refusal(report)
    assert type(error) is Refused
    assert "Row 2: Row 1 answers the same question" in error.message
    assert error.places == report.places
    assert report_to_text(report).startswith("The file was refused whole; nothing of it was taken.\n  - Row 2: ")
    large = refusal(accept(b"x" * 100, BENCHMARK, limits=Limits(file_bytes=99)).report)
    assert type(large) is TooLarge
    assert large.status == 413


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\x1b[31m", "a\u2028b", "x" * 500, "\r\n"])
def test_excerpts_are_short_and_printable(text: str) -> None:
    shown = excerpt(text)
    shown.encode("utf-8")
    assert shown.isprintable()
    assert len(shown) <= 81 + 5 * len(text[:81]) * (len(text) < 10)


def test_problems_go_before_warnings_and_all_kinds_have_a_part() -> None:
    findings = Findings()
    for number in range(5000):
        findings.warn("many", "w", number)
        findings.problem("bad", "p", number)
    for number in range(3):
        findings.problem("few", "f", number)
    report = findings.report()
    kinds = [place.kind for place in report.places]
    assert {kind: kinds.count(kind) for kind in kinds} == {"bad": 997, "few": 3}
    assert report.counts == {"many": 5000, "bad": 5000, "few": 3}
    assert places_left_out(report) == 9003
    assert report.fatal == (
        "Row 0: p The same kind of problem was found in 4,999 more places.",
        "Row 0: f The same kind of problem was found in 2 more places.",
    )
    json.dumps(report_to_dict(report))


def test_rows_of_the_file_go_before_what_it_leaves_out() -> None:
    findings = Findings()
    findings.warn("missing_question", "No row answers it.")
    findings.warn("empty_answer", "The answer is empty.", 7)
    findings.problem("quoting", "The file has no end.")
    assert [(place.kind, place.row) for place in findings.report().places] == [
        ("quoting", None), ("empty_answer", 7), ("missing_question", None),
    ]  # fmt: skip


def test_the_guide_names_every_kind_and_its_example_is_accepted() -> None:
    guide = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "submissions" / "formats").glob("*.py"))
    kinds = set(re.findall(r'(?:BadFile|problem|warn)\(\s*"(\w+)"', source))
    assert {"quoting", "wrong_type", "no_match", "unknown_attribution"} <= kinds
    assert {kind for kind in kinds | set(COUNTS) if f"`{kind}`" not in guide} == set()
    example = guide.split("```csv\n")[1].split("```")[0]
    asked = ("when did the first woman go to space", "who wrote the novel emma", "what is the answer nobody found")
    report = accept(example.encode(), questions(*asked)).report
    assert (report.fatal, report.counts["matched"], report.counts["empty_answer"]) == ((), 3, 1)
    line = guide.split("```json\n")[1].split("```")[0]
    assert accept(line.encode(), questions(*asked)).report.counts["matched"] == 1


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_huge_header_takes_linear_time(kind: str) -> None:
    names = [f"c{number}" for number in range(200_000)]
    data = ",".join(names) + "\n" if kind == "csv" else json.dumps(dict.fromkeys(names, 1))
    report = accept(data.encode(), BENCHMARK).report
    assert "and 199,980 more" in report.fatal[0]
    assert len(report.fatal[0]) < 2000
