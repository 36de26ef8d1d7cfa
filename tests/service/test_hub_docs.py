"""The example in docs/hub.md runs as it stands, and the page names every key and setting."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from core.settings import PREFIX, Settings
from submissions.repos.card import _KINDS
from tests.hub_server import Hub
from tests.small_benchmark import GOOD, jsonl
from tests.web_client import token

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "hub.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_runs(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions.jsonl").write_bytes(jsonl(GOOD))
    submit, fetch = CODE
    names: dict[str, object] = {}
    here = submit.replace("http://HOST/hub", hub.endpoint).replace("TEAM_TOKEN", token(hub.services, "one"))
    exec(here.replace("benchmark: demo", "benchmark: small"), names)
    hub.work()
    exec(fetch, names)
    assert json.loads(Path(str(names["report"])).read_text())["state"] == "scored"
    assert json.loads(Path(str(names["scores"])).read_text())["benchmark"] == "small"


def test_keys_and_settings_are_documented() -> None:
    for key in _KINDS:
        assert f"`{key}`" in PAGE, key
    known = {PREFIX + f.name.upper() for f in fields(Settings)}
    named = set(re.findall(r"AQA_[A-Z_]+[A-Z]", PAGE))
    assert named <= known
    assert {name for name in known if "_HUB_" in name or "INBOX" in name or "PUBLISH" in name} <= named
