"""Sheets of revisions that are kept: what is on them, as a file, and until when raters can work on them."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from apiflask import APIFlask
from sqlalchemy import select, update

from core.errors import Conflict, InvalidInput, NotFound
from core.sentences import places, split, splitter
from core.tables import SheetRevision, Submission
from core.tables.base import utc_now
from server import web
from server.bootstrap import Services
from server.worker import Worker
from submissions.ratings import RevisionTask
from tests.command_line import runner
from tests.rated_editing import apply, filled, sheet
from tests.small_benchmark import add_team
from tests.small_editing import add_editing, send
from tests.web_client import API, bearer


@pytest.fixture
def web_app(services: Services, tmp_path: Path) -> APIFlask:
    """Pages over a benchmark with one scored entry on the board."""
    add_editing(services, tmp_path / "editing", raters_per_item=2)
    send(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    return web.create(services)


def test_a_sheet_asks_only_for_what_is_missing_and_so_many(web_app: APIFlask, services: Services) -> None:
    listed = [row for row in sheet(services) if (row["id"], row["sentence"]) != ("p0", "2")]
    apply(services, filled(listed, "Ann", {}))
    made = services.sheets.make("edit", author="mo", method="all")
    with services.database.reading() as session:
        [row] = session.scalars(select(SheetRevision).where(SheetRevision.sheet_id == made.id))
    assert [(each["sentence"], row.text[each["start"] : each["end"]]) for each in row.asked] == [
        (2, "It lies by a fjord.")
    ]
    for method, size, error in (
        ("stratified", 1, InvalidInput),
        ("random", None, InvalidInput),
        ("all", 0, InvalidInput),
    ):
        with pytest.raises(error):
            services.sheets.make("edit", author="mo", method=method, size=size)
    services.assignments.open(made.id, "mo")
    with pytest.raises(Conflict):
        services.assignments.open(made.id, "mo")
    apply(services, filled(sheet(services), "Ann", {}))
    with pytest.raises(NotFound):
        services.sheets.make("edit", author="mo", method="all")


def test_a_sheet_survives_its_entry_and_not_another_splitter(web_app: APIFlask, services: Services) -> None:
    made = services.sheets.make("edit", author="mo", method="random", size=1, seed=3)
    again = services.sheets.make("edit", author="mo", method="random", size=1, seed=3)
    with services.database.transaction() as session:
        texts = session.scalars(select(SheetRevision.text)).all()
        assert texts[0] == texts[1]
        session.execute(update(Submission).values(withdrawn_at=utc_now()))
    batch = services.assignments.open(made.id, "mo").id
    assert isinstance(services.assignments.next(batch, "Ann"), RevisionTask)
    with services.database.transaction() as session:
        row = session.scalars(select(SheetRevision).where(SheetRevision.sheet_id == again.id)).one()
        row.asked = [{**each, "end": each["end"] - 1} for each in row.asked]
    with pytest.raises(Conflict, match="parted into sentences otherwise"):
        services.assignments.open(again.id, "mo")


def test_sheets_over_the_api_and_on_the_command_line(
    web_app: APIFlask, services: Services, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    client, boss = web_app.test_client(), bearer(services, "boss", "maintainer")
    drawn = client.post(f"{API}/ratings/sheets", headers=boss, json={"benchmark": "edit", "before": True})
    assert (drawn.status_code, drawn.json["population"]) == (201, 4)
    file = client.get(f"{API}/ratings/sheets/{drawn.json['id']}/download?kind=csv", headers=boss)
    rows = list(csv.DictReader(io.StringIO(file.data.decode())))
    assert (len(rows), {row["splitter"] for row in rows}) == (8, {splitter()})
    seen = services.ratings.preview("edit", io.BytesIO(file.data), "l.csv")
    assert seen.report.counts["not_filled_in"] == 8
    batch = client.post(f"{API}/ratings/sheets/{drawn.json['id']}/open", headers=boss)
    assert (batch.status_code, batch.json["state"]) == (201, "open")
    aqa = runner(services.settings, monkeypatch, capsys)
    kept = aqa("ratings", "sheet", "--benchmark", "edit")
    assert (kept.code, "drawn from 2 texts to rate" in " ".join(kept.out.split())) == (0, True), kept.err
    assert aqa("ratings", "open", "2").code == 0
    assert len(services.assignments.open_batches()) == 2


@pytest.mark.parametrize(
    "text", ["One.  Two\n three. Four!", " Dr. Who came. He\tleft. ", "", "“Ä.” Ö; ü?\u00a0Yes.", "a\x1cb. C."]
)
def test_places_are_where_sentences_stand(text: str) -> None:
    found = [text[start:end] for start, end in places(text)]
    assert ["".join(each.split()) for each in found] == ["".join(each.split()) for each in split(text)]
    assert all(each == each.strip() for each in found)
