"""A team's data goes when asked: its rows, and the blobs that nobody else needs."""

from __future__ import annotations

import dataclasses
import io
import logging
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from core.tables import AuditEvent, EvaluationRow, Job, JudgmentRow, PredictionRow, ScoreRow, Submission, Team
from server import evaluations, rescoring
from server.bootstrap import Services, build
from server.deletion import delete_team
from server.evaluations import CHUNK, FINISH
from server.worker import Worker
from submissions.kinds import EVALUATE, EVALUATE_RELEASED, RESCORE
from tests.command_line import runner
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl
from tests.small_benchmark import submit as send
from tests.web_client import API, bearer, submit


def count(services: Services, table: type) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def team_id(services: Services, name: str) -> int:
    with services.database.reading() as session:
        return session.scalars(select(Team.id).where(Team.name == name)).one()


def test_what_is_the_teams_own_goes_and_what_is_shared_stays(client: FlaskClient, services: Services) -> None:
    one, two = bearer(services, "one"), bearer(services, "two")
    house = bearer(services, "house", "maintainer")
    submit(client, one, system="Shared"), submit(client, two, system="Shared too")
    alone = {"file": (io.BytesIO(jsonl(GOOD[:3])), "own.jsonl")}
    submit(client, one, system="Own", publish="true", **alone)
    piece = {**one, "Content-Range": "bytes 0-3/9"}
    upload = client.post(f"{API}/uploads", headers=one, json={"size": 9}).json["id"]
    assert client.put(f"{API}/uploads/{upload}", headers=piece, data=b"abcd").status_code == 200
    Worker(services).run_until_idle()
    submit(client, one, system="Waits", file=(io.BytesIO(jsonl(GOOD[:2])), "waits.jsonl"))
    assert (len(set(services.blobs.keys())), count(services, EvaluationRow)) == (4, 2)
    judged = count(services, JudgmentRow)

    gone = client.delete(f"{API}/teams/{team_id(services, 'one')}", headers=house)
    assert gone.status_code == 200, gone.text
    assert gone.json == {"team": "one", "submissions": 3, "evaluations": 1, "blobs": 3}
    assert client.get(f"{API}/me", headers=one).status_code == 401
    assert (count(services, Submission), count(services, EvaluationRow)) == (1, 1)
    assert count(services, PredictionRow) == len(GOOD)
    assert count(services, JudgmentRow) == judged
    with services.database.reading() as session:
        kept = session.scalars(select(Submission)).one()
        assert session.scalars(select(ScoreRow.evaluation_id).distinct()).all() == [kept.evaluation_id]
        assert set(session.scalars(select(Job.state).where(Job.subject != kept.id))) <= {"done", "cancelled"}
    assert set(services.blobs.keys()) == {kept.file_blob}
    assert client.get(f"{API}/submissions/{kept.id}/scores", headers=two).status_code == 200
    assert client.get(f"{API}/leaderboard?benchmark=small").json["rows"] == []
    assert Worker(services).run_until_idle() == 0


def test_parts_that_wait_go_too(services: Services, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    split = build(dataclasses.replace(services.settings, fanout_pairs=1))
    add_benchmark(split, tmp_path / "files")
    one, two = add_team(split, "one"), add_team(split, "two")
    gone, kept = send(split, one).id, send(split, two, GOOD[:2]).id
    worker = Worker(split)
    worker.run_one(), worker.run_one()
    with split.database.transaction() as session:
        parts = session.scalars(select(Job.subject).where(Job.kind == CHUNK)).all()
        assert {part.split(":")[0] for part in parts} == {gone, kept}
        for kind, of in ((RESCORE, "@7"), (rescoring.CHUNK, "@7:00:ff"), (rescoring.FINISH, "@7"), (FINISH, "")):
            split.queue.add(session, kind, gone + of)
    with split.database.reading() as session:
        theirs = set(session.scalars(select(Job.id).where(Job.subject.startswith(gone), Job.state == "queued")))
    assert len(theirs) == 3 + 4
    delete_team(split, one)
    with caplog.at_level("WARNING"):
        worker.run_until_idle()
    assert _warnings(caplog) == []
    with split.database.reading() as session:
        assert {job.state for job in session.scalars(select(Job).where(Job.id.in_(theirs)))} == {"cancelled"}
        assert session.get_one(Submission, kept).state == "scored"
        assert set(session.scalars(select(Job.state).where(Job.id.not_in(theirs)))) == {"done"}
    split.database.engine.dispose()


def test_what_a_job_leaves_while_it_is_waited_for_goes_too(services: Services, tmp_path: Path) -> None:
    """A deletion that comes while a job is split waits for it, and then finds the parts."""
    add_benchmark(services, tmp_path / "files")
    one = add_team(services, "one")
    gone = send(services, one).id
    claim = services.queue.claim(["cpu"], "w")
    assert claim is not None
    with ThreadPoolExecutor(1) as other:
        with services.database.transaction() as session:
            services.queue.finish(session, claim)
            deleted = other.submit(delete_team, services, one)
            wait([deleted], timeout=0.5)
            assert not deleted.done()
            services.queue.add(session, CHUNK, f"{gone}:00:ff", parent=claim.id)
        deleted.result(30)
    with services.database.reading() as session:
        assert session.scalars(select(Job.state).where(Job.kind == CHUNK)).all() == ["cancelled"]


def _warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Lesser messages may be caught as well, where an earlier test has set the service's own logging up."""
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_job_whose_submission_is_gone_ends_quietly(services: Services, caplog: pytest.LogCaptureFixture) -> None:
    """As one that was queued at the very moment of the deletion."""
    with services.database.transaction() as session:
        for kind in (EVALUATE, EVALUATE_RELEASED, CHUNK, FINISH):
            services.queue.add(session, kind, "0123456789ab:00:ff" if kind == CHUNK else "0123456789ab")
    with caplog.at_level("WARNING"):
        assert Worker(services).run_until_idle() == 4
    assert _warnings(caplog) == []
    with services.database.reading() as session:
        assert set(session.scalars(select(Job.state))) == {"done"}


def test_to_look_whether_it_is_gone_waits_for_no_writer(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    send(services, add_team(services, "one"))
    claim = services.queue.claim(["cpu"], "w")
    assert claim is not None
    with ThreadPoolExecutor(1) as other:
        with services.database.transaction() as session:
            session.add(Team(name="two")), session.flush()
            looked = other.submit(evaluations._gone, services, claim)
            wait([looked], timeout=60)
            assert looked.done()
        assert looked.result() is False


def test_the_log_outlives_the_team_without_its_name(client: FlaskClient, services: Services) -> None:
    submit(client, bearer(services, "Remembered by nobody"))
    house = bearer(services, "house", "maintainer")
    number = team_id(services, "Remembered by nobody")
    assert client.delete(f"{API}/teams/{number}", headers=house).status_code == 200
    events = client.get(f"{API}/audit", headers=house)
    assert "Remembered" not in events.text
    deleted = next(each for each in events.json["events"] if each["action"] == "team.deleted")
    assert (deleted["team"], deleted["subject"]) == ("house", str(number))
    assert any(each["team_id"] == number and each["team"] is None for each in events.json["events"])
    assert count(services, AuditEvent) > 3


def test_not_oneself_and_not_nobody(client: FlaskClient, services: Services) -> None:
    house = bearer(services, "house", "maintainer")
    assert client.delete(f"{API}/teams/{team_id(services, 'house')}", headers=house).status_code == 409
    assert client.delete(f"{API}/teams/999", headers=house).status_code == 404
    assert client.delete(f"{API}/teams/{2**40}", headers=house).status_code == 404


def test_on_the_command_line(
    client: FlaskClient, services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:  # fmt: skip
    submit(client, bearer(services, "one"))
    aqa = runner(services.settings, monkeypatch, capsys)
    asked = aqa("team", "delete", "one")
    assert (asked.code, "--yes" in asked.err) == (2, True)
    assert count(services, Submission) == 1
    gone = aqa("team", "delete", "one", "--yes", "--json")
    assert gone.json == {"team": "one", "submissions": 1, "evaluations": 0, "blobs": 1}
    assert aqa("team", "delete", "one", "--yes").code == 2
    log = aqa("audit", "--json").json
    assert log[0]["action"] == "team.deleted"
    assert log[0]["actor"].startswith("command line:")
