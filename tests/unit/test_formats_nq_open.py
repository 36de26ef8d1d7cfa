"""Real questions and answers: every kind of file gives the same predictions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.records import Question
from submissions.formats import template
from tests.formats_writers import KINDS, OTHER, PASSAGE, accept, write

pytestmark = pytest.mark.realdata
SYSTEMS = ("DPR", "EMDR2", "FiD", "FiD-KD", "R2D2")


def lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


@pytest.fixture(scope="module")
def nq_open(shared_data: Path) -> list[Question]:
    found = lines(shared_data / "nq_open" / "NQ-open.dev.jsonl")
    return [
        Question(number, f"nq-{number}", each["question"], tuple(each["answer"])) for number, each in enumerate(found)
    ]


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_kind_of_file_gives_the_same_digest(shared_data: Path, nq_open: list[Question], system: str) -> None:
    answers = list(lines(shared_data / "answers" / f"{system}.jsonl"))
    attributions = [PASSAGE, "", OTHER, "elsewhere"]
    rows = [
        {"question": each["question"], "answer": each["prediction"], "attribution": attributions[number % 4]}
        for number, each in enumerate(answers)
    ]
    typed = {each["question"]: each["prediction"] for each in answers}
    digests = set()
    for kind in KINDS:
        data = write(kind, rows)
        for sent in (data, gzip.compress(data, 1)):
            accepted = accept(sent, nq_open, f"{system}.{kind}")
            assert accepted.report.fatal == ()
            assert accepted.coverage == 1.0
            assert [each.answer for each in accepted.predictions] == [typed[each.text] for each in nq_open]
            assert accepted.report.counts["joined_loosely"] == 0
            assert accepted.report.counts["empty_attribution"] == len(rows[1::4])
            assert accepted.report.counts["unknown_attribution"] == len(rows[3::4])
            digests.add(accepted.digest)
    assert len(digests) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_templates_of_a_real_benchmark(nq_open: list[Question], kind: str) -> None:
    accepted = accept(template(nq_open, kind), nq_open, f"template.{kind}")
    assert accepted.coverage == 1.0
    assert accepted.report.counts["empty_answer"] == len(nq_open)
