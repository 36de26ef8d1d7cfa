"""docs/space: the front for a Hugging Face Space, at work against a live service."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import gradio as gr
import pytest
import yaml
from gradio_client import Client, handle_file

from server.bootstrap import Services
from server.worker import Worker
from tests.live_server import serving
from tests.small_benchmark import GOOD, add_benchmark, add_team, jsonl, submit
from tests.web_client import token
from tests.worker_process import wait_until

SPACE = Path(__file__).resolve().parents[2] / "docs" / "space"


@pytest.fixture(scope="module")
def space() -> ModuleType:
    spec = importlib.util.spec_from_file_location("space_app", SPACE / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def front(services: Services, space: ModuleType, tmp_path: Path) -> Iterator[tuple[Client, Any]]:
    """The Space on a free port, through the client that Gradio has for it, and its service."""
    add_benchmark(services, tmp_path / "files", title="Small")
    submit(services, add_team(services), publish=True)
    Worker(services).run_until_idle()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with serving(services) as url:
        service = space.Service(f"{url}/")
        page = space.build(service)
        page.launch(server_name="127.0.0.1", server_port=port, prevent_thread_lock=True, quiet=True)
        try:
            yield Client(f"http://127.0.0.1:{port}/", verbose=False), service
        finally:
            page.close()


def test_the_best_stands_first_and_what_has_no_rank_last(space: ModuleType) -> None:
    cell = {"value": None, "low": None, "high": None, "struck": None}
    ranks = {"none": None, "second": {"best": 2, "worst": 3}, "first": {"best": 1, "worst": 1}}
    board = {
        "columns": [{"key": "em", "title": "EM"}], "rank_by": "em", "synthetic_ratings": False,
        "rows": [
            {"rank": rank, "system": name, "team": "t", "architecture": "other", "metrics": {"em": cell}}
            for name, rank in ranks.items()
        ],
    }  # fmt: skip
    table, note = space._table(board)
    assert [row[:2] for row in table["data"]] == [["1", "first"], ["2–3", "second"], ["", "none"]]
    assert "Ranked by: EM." in note


def test_the_space_shows_the_board_and_takes_a_file(
    front: tuple[Client, Any], services: Services, tmp_path: Path
) -> None:
    client, service = front
    assert client.predict(api_name="/benchmarks")["choices"] == [["Small", "small"]]
    table, note = client.predict("small", api_name="/board")
    (row,) = table["data"]
    assert row[1:3] == ["system", "team"]
    assert dict(zip(table["headers"], row, strict=True))["EM"].startswith("60.0 [")
    assert "n/a" in row, "AIS has no ratings yet"
    assert note.startswith("Systems: 1. Ranked by: ")
    assert service.board("small") is service.board("small"), "an unchanged board is not sent again"

    path, sign = tmp_path / "a.jsonl", token(services, "guests")
    path.write_bytes(jsonl([{**GOOD[0], "answer": "Bergen"}, *GOOD[1:]]))
    number, told = client.predict(sign, "small", "Guest", handle_file(path), api_name="/submit")
    assert told.startswith("**Guest**, version 1: ")
    scored = "**Guest**, version 1: scored"
    wait_until(lambda: client.predict(sign, number, api_name="/status").startswith(scored), 60, "scoring")


def test_the_space_says_what_the_service_says(front: tuple[Client, Any], services: Services, tmp_path: Path) -> None:
    _, service = front
    path = tmp_path / "a.jsonl"
    path.write_bytes(jsonl([*GOOD, GOOD[0]]))
    with pytest.raises(gr.Error, match="Row 6"):
        service.submit(token(services, "guests"), "small", "Guest", str(path))
    with pytest.raises(gr.Error, match="not known here"):
        service.submit("aqa_wrong", "small", "Guest", str(path))
    with pytest.raises(gr.Error, match="There is no benchmark"):
        service.board("none")


def test_the_card_is_one_of_a_space() -> None:
    card = yaml.safe_load((SPACE / "README.md").read_text().split("---")[1])
    assert (card["sdk"], card["app_file"]) == ("gradio", "app.py")
    lock = (SPACE.parents[1] / "requirements.lock").read_text()
    assert f"gradio=={card['sdk_version']}" in lock, "the version that was tried"
