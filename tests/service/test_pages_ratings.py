"""The maintainers' page and the rater's page, without a browser."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import select

from core.tables import RatingBatch, RatingRow
from server import web
from server.bootstrap import Services
from server.worker import Worker
from tests.ratings_files import HEADER, TRIPLES, ratings_csv, table
from tests.small_benchmark import add_benchmark, add_team, submit
from tests.web_client import csrf, sign_in, token

FILE = ratings_csv({"oslo": "YYN", "roma": "NNN", "nile": "YY"})


@pytest.fixture
def web_app(services: Services, tmp_path: Path) -> APIFlask:
    add_benchmark(services, tmp_path / "files", raters_per_item=2)
    submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return web.create(services)


@pytest.fixture
def house(web_app: APIFlask, services: Services) -> FlaskClient:
    client = web_app.test_client()
    sign_in(client, token(services, "house", "maintainer"))
    return client


def rater(web_app: APIFlask, services: Services, name: str) -> FlaskClient:
    client = web_app.test_client()
    sign_in(client, token(services, name, "rater"))
    return client


def form(client: FlaskClient, path: str, **more: object) -> dict[str, object]:
    return {"csrf": csrf(client.get(path).text), "benchmark": "small", **more}


def posted(client: FlaskClient, do: str, seen: str = "", data: bytes = FILE, **more: object):
    sent = form(client, "/ratings", do=do, seen=seen, file=(io.BytesIO(data), "r.csv"), **more)
    return client.post("/ratings", data=sent)


def seen_in(page: str) -> str:
    return page.split('name="seen" value="')[1].split('"')[0]


def test_a_file_is_applied_only_after_it_was_looked_at(house: FlaskClient, services: Services) -> None:
    assert "No ratings yet" in house.get("/ratings").text
    hasty = posted(house, "apply")
    assert "Nothing is applied yet" in hasty.text
    assert services.ratings.batches() == []
    page = posted(house, "preview").text
    assert "submissions to evaluate again" in page
    other = posted(house, "apply", seen_in(page), data=ratings_csv({"oslo": "N"}))
    assert "Nothing is applied yet" in other.text
    as_synthetic = posted(house, "apply", seen_in(page), synthetic="on")
    assert "Nothing is applied yet" in as_synthetic.text
    done = posted(house, "apply", seen_in(page), note="by hand")
    assert (done.status_code, done.location) == (303, "/ratings/1")
    one = house.get("/ratings/1").text
    assert "by hand" in one
    assert "rater-3" in one
    assert "8 ratings of 3 triples by 3 raters" in one
    assert 'data-title="Ratings">8<' in one


def test_conflicts_and_refusals_are_shown(house: FlaskClient) -> None:
    posted(house, "apply", seen_in(posted(house, "preview").text))
    page = posted(house, "preview", data=ratings_csv({"oslo": "NY"})).text
    assert "rater-1: Y in batch 1, now N" in " ".join(page.split())
    bad = posted(house, "apply", data=table(HEADER, [(*TRIPLES["oslo"], "a", "N", "Y")]))
    assert "would be refused whole" in bad.text
    assert "it was not to be asked" in bad.text
    again = posted(house, "preview").text
    assert "is batch 1 already" in again
    nothing = house.post("/ratings", data=form(house, "/ratings", do="preview"))
    assert (nothing.status_code, "No file was chosen" in nothing.text) == (400, True)


def test_revoking_and_leaving_out(house: FlaskClient, services: Services) -> None:
    posted(house, "apply", seen_in(posted(house, "preview").text))
    sent = form(house, "/ratings/1", rater="rater-1", do="leave-out", reason="tired")
    assert house.post("/ratings/raters", data=sent).status_code == 303
    assert "left out" in house.get("/ratings/1").text
    assert "tired" in house.get("/ratings").text
    house.post("/ratings/raters", data=form(house, "/ratings", rater="rater-1", do="take-back"))
    assert services.raters.history("small")[0].restored_by == "house"
    assert house.post("/ratings/1/revoke", data=form(house, "/ratings/1")).status_code == 303
    assert "revoked" in house.get("/ratings/1").text
    assert house.get("/ratings/export.csv").text.splitlines()[0].startswith("question,answer,attribution,human_rating")
    assert house.get("/ratings/export.xls").status_code == 400
    assert house.get("/ratings/x").status_code == 404


def test_raters_rate_a_sheet_until_it_closes(web_app: APIFlask, house: FlaskClient, services: Services) -> None:
    opened = house.post("/ratings/sheets", data=form(house, "/ratings", do="open", method="all"))
    assert opened.location == "/ratings/1"
    ann, bob = rater(web_app, services, "ann"), rater(web_app, services, "bob")
    assert "of 3; 0 have all" in ann.get("/rate").text
    shown = ann.get("/rate/1").text
    assert "Title: " in shown
    assert "system" not in shown.split("<main")[1].split("How to rate")[0].lower()
    for number in (1, 2, 3):
        for client, vote in ((ann, {"interpretable": "Y", "supported": "Y"}), (bob, {"interpretable": "N"})):
            done = client.post(f"/rate/1/{number}", data={**form(client, f"/rate/1/{number}"), **vote})
            assert (done.status_code, done.location) == (303, "/rate/1")
    assert "This batch is closed" in ann.get("/rate/1").text
    late = ann.post("/rate/1/1", data={**form(ann, "/rate"), "interpretable": "N"})
    assert (late.status_code, late.location) == (303, "/rate/1")
    with services.database.reading() as session:
        assert session.get_one(RatingBatch, 1).applied_at is not None
        assert len(session.scalars(select(RatingRow)).all()) == 6
    assert "nothing to rate" in bob.get("/rate").text


def test_a_rater_mends_resumes_and_sees_nobody_elses_answers(
    web_app: APIFlask, house: FlaskClient, services: Services
) -> None:
    house.post("/ratings/sheets", data=form(house, "/ratings", do="open", method="all"))
    ann, bob = rater(web_app, services, "ann"), rater(web_app, services, "bob")
    bob.post("/rate/1/1", data={**form(bob, "/rate/1"), "interpretable": "N", "note": "mumbling"})
    first = ann.get("/rate/1").text
    assert "checked" not in first
    assert "mumbling" not in first
    half = ann.post("/rate/1/1", data={**form(ann, "/rate/1"), "interpretable": "Y", "note": "typed"})
    assert (half.status_code, "second question is not answered" in half.text) == (400, True)
    assert (half.text.count("checked"), "typed" in half.text) == (1, True)
    ann.post("/rate/1/1", data={**form(ann, "/rate/1"), "interpretable": "Y", "supported": "N"})
    assert "1 of 3 rated by you" in ann.get("/rate/1").text
    assert ann.get("/rate/1/2/previous").location == "/rate/1/1"
    assert ann.get("/rate/1/1/previous").location == "/rate/1/1"
    assert ann.get("/rate/1/1").text.count("checked") == 2
    ann.post("/rate/1/1", data={**form(ann, "/rate/1/1"), "interpretable": "N"})
    with services.database.reading() as session:
        assert sorted(session.scalars(select(RatingRow.positive))) == [False, False]
    resumed = rater(web_app, services, "ann")
    assert "1 of 3 rated by you" in resumed.get("/rate/1").text


def test_pages_are_for_their_roles(web_app: APIFlask, services: Services) -> None:
    team, ann = web_app.test_client(), rater(web_app, services, "ann")
    sign_in(team, token(services, "one"))
    assert [team.get(path).status_code for path in ("/ratings", "/ratings/1", "/rate")] == [403] * 3
    assert ann.get("/ratings").status_code == 403
    assert 'href="/rate"' in ann.get("/rate").text
    assert ann.get("/rate/7").status_code == 404
