"""docs/accounts.md knows every action of the log; docs/security.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from core import audit
from server import webhooks
from server.audit_log import ACTIONS

ROOT = Path(__file__).parents[2]
ACCOUNTS = (ROOT / "docs" / "accounts.md").read_text(encoding="utf-8")
SECURITY = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_action_of_the_log_is_documented() -> None:
    known = {action for action, _ in audit._MADE.values()} | set(audit._GONE.values())
    for columns in audit._CHANGED.values():
        known |= {meaning(value) for name, meaning in columns.items() if name != "state" for value in (1, None)} - {
            None
        }
    recorded = {
        action
        for room in ("core", "submissions", "scorer", "server")
        for path in (ROOT / room).rglob("*.py")
        for action in re.findall(r'record\(session, "([a-z.-]+)"', path.read_text(encoding="utf-8"))
    }
    told = set(re.findall(r"`([a-z-]+\.[a-z-]+)`", ACCOUNTS.split("## The audit log")[1]))
    assert told == known | recorded | {"submission.scored", "submission.queued"}
    assert told == set(ACTIONS)


def test_the_retries_of_webhooks_are_documented() -> None:
    told = re.search(r"again after ([^,]+(?:, [^,]+)+ and [^,]+), and then", ACCOUNTS.replace("\n", " "))
    assert told
    units = {"s": 1, "min": 60, "h": 3_600}
    seconds = [int(n) * units[unit] for n, unit in re.findall(r"(\d+) (s|min|h)", told[1])]
    assert tuple(seconds) == webhooks.RETRY_SECONDS


def test_the_tests_that_are_named_exist() -> None:
    named = re.findall(r"`((?:tests/\w+/)?test_\w+\.py)`", SECURITY)
    assert len(named) > 20
    for name in named:
        assert (ROOT / (name if "/" in name else f"tests/service/{name}")).is_file(), name
