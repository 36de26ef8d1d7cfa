"""The guides name every metric and lead nowhere that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scorer import metrics

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_metric_is_documented_in_its_own_words() -> None:
    page = (ROOT / "docs" / "metrics.md").read_text()
    for metric in map(metrics.load, metrics.all_keys()):
        assert f"| `{metric.key}` | {metric.title} | {metric.help} |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text())
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_the_readme_opens_with_the_two_commands() -> None:
    head = (ROOT / "README.md").read_text()[:1200]
    assert "make demo" in head
    assert "make test" in head
