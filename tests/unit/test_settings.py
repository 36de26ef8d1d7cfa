"""Settings: one table, typed, documented; nobody else reads the environment."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from core.errors import InvalidInput
from core.settings import PREFIX, Settings

ROOT = Path(__file__).resolve().parents[2]


def test_defaults_need_nothing() -> None:
    settings = Settings.from_environment({})
    assert settings == Settings()
    assert settings.resolved_database_url.startswith("sqlite:///")
    assert settings.resolved_public_url == "http://127.0.0.1:7860"


def test_values_are_parsed_by_kind() -> None:
    settings = Settings.from_environment(
        {"AQA_PORT": "80", "AQA_SECURE_COOKIES": "yes", "AQA_POLL_SECONDS": "0.1", "AQA_PUBLIC_URL": "https://x/"}
    )
    assert (settings.port, settings.secure_cookies, settings.poll_seconds) == (80, True, 0.1)
    assert settings.resolved_public_url == "https://x"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AQA_PORT", "many"),
        ("AQA_PORT", "0"),
        ("AQA_SECURE_COOKIES", "perhaps"),
        ("AQA_LEASE_SECONDS", "-5"),
        ("AQA_JOB_ATTEMPTS", "0"),
        ("AQA_BOOTSTRAP_RESAMPLES", "1"),
        ("AQA_TOKEN_DAYS", "-1"),
        ("AQA_POLL_SECONDS", "nan"),
        ("AQA_POLL_SECONDS", "inf"),
        ("AQA_POLL_SECONDS", "0"),
    ],
)
def test_a_wrong_value_names_its_variable(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        Settings.from_environment({name: value})


def test_every_setting_is_documented_with_its_default() -> None:
    page = (ROOT / "docs" / "settings.md").read_text()
    rows = dict(re.findall(r"^\| `(AQA_\w+)` \| `([^`]*)` \|", page, re.MULTILINE))
    assert rows == {PREFIX + f.name.upper(): str(f.default) or "(empty)" for f in fields(Settings)}
    for f in fields(Settings):
        assert f.metadata["help"] in page


def test_only_settings_read_the_environment() -> None:
    rooms = ("core", "submissions", "systems", "scorer", "leaderboard", "server")
    readers = {
        str(path.relative_to(ROOT))
        for room in rooms
        for path in (ROOT / room).rglob("*.py")
        if re.search(r"os\.environ(?!\.setdefault|\[[^]]+\] = )|os\.getenv", path.read_text())
    }
    assert readers == {"core/settings.py"}
