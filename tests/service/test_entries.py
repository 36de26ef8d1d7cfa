"""Entries of a list are read in as many queries for many as for one, and say the same as one by one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from core.tables import Job, SubmissionSource
from core.tables.base import utc_now
from server import entries, history
from server.auth import Identity
from server.bootstrap import Services
from server.evaluations import CHUNK
from tests.query_count import counting
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit


def listed(services: Services, team: int) -> tuple[list[entries.Entry], int]:
    who = Identity(team, "team", "team", 1)
    with services.database.reading() as session, counting(services.database) as sent:
        found = entries.listed(session, services.queue, who)
    return found, len(sent)


@pytest.fixture
def team(services: Services, tmp_path: Path) -> int:
    """Twenty entries that wait, one of them with a source, and one whose part waits for another try."""
    add_benchmark(services, tmp_path / "files")
    made, other = add_team(services), add_team(services, "other")
    submit(services, other, system="First")
    for number in range(20):
        rows = [{**GOOD[0], "answer": f"Oslo {number}"}, *GOOD[1:]]
        at = submit(services, made, rows, system=f"S{number // 4}").id
    with services.database.transaction() as session:
        session.add(SubmissionSource(submission_id=at, reference="owner/name@1:p.jsonl"))
        part = services.queue.add(session, CHUNK, f"{at}:00:ff", "gpu")
        part.attempt, part.reason, part.not_before = 1, "Out of memory.", utc_now() + timedelta(minutes=1)
    return made


def test_twenty_take_as_many_queries_as_one(services: Services, team: int) -> None:
    found, many = listed(services, team)
    assert len(found) == 20
    lonely = add_team(services, "lonely")
    submit(services, lonely)
    one, few = listed(services, lonely)
    assert (len(one), many) == (1, few)
    assert many <= 4


def test_each_says_where_it_stands(services: Services, team: int) -> None:
    found, _ = listed(services, team)
    last, *others = found
    assert (last.source, last.reason, last.state, last.queue_position) == (
        "owner/name@1:p.jsonl", "Out of memory.", "queued", None
    )  # fmt: skip
    assert last.retry_at is not None
    assert {each.source for each in others} == {None}
    assert [each.queue_position for each in others] == list(range(19, 0, -1))
    who = Identity(team, "team", "team", 1)
    with services.database.reading() as session:
        assert [entries.find(session, services.queue, who, each.id) for each in found] == found
    with services.database.transaction() as session:
        session.execute(update(Job).where(Job.subject == others[0].id).values(priority=-1))
    assert listed(services, team)[0][1].queue_position == 0


def test_versions_take_as_many_queries_as_one(services: Services, team: int) -> None:
    lonely = add_team(services, "lonely")
    one, many = submit(services, lonely).id, listed(services, team)[0][0].id
    sent_for: list[int] = []
    for whose, submission, expected in ((team, many, [4, 3, 2, 1]), (lonely, one, [1])):
        who = Identity(whose, "team", "team", 1)
        with services.database.transaction() as session:
            session.execute(update(Job).where(Job.attempt > 0).values(attempt=0, reason=None))
        with services.database.reading() as session, counting(services.database) as sent:
            found = history.versions(services, session, who, submission)
        assert [each.version for each in found] == expected
        sent_for.append(len(sent))
    assert sent_for[0] == sent_for[1]
