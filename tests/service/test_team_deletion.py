"""A team's data goes when asked: its rows, and the blobs that nobody else needs."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from core.tables import AuditEvent, EvaluationRow, Job, JudgmentRow, PredictionRow, ScoreRow, Submission, Team
from server.bootstrap import Services
from server.worker import Worker
from tests.command_line import runner
from tests.small_benchmark import GOOD, jsonl
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
