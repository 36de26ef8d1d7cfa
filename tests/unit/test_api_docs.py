"""docs/api.md knows every route, every error and every architecture."""

from __future__ import annotations

import re
from pathlib import Path

from core import errors
from core.architectures import ARCHITECTURES
from core.settings import Settings
from server import api, web
from server.bootstrap import build

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_route_is_documented(tmp_path: Path) -> None:
    app = web.create(build(Settings(judge="token-overlap", data_dir=str(tmp_path))))
    routes = {
        f"{method} {rule.rule}".replace("<", "{").replace(">", "}")
        for rule in app.url_map.iter_rules()
        for method in rule.methods - {"HEAD", "OPTIONS"}
        if rule.rule.startswith(api.PREFIX) and rule.endpoint != "openapi.spec"
    }
    assert set(re.findall(r"^\| `(\w+ [^`?\[]+)", PAGE, re.MULTILINE)) == routes


def test_every_error_is_documented() -> None:
    told = {code: int(status) for status, code in re.findall(r"^\| (\d{3}) \| `(\w+)`", PAGE, re.MULTILINE)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.AqaError)]
    inside = {"lease_lost", "needs_upgrade"} | {kind.code for kind in kinds if kind.status == 500} - {"error"}
    assert told.pop("method_not_allowed") == 405
    assert told.pop("too_many_requests") == 429
    assert {kind.code: kind.status for kind in kinds if kind.code not in inside} == told


def test_every_architecture_is_documented() -> None:
    assert all(f"`{key}`" in PAGE for key in ARCHITECTURES)
