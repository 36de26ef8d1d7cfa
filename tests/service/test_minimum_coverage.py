"""A sound file that covers too little for a rank is taken, and its report says so at every door."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from core.settings import Settings
from server.bootstrap import Services
from tests.command_line import runner
from tests.hub_server import Hub
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl, submit
from tests.small_editing import GOOD as REVISIONS
from tests.small_editing import add_editing, send
from tests.web_client import API, bearer, csrf, form, sign_in, token

TOLD = "It answers 3 of 5 questions (60 %). A rank takes 5 (95 %), so this is scored but not ranked."
EDITED = "It revises 3 of 4 passages (75 %). A rank takes 4 (95 %), so this is scored but not ranked."


def test_both_tracks_say_what_there_is_and_what_is_needed(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "small")
    add_editing(services, tmp_path / "edit")
    team = add_team(services)
    assert submit(services, team, GOOD[:3]).report["notes"] == [TOLD]
    assert send(services, team, REVISIONS).report["notes"] == [EDITED]
    assert submit(services, team, system="whole").report["notes"] == []


@pytest.mark.parametrize(("least", "needed"), [(0.4, None), (0.600001, "4 (60 %)"), (0.6, None), (0.999, "5 (99.9 %)")])
def test_a_minimum_that_is_reached_exactly_is_reached(
    services: Services, tmp_path: Path, least: float, needed: str | None
) -> None:
    add_benchmark(services, tmp_path / "small", minimum_coverage=least)
    notes = services.intake.validate("small", io.BytesIO(jsonl(GOOD[:3])), "p.jsonl").report.notes
    assert [needed in note for note in notes] == [True] * (needed is not None)


def test_a_refused_file_is_told_nothing_of_ranks(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "small")
    found = services.intake.validate("small", io.BytesIO(jsonl([GOOD[0], GOOD[0]])), "p.jsonl")
    assert (found.report.accepted, found.report.notes) == (False, ())


def test_the_api_and_the_page_say_it_before_anything_is_sent(client: FlaskClient, services: Services) -> None:
    seen = client.post(f"{API}/validate", headers=bearer(services), data=form(jsonl(GOOD[:3]))).json["report"]
    assert (seen["accepted"], seen["notes"]) == (True, [TOLD])
    sign_in(client, token(services, "page"))
    page = client.get("/submit").text
    shown = client.post("/submit", data=form(jsonl(GOOD[:3]), csrf=csrf(page), do="validate")).text
    assert TOLD in shown


def test_the_command_line_says_it(
    services: Services, settings: Settings, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    add_benchmark(services, tmp_path / "small")
    file = tmp_path / "part.jsonl"
    file.write_bytes(jsonl(GOOD[:3]))
    aqa = runner(settings, monkeypatch, capsys)
    scored = aqa("score", file, "--benchmark", "small", "--judge", "token-overlap", "--out", tmp_path / "out")
    assert TOLD in " ".join(scored.out.split())


def test_the_hub_says_it(hub: Hub) -> None:
    api = hub.api()
    hub.push(api, "one/sys", b"benchmark: small\narchitecture: retrieve-then-read\n", jsonl(GOOD[:3]))
    hub.work()
    assert TOLD in json.loads(hub.fetch(api, "one/sys", "report.json"))["notes"]
