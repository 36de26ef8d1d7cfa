"""Rescores are listed a page at a time, at the API and on the page, in as many queries for many as for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from apiflask import APIFlask

from core.tables import Rescore, RescoreItem
from server import rescore_reading as reading
from server.bootstrap import Services
from server.worker import Worker
from submissions.rescoring import DROPPED, OPEN
from tests.query_count import counting
from tests.small_benchmark import add_benchmark, add_team, submit
from tests.web_client import API, bearer, sign_in, token

MANY = 53


@pytest.fixture
def filled(web_app: APIFlask, services: Services, tmp_path: Path) -> Services:
    """Many rescores of one entry that were dropped, and two open ones, each of its benchmark."""
    add_benchmark(services, tmp_path / "other", "other")
    at = submit(services, add_team(services), system="A", publish=True).id
    Worker(services).run_until_idle()
    with services.database.transaction() as session:
        for number in range(MANY):
            session.add(Rescore(benchmark_id="small", judge=f"j{number}", recipe="r", state=DROPPED))
            session.flush()
        session.add(Rescore(benchmark_id="small", judge="strict", recipe="r", state=OPEN))
        session.flush()
        session.add(Rescore(benchmark_id="other", judge="strict", recipe="r", state=OPEN))
        session.flush()
        for number in (MANY, MANY + 1):
            session.add(
                RescoreItem(rescore_id=number, submission_id=at, reason="No memory." if number > MANY else None)
            )
    return services


def test_the_api_gives_a_page_at_a_time(web_app: APIFlask, filled: Services) -> None:
    client, house = web_app.test_client(), bearer(filled, "house", "maintainer")

    def found(query: str = "") -> list[int]:
        return [each["id"] for each in client.get(f"{API}/rescores?{query}", headers=house).json["rescores"]]

    assert found() == list(range(MANY + 2, 0, -1))
    assert found("limit=2") == [MANY + 2, MANY + 1]
    assert found("limit=2&benchmark=small") == [MANY + 1, MANY]
    assert found(f"limit=2&before={MANY}") == [MANY - 1, MANY - 2]
    assert found("before=1") == []
    for wrong in ("limit=0", "limit=1001", "before=x", "before=-1"):
        assert client.get(f"{API}/rescores?{wrong}", headers=house).status_code == 400


def test_a_list_tells_of_each_what_it_tells_alone(filled: Services) -> None:
    with filled.database.reading() as session:
        rows = reading.listed(session)
        told = reading.documents(session, rows)
        assert told == [reading.document(session, row) for row in rows]
    [lacks] = told[1]["lacking"]
    assert (told[1]["id"], lacks["system"], lacks["why"], told[1]["failed"]) == (MANY + 1, "A", "No memory.", 1)
    assert (told[0]["entries"], told[0]["ready"], told[2]["entries"], told[2]["lacking"]) == (0, True, 1, [])


def test_many_take_as_many_queries_as_one(filled: Services) -> None:
    sent_for: list[int] = []
    for limit in (1, 50):
        with filled.database.reading() as session, counting(filled.database) as sent:
            assert len(reading.documents(session, reading.listed(session, limit=limit))) == limit
        sent_for.append(len(sent))
    assert sent_for[0] == sent_for[1] <= 3


def test_the_page_shows_fifty_and_leads_to_the_older(web_app: APIFlask, filled: Services) -> None:
    client = web_app.test_client()
    sign_in(client, token(filled, "house", "maintainer"))
    first = client.get("/rescores").text
    assert (first.count(">Rescore "), "Newest" in first) == (50, False)
    older = first.split('href="/rescores?before=')[1].split('"')[0]
    second = client.get(f"/rescores?before={older}").text
    assert (second.count(">Rescore "), "Newest" in second, "Older" in second) == (MANY + 2 - 50, True, False)
    assert "There are no older ones." in client.get("/rescores?before=1").text
    assert client.get("/rescores?before=x").status_code == 404
