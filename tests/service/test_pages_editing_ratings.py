"""Raters at work on revisions: the page, what it stores, and the scores that come of it."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from apiflask import APIFlask
from flask.testing import FlaskClient
from sqlalchemy import select

from core.errors import Conflict, InvalidInput
from core.sentences import splitter
from core.tables import EditRatingRow, RatingBatch, SheetRevision, Submission
from server import web
from server.bootstrap import Services
from server.worker import Worker
from tests.rated_editing import apply, filled, scores, sheet
from tests.small_benchmark import add_team
from tests.small_editing import GOOD, ITEMS, add_editing, send
from tests.web_client import API, csrf, sign_in, token

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'


@pytest.fixture
def web_app(services: Services, tmp_path: Path) -> APIFlask:
    add_editing(services, tmp_path / "editing", raters_per_item=2)
    return web.create(services)


@pytest.fixture
def sent(web_app: APIFlask, services: Services) -> Submission:
    """A scored entry on the board."""
    submission = send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return submission


def signed_in(web_app: APIFlask, services: Services, name: str, role: str = "rater") -> FlaskClient:
    client = web_app.test_client()
    sign_in(client, token(services, name, role))
    return client


def opened(web_app: APIFlask, services: Services, **more: str) -> int:
    """The id of a batch that a maintainer gives to the raters on the page."""
    house = signed_in(web_app, services, "house", "maintainer")
    form = {"csrf": csrf(house.get("/ratings?benchmark=edit").text), "benchmark": "edit", "do": "open", **more}
    answer = house.post("/ratings/sheets", data=form)
    assert answer.status_code == 303, answer.text
    return int(answer.location.rsplit("/", 1)[1])


def asked(page: str) -> tuple[str, str]:
    """What a page asks about: the marked sentence, or the intent; and its address."""
    address = re.search(r'id="rate" action="([^"]+)"', page)[1]
    marked = re.search(r"<mark><span[^>]*>[^<]*</span>(.*?)<span", page, re.DOTALL)
    return (html.unescape(marked[1]) if marked else "intent", address)


def work_through(client: FlaskClient, batch: int, said: dict[str, str]) -> list[str]:
    """Answer all that is asked, Y where nothing else is said; returns what was asked, in order."""
    found = []
    while 'id="rate"' in (page := client.get(f"/rate/{batch}").text):
        what, address = asked(page)
        found.append(what)
        answer = client.post(address, data={"csrf": csrf(page), "said": said.get(what, "Y")})
        assert (answer.status_code, answer.location) == (303, f"/rate/{batch}"), answer.text
    return found


def test_what_raters_say_on_the_page_moves_the_board_like_a_file(
    web_app: APIFlask, services: Services, sent: Submission
) -> None:
    assert scores(services, sent)["attr_ais"].value is None or scores(services, sent)["attr_ais"].details["votes"] == 0
    batch = opened(web_app, services)
    ann, bob = (signed_in(web_app, services, name) for name in ("Ann", "Bob"))
    no = {"It lies by a fjord.": "N"}
    order = work_through(ann, batch, no)
    assert sorted(order) == sorted(["Oslo is the capital of Norway.", "It lies by a fjord.", "intent",
                                    "The Nile flows north.", "intent"])  # fmt: skip
    assert "You have rated everything that needed you" in ann.get(f"/rate/{batch}").text
    board = web_app.test_client().get(f"{API}/leaderboard?benchmark=edit").json
    assert board["rows"][0]["metrics"]["attr_ais"]["value"] in (None, 0)
    assert work_through(bob, batch, no) == order
    assert "This batch is closed" in bob.get(f"/rate/{batch}").text
    found = scores(services, sent)
    Worker(services).run_until_idle()
    board = web_app.test_client().get(f"{API}/leaderboard?benchmark=edit").json
    row = board["rows"][0]["metrics"]
    assert row["attr_ais"]["value"] == found["attr_ais"].value == pytest.approx((0.5 + 1 + 0) / 3)
    assert row["pres_intent"]["value"] == 1.0
    by_page = {key: (each.value, each.details, each.signature) for key, each in found.items()}
    with services.database.reading() as session:
        kept = session.get_one(RatingBatch, batch)
        rows = session.scalars(select(EditRatingRow).where(EditRatingRow.batch_id == batch)).all()
    assert (kept.splitter, kept.applied_at is not None) == (splitter(), True)
    stored = {(row.revision, row.position, row.sentence, row.rater, row.positive) for row in rows}
    # The same by files gives the very same rows and scores, signatures and all.
    services.ratings.revoke(batch, "mo")
    listed = sheet(services)
    filed = [apply(services, filled(listed, name, {("p0", "2"): "N"})) for name in ("Ann", "Bob")]
    with services.database.reading() as session:
        rows = session.scalars(select(EditRatingRow).where(EditRatingRow.batch_id.in_(filed))).all()
        assert {session.get_one(RatingBatch, each).splitter for each in filed} == {splitter()}
    assert {(row.revision, row.position, row.sentence, row.rater, row.positive) for row in rows} == stored
    assert {key: (s.value, s.details, s.signature) for key, s in scores(services, sent).items()} == by_page


def test_intents_of_no_move_the_board_and_a_maintainer_closes_early(
    web_app: APIFlask, services: Services, sent: Submission
) -> None:
    batch = opened(web_app, services)
    work_through(signed_in(web_app, services, "Ann"), batch, {"intent": "N"})
    house = signed_in(web_app, services, "house", "maintainer")
    page = house.get(f"/ratings/{batch}").text
    assert "5 ratings of 5 sentences and intents by 1 rater" in page
    house.post(f"/ratings/{batch}/close", data={"csrf": csrf(page)})
    assert scores(services, sent)["pres_intent"].value == pytest.approx(1 / 3)
    assert "Krippendorff" in house.get(f"/ratings/{batch}").text


def test_what_a_rater_sees(web_app: APIFlask, services: Services, sent: Submission) -> None:
    batch = opened(web_app, services)
    ann, pages = signed_in(web_app, services, "Ann"), {}
    assert "How to rate edited texts" in ann.get("/rate").text
    assert "You have rated 0 of 5 sentences and intents" in ann.get("/rate").text
    for number in range(1, 6):
        page = ann.get(f"/rate/{batch}/{number}").text.split("<main")[1]
        pages[asked(page)[0] + ("" if "Nile" in page else " of Oslo")] = page
    of_sentence = pages["The Nile flows north."]
    assert "Tell me of the Nile." in of_sentence
    assert "The Nile flows north for 6,650 km." in of_sentence
    assert "http://x/Fjord" in pages["It lies by a fjord. of Oslo"]
    assert "Whose capital is Oslo?" not in pages["It lies by a fjord. of Oslo"], "queries are the system's own"
    of_intent = pages["intent of Oslo"]
    assert ">Sweden<" in of_intent.split("<del>")[1]
    assert ">Norway<" in of_intent.split("<ins>")[1]
    assert "Evidence" not in of_intent.split('id="rate"')[0]
    for page in pages.values():
        assert "editor" not in page.split("How to rate")[0]
        assert "checked" not in page


def test_a_rater_mends_resumes_and_sees_nobody_elses_answers(
    web_app: APIFlask, services: Services, sent: Submission
) -> None:
    batch = opened(web_app, services)
    ann, bob = (signed_in(web_app, services, name) for name in ("Ann", "Bob"))
    at = f"/rate/{batch}/1"
    bob.post(at, data={"csrf": csrf(bob.get(at).text), "said": "N", "note": "mumbling"})
    first = ann.get(f"/rate/{batch}").text
    assert ("checked" in first, "mumbling" in first) == (False, False)
    field = csrf(first)
    for blank in ({}, {"said": "maybe"}):
        half = ann.post(at, data={"csrf": field, "note": "typed", **blank})
        assert (half.status_code, "The question is not answered" in half.text, "typed" in half.text) == (
            400,
            True,
            True,
        )
    ann.post(at, data={"csrf": field, "said": "Y"})
    assert "1 of 5 rated by you" in ann.get(f"/rate/{batch}").text
    assert ann.get(f"/rate/{batch}/2/previous").location == at
    assert ann.get(f"/rate/{batch}/1/previous").location == at
    assert ann.get(at).text.count("checked") == 1
    ann.post(at, data={"csrf": field, "said": "N", "note": "after all"})
    assert "after all" in ann.get(at).text
    with services.database.reading() as session:
        assert [row.positive for row in session.scalars(select(EditRatingRow))] == [False, False]
    assert "1 of 5 rated by you" in signed_in(web_app, services, "Ann").get(f"/rate/{batch}").text
    eve = signed_in(web_app, services, "Eve")
    assert eve.get(f"/rate/{batch}").text.count(f'action="/rate/{batch}/2"') == 1, "the first has its two raters"
    late = eve.post(at, data={"csrf": csrf(eve.get("/rate").text), "said": "Y"})
    assert (late.status_code, late.location) == (303, f"/rate/{batch}")
    with pytest.raises(Conflict):
        services.assignments.record_word(batch, 1, "Eve", True)


@pytest.mark.parametrize("ended", ["revoke", "close"])
def test_a_batch_ended_at_work_asks_nothing_more(
    web_app: APIFlask, services: Services, sent: Submission, ended: str
) -> None:
    """One that is revoked was never applied; it asked the same question again and again and stored no answer."""
    batch = opened(web_app, services)
    ann, house = signed_in(web_app, services, "Ann"), signed_in(web_app, services, "mo", "maintainer")
    open_form = ann.get(f"/rate/{batch}").text
    house.post(f"/ratings/{batch}/{ended}", data={"csrf": csrf(house.get(f"/ratings/{batch}").text)})
    late = ann.post(asked(open_form)[1], data={"csrf": csrf(open_form), "said": "Y"})
    assert (late.status_code, late.location) == (303, f"/rate/{batch}")
    page = ann.get(f"/rate/{batch}").text
    assert ("This batch is closed" in page, 'id="rate"' in page) == (True, False)
    assert "No more answers are needed" in page
    assert "has all the raters" not in page
    assert services.assignments.progress(batch, "Ann").mine == 0


def test_a_rater_left_out_leaves_room_for_another(web_app: APIFlask, services: Services, sent: Submission) -> None:
    batch = opened(web_app, services)
    for name in ("Ann", "Bob"):
        services.assignments.record_word(batch, 1, name, True)
    assert services.assignments.progress(batch, "Eve").complete == 1
    services.raters.leave_out("edit", "Bob", "mo")
    assert services.assignments.progress(batch, "Eve").complete == 0
    task = services.assignments.next(batch, "Eve")
    assert task is not None
    assert task.row == 1


def test_pages_are_for_their_roles_and_answers_need_their_form(
    web_app: APIFlask, services: Services, sent: Submission
) -> None:
    batch = opened(web_app, services)
    ann, at = signed_in(web_app, services, "Ann"), f"/rate/{batch}/1"
    assert ann.post(at, data={"said": "Y"}).status_code == 403
    assert ann.post(at, data={"said": "Y", "csrf": "x"}).status_code == 403
    assert web_app.test_client().get(at).status_code == 303
    for role in ("team", "maintainer"):
        other = signed_in(web_app, services, role, role)
        assert [other.get(path).status_code for path in ("/rate", f"/rate/{batch}", at)] == [403] * 3
        assert other.post(at, data={"said": "Y", "csrf": csrf(other.get("/submit").text)}).status_code == 403
    assert ann.get("/ratings?benchmark=edit").status_code == 403
    for path in (f"/rate/{batch}/6", f"/rate/{batch}/0", "/rate/9/1"):
        assert ann.get(path).status_code == 404, path
    with services.database.reading() as session:
        assert session.scalars(select(EditRatingRow)).all() == []
    with pytest.raises(InvalidInput):
        services.assignments.record(batch, 1, "Ann", True, True)


def test_hostile_texts_stay_text(web_app: APIFlask, services: Services) -> None:
    rows = [{"id": "p1", "revised": f"The Nile {HOSTILE} flows.", "report": [
        {"text": HOSTILE, "source": "javascript:alert(1)", "query": HOSTILE}]}]  # fmt: skip
    send(services, add_team(services), rows, HOSTILE, publish=True)
    Worker(services).run_until_idle()
    batch = opened(web_app, services)
    ann = signed_in(web_app, services, "Ann")
    total = services.assignments.progress(batch, "Ann").total
    assert total > 1
    for number in range(1, total + 1):
        at = f"/rate/{batch}/{number}"
        ann.post(at, data={"csrf": csrf(ann.get(at).text), "said": "N", "note": HOSTILE})
        page = ann.get(at).text
        assert "&lt;script&gt;" in page
        for tag in ("<script>", "<img", 'href="javascript'):
            assert tag not in page


def test_originals_beside_the_same_reports(web_app: APIFlask, services: Services, sent: Submission) -> None:
    batch = opened(web_app, services, before="on")
    with services.database.reading() as session:
        texts = {row.text: [each["sentence"] for each in row.asked] for row in session.scalars(select(SheetRevision))}
    assert texts[ITEMS[0]["text"]] == [1, 2]  # no intent is asked of an original
    assert texts[GOOD[0]["revised"]] == [1, 2, 0]
    for name in ("Ann", "Bob"):
        work_through(signed_in(web_app, services, name), batch, {"Oslo is the capital of Sweden.": "N"})
    found = scores(services, sent)
    assert found["attr_ais_before"].value == pytest.approx((0.5 + 1 + 0) / 3)
    assert found["attr_ais"].value == pytest.approx((1 + 1 + 0) / 3)
