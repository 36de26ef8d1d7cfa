"""The board's pages as a browser's tests go about them."""

from __future__ import annotations

from typing import Any

PROBE = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>{{7*7}}${window.ran=1}'
ROWS = "table.board tbody tr:not(.group)"


def column(page: Any, title: str) -> list[str]:
    """What a column shows, from above."""
    return page.locator(f"{ROWS} td[data-label='{title}'] .v").all_inner_texts()


def open_board(page: Any, query: str = "") -> None:
    """Go to the board and wait for its rows."""
    page.goto(f"/leaderboard/{query}")
    page.wait_for_selector(ROWS)


def until_url(page: Any, part: str) -> None:
    """Wait until the address says so."""
    page.wait_for_function("part => decodeURIComponent(location.search).includes(part)", arg=part)
