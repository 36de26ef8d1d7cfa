"""Which Hub models are downloaded from, and with which token: set for a command or a job, read where one fetches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from core.settings import Settings


@dataclass(frozen=True, slots=True)
class HubAccess:
    """As `huggingface_hub` takes both: None leaves them to `HF_ENDPOINT` and to the machine's own token."""

    endpoint: str | None = None
    token: str | bool | None = None

    @classmethod
    def from_settings(cls, settings: Settings) -> HubAccess:
        """The Hub that the settings name. The machine's own token never goes to an endpoint that only they name."""
        endpoint = settings.hub_endpoint.rstrip("/") or None
        return cls(endpoint, settings.hub_token or (False if endpoint else None))

    def open_to_all(self) -> HubAccess:
        """The same Hub without any token: for what a team names, so that it reaches nothing that only we may read."""
        return HubAccess(self.endpoint, False)


MACHINE = HubAccess()
"""What holds where nothing was set: the machine's own."""
_access: ContextVar[HubAccess] = ContextVar("hub_access", default=MACHINE)


def hub_access() -> HubAccess:
    """What holds for the running command or job."""
    return _access.get()


def reach_hub(access: HubAccess) -> None:
    """Have it hold from now on: for commands."""
    _access.set(access)


@contextmanager
def reaching_hub(access: HubAccess) -> Iterator[None]:
    """Have it hold inside the block: for jobs."""
    token = _access.set(access)
    try:
        yield
    finally:
        _access.reset(token)
