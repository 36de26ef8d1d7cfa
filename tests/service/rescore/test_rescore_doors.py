"""A rescore as it is seen: in the history, at the API, on the pages and on the command line."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from core.tables.base import utc_now
from leaderboard.history import board_on, days
from server import rescores, web
from server.bootstrap import Services
from tests.command_line import Aqa, runner
from tests.rescoring import board_of, work
from tests.web_client import API, bearer, csrf, sign_in, token


def test_the_history_shows_what_was_shown(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    today = utc_now().date()
    with services.database.reading() as session:
        shown = board_on(session, "small", today).to_dict()["rows"]
        assert [row["judge"] for row in shown] == [row["judge"] for row in board_of(services)["rows"]]
        assert {"strict" in row["judge"] for row in shown} == {False}
        assert days(session, "small") == [today]
    rescores.promote(services, made.id)
    with services.database.reading() as session:
        shown = board_on(session, "small", today)
    assert {cell.signature.count("strict") for row in shown.rows for cell in [row.metrics["autoais"]]} == {1}


def test_the_api_and_the_pages(services: Services) -> None:
    client: FlaskClient = web.create(services).test_client()
    house = bearer(services, "house", "maintainer")
    made = rescores.start(services, "small", "strict")
    [told] = client.get(f"{API}/rescores?benchmark=small", headers=house).json["rescores"]
    assert (told["id"], told["entries"], told["done"], told["ready"]) == (made.id, 4, 0, False)
    refused = client.post(f"{API}/rescores/{made.id}/promote", headers=house, json={})
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "conflict")
    sign_in(client, token(services, "house", "maintainer"))
    page = client.get(f"/rescores/{made.id}").text
    assert "waits for a worker" in page
    assert "Being scored beside the board" in page
    assert 'href="/rescores"' in page.split('id="main"')[0], "in the menu of maintainers"
    field = csrf(page)
    assert client.post(f"/rescores/{made.id}/promote", data={"csrf": field}).status_code == 409
    work(services)
    found = client.get(f"{API}/rescores/{made.id}?rank_by=em", headers=house).json
    assert (found["ready"], found["side_by_side"]["rank_by"]) == (True, "em")
    [line] = [each for each in found["side_by_side"]["lines"] if each["system"] == "A"]
    change = line["metrics"]["autoais"]
    assert change["difference"] == pytest.approx(-0.2)
    assert (change["interval_difference"][1], change["n_before"], change["n_after"]) == (0.0, 5, 5)
    assert client.get(f"{API}/rescores/{made.id}?rank_by=x", headers=house).status_code == 400
    assert client.get(f"{API}/rescores/99", headers=house).status_code == 404
    shown = re.sub(r"<[^>]+>|\s+", " ", client.get(f"/rescores/{made.id}/live").text)
    assert "Scored beside the board; ready to be promoted" in shown
    ends = r"0\.0–80\.0 → 0\.0–80\.0 +−20\.0 +\(−68\.5 to 0\.0\) +1 of 5 questions differ"
    assert re.search(rf"40\.0 → +20\.0 +{ends}", shown)
    assert re.search(r"Nothing changes for any system in EM, F1", shown)
    assert client.post(f"/rescores/{made.id}/promote", data={"csrf": field}).status_code == 303
    assert "the board shows the new scores" in client.get(f"/rescores/{made.id}").text
    assert client.post(f"{API}/rescores/{made.id}/drop", headers=house).status_code == 409
    assert "promoted" in client.get("/rescores").text
    assert client.post(f"/rescores/{made.id}/burn", data={"csrf": field}).status_code == 404


@pytest.fixture
def aqa(services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(services.settings, monkeypatch, capsys)


def test_the_command_line(services: Services, aqa: Aqa) -> None:
    told = aqa("rescore", "--benchmark", "small", "--judge", "strict", "--dry-run")
    assert (told.code, "4 to be scored" in told.out, "4 pairs" in told.out) == (0, True, True)
    assert "Nothing was scored anew yet" in aqa("rescore", "status").out
    assert aqa("rescore", "promote").code == 2
    assert "Rescore 1 of small by strict: 4 of 4" in aqa("rescore", "--benchmark", "small", "--judge", "strict").out
    assert "missing: A v1" in aqa("rescore", "status").out
    refused = aqa("rescore", "promote")
    assert (refused.code, "nothing was promoted" in refused.err) == (2, True)
    work(services)
    shown = aqa("rescore", "status").out
    assert "aqa rescore promote" in shown
    assert "-20.0" in shown
    assert "-68.5 to 0.0" in shown
    assert "paired by question" in shown
    assert "Nothing changes for any system in EM, F1" in shown
    assert "EM, %" not in shown
    found = aqa("rescore", "status", "--json").json
    assert (found["ready"], found["side_by_side"]["lines"][0]["system"]) == (True, "A")
    assert "is promoted" in aqa("rescore", "promote").out
    assert aqa("rescore", "status", "--json").json[0]["state"] == "promoted"
    assert aqa("rescore", "drop", "1").code == 2
    assert "Rescore 1 of small by strict: promoted" in aqa("rescore", "status", "1").out
