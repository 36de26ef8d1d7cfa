"""The page of a team's models: checked as `aqa model check` does, run, followed, and by nobody but its team."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from core.tables import Job, RunRow
from server import models, references, runs, web
from server.bootstrap import Services, build
from tests.fake_hub import FakeHub, serving
from tests.hub_models import CARD, GOOD
from tests.small_benchmark import add_benchmark
from tests.web_client import API, bearer, csrf, sign_in, token

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    for module in (models, references):
        monkeypatch.setattr(module, "briefly", lambda seconds: None)
    with serving(FakeHub()) as running:
        running.model("lab/good", files=dict(GOOD), info=dict(CARD))
        running.model("lab/bad", files=GOOD | {"config.json": b"{}"}, info={"cardData": {"license": EVIL.lower()}})
        yield running


@pytest.fixture
def wired(services: Services, tmp_path: Path, hub: FakeHub) -> Services:
    add_benchmark(services, tmp_path / "files")
    return build(dataclasses.replace(services.settings, hub_endpoint=hub.url, models_per_day=2))


@pytest.fixture
def page(wired: Services) -> FlaskClient:
    client = web.create(wired).test_client()
    sign_in(client, token(wired, "one"))
    return client


def said(client: FlaskClient, **more: str) -> dict[str, str]:
    field = csrf(client.get("/models").text)
    usual = {"reference": "lab/good", "benchmark": "small", "system": "Mine", "architecture": "retrieve-then-read"}
    return {"csrf": field} | usual | more


def test_checked_first_then_run_on_what_was_checked(page: FlaskClient, wired: Services, hub: FakeHub) -> None:
    pinned = f"lab/good@{hub.repos[('models', 'lab/good')].at('main')[0]}"
    looked = page.post("/models", data=said(page, do="check", k="4", temperature="0.5"))
    assert looked.status_code == 200
    assert "This model can be run" in looked.text
    assert f'value="{pinned}"' in looked.text, "the form goes on with the commit that was looked at"
    assert ('value="4"' in looked.text, "licence: mit" in looked.text) == (True, True), "what was typed stays"
    with wired.database.reading() as session:
        assert session.scalars(select(RunRow)).all() == []
    made = page.post("/models", data=said(page, do="run", reference=pinned, k="4", P="2", A="2", seed="7"))
    assert made.status_code == 303, made.text
    with wired.database.reading() as session:
        row, job = session.scalars(select(RunRow)).one(), session.scalars(select(Job)).one()
    assert row.plan["changes"] == {"k": "4", "P": "2", "A": "2", "model": pinned}
    assert (row.plan["seed"], job.queue, row.plan["entry"]["name"]) == (7, "gpu", "Mine")
    one = page.get(made.location).text
    assert 'data-live="/models/' in one
    assert ("next in line" in one, pinned in one) == (True, True)
    live = page.get(f"{made.location}/live").text
    assert 'data-state="queued"' in live
    assert "<html" not in live
    assert "Mine" in page.get("/models").text
    with wired.database.transaction() as session:
        runs.failed(wired, session, row.id, f"It broke: {EVIL}")
    broken = page.get(made.location).text
    assert ("data-live" in broken, EVIL in broken, "It broke: &lt;script&gt;" in broken) == (False, False, True)


def test_refused_with_every_reason_and_inert(page: FlaskClient, wired: Services) -> None:
    for do, status in (("check", 200), ("run", 422)):
        answer = page.post("/models", data=said(page, do=do, reference="lab/bad", system=EVIL, description=EVIL))
        assert answer.status_code == status
        assert "names no architecture" in answer.text
        assert EVIL not in answer.text
    with wired.database.reading() as session:
        assert session.scalars(select(RunRow)).all() == []


@pytest.mark.parametrize(
    ("wrong", "status", "says"),
    [
        ({"reference": ""}, 400, "No model is named"),
        ({"reference": "x" * 400}, 400, "No model is named"),
        ({"reference": "openai:gpt@http://169.254.169.254/v1"}, 400, "not a reference"),
        ({"reference": "/etc/passwd"}, 400, "not a reference"),
        ({"reference": "answers:/etc/passwd"}, 400, "not a reference"),
        ({"reference": "lab/none"}, 404, "no model lab/none"),
        ({"architecture": "other"}, 400, "Models are run as"),
        ({"architecture": EVIL}, 400, ""),
        ({"benchmark": "none"}, 404, ""),
        ({"k": "many"}, 400, "not a whole number"),
        ({"k": "1e9"}, 400, "not a whole number"),
        ({"k": "9" * 500}, 400, "not a whole number"),
        ({"temperature": "nan"}, 400, ""),
        ({"temperature": "inf"}, 400, ""),
        ({"shots": "4"}, 400, "no setting of"),
        ({"seed": "-1"}, 400, "not a whole number"),
        ({"system": ""}, 400, "needs a name"),
        ({"links": "javascript:alert(1)"}, 400, "not a web link"),
    ],
)
def test_what_is_wrong_is_said_above_the_form(
    page: FlaskClient, wired: Services, wrong: dict[str, str], status: int, says: str
) -> None:
    answer = page.post("/models", data=said(page, do="run", **wrong))
    assert answer.status_code == status, answer.text
    assert ('role="alert"' in answer.text, says in answer.text, EVIL in answer.text) == (True, True, False)
    with wired.database.reading() as session:
        assert session.scalars(select(RunRow)).all() == []


def test_the_days_runs(page: FlaskClient, wired: Services) -> None:
    assert "2 of 2 runs left today" in page.get("/models").text
    for name in ("A", "B"):
        assert page.post("/models", data=said(page, do="run", system=name)).status_code == 303
    over = page.post("/models", data=said(page, do="run", system="C"))
    assert (over.status_code, "2 of 2 models" in over.text, "checking is still free" in over.text) == (429, True, True)
    assert page.post("/models", data=said(page, do="check")).status_code == 200


def test_it_is_off_where_models_are_not_run(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    client = web.create(build(dataclasses.replace(services.settings, models_per_day=0))).test_client()
    sign_in(client, token(services, "one"))
    assert "Models are not run here" in client.get("/models").text
    assert "/models" not in client.get("/submit").text.split("<main")[1]


def test_a_run_is_its_teams_own(page: FlaskClient, wired: Services) -> None:
    at = page.post("/models", data=said(page, do="run")).location
    other = web.create(wired).test_client()
    assert other.get(at).location.startswith("/sign-in")
    for team, role, status in (("two", "team", 404), ("house", "maintainer", 404), ("eyes", "rater", 403)):
        other = web.create(wired).test_client()
        sign_in(other, token(wired, team, role))
        for path in (at, f"{at}/live"):
            assert other.get(path).status_code == status, (role, path)
        assert "Mine" not in other.get("/models").text
    assert page.get("/models/nothing").status_code == 404
    forged = page.post("/models", data=said(page, do="run") | {"csrf": "guessed"})
    assert forged.status_code == 403
    assert len(page.get(f"{API}/models", headers=bearer(wired, "one")).json["runs"]) == 1
