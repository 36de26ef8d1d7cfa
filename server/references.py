"""References to files on the Hub that teams submit over the API and the pages: only what is open to all."""

from __future__ import annotations

import time

from core.errors import Forbidden, NotFound
from core.settings import Settings
from submissions.sources.fetch import Fetched, fetch
from submissions.sources.hub import Hub

_HINT = "The service reads what is open to all. Make it public, or submit the file itself."


def fetched(settings: Settings, reference: str) -> Fetched:
    """The file behind a reference, pinned to a commit, from the Hub that the settings name and from nowhere else.

    No token of ours goes along: with it a team could have files read that only we may see, such as another team's in
    the inbox. Raises as `submissions.sources.fetch.fetch`.
    """
    hub = Hub(settings.hub_endpoint, pause=briefly)
    try:
        return fetch(hub, reference.strip(), settings.max_file_bytes)
    except NotFound as error:
        raise NotFound(error.message, f"{error.hint} {_HINT}") from error
    except Forbidden as error:
        raise Forbidden(error.message, _HINT) from error


def briefly(seconds: float) -> None:
    """Somebody waits for the answer, so a Hub that asks for much patience is told of instead."""
    time.sleep(min(seconds, 1.0))
