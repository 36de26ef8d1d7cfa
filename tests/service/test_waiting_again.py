"""A submission whose attempt failed tells when the next one is, and why it waits."""

from __future__ import annotations

from flask.testing import FlaskClient

from core.errors import Unavailable
from server.bootstrap import Services
from server.worker import Worker
from tests.web_client import API, bearer, sign_in, submit, token


class Broken:
    """A scorer whose judge does not answer."""

    def __getattr__(self, name: str):
        raise Unavailable("The judge does not answer.", "It is tried again.")


def test_an_attempt_that_failed_shows_when_the_next_one_is(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    at = submit(client, headers)
    services.scorer = Broken()
    assert Worker(services).run_one()
    entry = client.get(f"{API}/submissions/{at}", headers=headers).json
    assert entry["state"] == "queued"
    assert entry["stage"].startswith("waiting for another try, at ")
    assert entry["queue_position"] is None
    assert "The judge does not answer." in entry["reason"]
    assert entry["retry_at"].endswith(("Z", "+00:00"))
    sign_in(client, token(services, "one"))
    page = client.get(f"/submissions/{at}").text
    assert "Waiting for another try, at " in page
    assert "The judge does not answer." in page


def test_nothing_is_said_of_tries_before_the_first(client: FlaskClient, services: Services) -> None:
    headers = bearer(services)
    entry = client.get(f"{API}/submissions/{submit(client, headers)}", headers=headers).json
    assert (entry["retry_at"], entry["queue_position"], entry["reason"]) == (None, 0, None)
