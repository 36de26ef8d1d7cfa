"""What tests of the API and the pages share: tokens, forms, and reading a page."""

from __future__ import annotations

import io
import re
from html import unescape

from flask.testing import FlaskClient

from core.errors import NotFound
from server import auth
from server.bootstrap import Services
from tests.small_benchmark import GOOD, jsonl

API = "/api/v1"


def token(services: Services, team: str, role: str = "team", days: int = 1) -> str:
    """A fresh token for a team, which is made if there is none."""
    with services.database.transaction() as session:
        try:
            found = auth.find_team(session, team)
        except NotFound:
            found = auth.add_team(session, team)
        return auth.new_token(session, found, role, days)


def bearer(services: Services, team: str = "one", role: str = "team") -> dict[str, str]:
    """The header that carries a fresh token."""
    return {"Authorization": f"Bearer {token(services, team, role)}"}


def form(data: bytes | None = None, name: str = "answers.jsonl", **fields: object) -> dict[str, object]:
    """The fields of a submission to the small benchmark."""
    file = (io.BytesIO(jsonl(GOOD) if data is None else data), name)
    return {"file": file, "benchmark": "small", "system": "S", **fields}


def submit(client: FlaskClient, headers: dict[str, str], **fields: object) -> str:
    """Submit the good file; returns the submission's id."""
    sent = client.post(f"{API}/submissions", headers=headers, data=form(**fields))
    assert sent.status_code == 201, sent.text
    return str(sent.json["id"])


def csrf(page: str) -> str:
    """The token of the first form on a page."""
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found, page
    return unescape(found[1])


def sign_in(client: FlaskClient, secret: str) -> None:
    """Start a session with a token."""
    field = csrf(client.get("/sign-in").text)
    answer = client.post("/sign-in", data={"token": secret, "csrf": field})
    assert answer.status_code == 303, answer.text
