"""Settings and services as a command needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.settings import Settings

if TYPE_CHECKING:
    from server.bootstrap import Services


def settings() -> Settings:
    """The settings that the environment names."""
    return Settings.from_environment()


def services(chosen: Settings | None = None) -> Services:
    """Wired services on a database of this version; a SQLite file is migrated, a server's is not. Raises `AqaError`."""
    from server.bootstrap import build

    built = build(chosen or settings())
    built.database.ensure_current()
    return built
