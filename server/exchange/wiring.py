"""The Hub and the inbox as the settings name them."""

from __future__ import annotations

from core.errors import InvalidInput
from server.bootstrap import Services
from submissions.sources.hub import Hub
from submissions.sources.inbox import Inbox


def hub(services: Services) -> Hub:
    """The Hub, with the service's token."""
    return Hub(services.settings.hub_endpoint, services.settings.hub_token)


def inbox(services: Services) -> Inbox:
    """The inbox. Raises `InvalidInput` where the settings name none."""
    settings = services.settings
    if not settings.inbox_repo:
        raise InvalidInput("There is no inbox.", "Set AQA_INBOX_REPO to a dataset repository, like owner/inbox.")
    return Inbox(
        services.intake, hub(services), settings.inbox_repo, settings.max_file_bytes, comments=bool(settings.hub_token)
    )
