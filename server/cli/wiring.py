"""Settings and services as a command needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.settings import Settings

if TYPE_CHECKING:
    from server.bootstrap import Services


def settings() -> Settings:
    """The settings that the environment names; from here on models come from the Hub that they name."""
    from core.hub_access import HubAccess, reach_hub

    found = Settings.from_environment()
    reach_hub(HubAccess.from_settings(found))
    return found


def services(chosen: Settings | None = None) -> Services:
    """Wired services on a database of this version; a SQLite file is migrated, a server's is not. Raises `AqaError`.

    What the command changes is written down as this machine's user's doing.
    """
    import os
    import pwd

    from core.audit import Actor, act_as
    from server.bootstrap import build

    built = build(chosen or settings())
    built.database.ensure_current()
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = str(os.getuid())
    act_as(Actor(f"command line:{user}"))
    return built
