"""No secret is ever written to a log, whatever goes wrong around it."""

from __future__ import annotations

import dataclasses
import io
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import request

from server import logs, web, webhooks
from server.bootstrap import Services, build
from server.worker import Worker
from tests.small_benchmark import add_benchmark
from tests.web_client import API, csrf, form, token


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """Everything that any logger writes, formatted as the service formats it."""
    stream, root = io.StringIO(), logging.getLogger()
    handler = logging.StreamHandler(stream)
    monkeypatch.setattr(root, "handlers", [handler])
    before = root.level
    logs.set_up(logging.DEBUG)
    root.setLevel(logging.DEBUG)
    yield stream
    root.setLevel(before)


def test_nothing_secret_is_written(services: Services, tmp_path: Path, written: io.StringIO) -> None:
    wired = build(
        dataclasses.replace(services.settings, open_registration=True, webhook_private=True, secret_key="k" * 40)
    )
    add_benchmark(wired, tmp_path / "files")
    app = web.create(wired)
    app.add_url_rule(f"{API}/failing", "failing", _fails)
    client = app.test_client()
    secrets = [client.post(f"{API}/register", json={"team": "A"}).json["token"], token(wired, "one"), "k" * 40]
    mine = {"Authorization": f"Bearer {secrets[1]}"}
    secrets.append(client.post(f"{API}/tokens", headers=mine, json={}).json["token"])
    secrets.append(client.post(f"{API}/webhooks", headers=mine, json={"url": "http://127.0.0.1:1/"}).json["secret"])
    field = csrf(client.get("/sign-in").text)
    secrets.append(field)
    client.post("/sign-in", data={"token": secrets[0], "csrf": field, "back": f"/submit?token={secrets[0]}"})
    secrets += [cookie.value for cookie in client._cookies.values()]
    client.get(f"{API}/failing?token={secrets[1]}", headers=mine)
    client.get(f"{API}/me/{secrets[1]}", headers=mine)
    client.get(f"/submissions/{secrets[1]}")
    client.get(f"{API}/me", headers={"Authorization": f"Bearer x{secrets[1]}"})
    client.post(f"{API}/submissions", headers=mine, data=form(publish="true"))
    Worker(wired).run_until_idle()
    with wired.database.transaction() as session:
        wired.queue.add(session, webhooks.KIND, "no number")
    Worker(wired).run_until_idle()
    text = written.getvalue()
    assert "failed" in text
    assert "a fault beside" in text
    assert "[secret]" in text, "the test did meet one on its way"
    assert [secret for secret in secrets if secret in text] == []


def _fails() -> None:
    raise ValueError(f"a fault beside {request.headers['Authorization']} at {request.url}")


@pytest.mark.parametrize(
    ("text", "struck"),
    [
        ("Bearer abcdefgh", "Bearer [secret]"),
        ("authorization: bearer xyz.w", "authorization: bearer [secret]"),
        ("token aqa_abcdefgh-_1 and hf_ABCDEFGHIJ", "token aqa_[secret] and hf_[secret]"),
        ("PUT /hub/lfs/WzEsIjAi.ZZ-_ failed", "PUT /hub/lfs/[secret] failed"),
        ("postgresql+psycopg://aqa:pass@host/db", "postgresql+psycopg://[secret]@host/db"),
        ("nothing here: aqa_x, https://host:80/path", "nothing here: aqa_x, https://host:80/path"),
    ],
)
def test_what_is_struck_out(text: str, struck: str) -> None:
    assert logs.redact(text) == struck


def test_a_bad_database_address_is_not_repeated() -> None:
    from core.database import Database
    from core.errors import InvalidInput

    with pytest.raises(InvalidInput) as raised:
        Database("postgresql//user:password@host")
    assert "password" not in str(raised.value)
