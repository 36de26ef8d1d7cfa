"""One interaction at a time in Chromium, timed by the page's own clock: from the event to the frame that shows it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

WARM, RUNS = 3, 10

# From just before the event to the second frame after the shown part has changed: by then it has been painted.
_TIMED = """
([act, argument, shown]) => new Promise((resolve, reject) => {
  const part = () => document.querySelector(shown + ' [data-query]');
  const before = part()?.dataset.query;
  const late = setTimeout(() => reject(new Error('nothing changed')), 60000);
  const look = () => {
    if (part()?.dataset.query === before) return requestAnimationFrame(look);
    requestAnimationFrame(() => requestAnimationFrame(() => {
      clearTimeout(late);
      performance.measure('interaction', {start, end: performance.now()});
      resolve(performance.getEntriesByName('interaction').at(-1).duration / 1000);
    }));
  };
  const acts = {
    click: selector => document.querySelector(selector).click(),
    type: ([selector, text]) => {
      const box = document.querySelector(selector);
      box.value = text;
      box.dispatchEvent(new Event('input', {bubbles: true}));
    },
  };
  const start = performance.now();
  acts[act](argument);
  requestAnimationFrame(look);
})
"""


def interactions(page: Any, url: str) -> dict[str, list[float]]:
    """Seconds of each timed run: a filter and a sort of the board, and another question of the examples."""
    page.goto(f"{url}/leaderboard/")
    page.wait_for_selector("table.board tbody tr:nth-child(3)")
    page.wait_for_load_state("networkidle")
    found = {
        "filter_in_browser": _repeated(lambda at: _one(page, "type", ["#search input", f"team:{at % 5}"], "#board")),
    }
    _one(page, "type", ["#search input", ""], "#board")
    found["sort_in_browser"] = _repeated(
        lambda at: _one(page, "click", f"[data-sort={('em', 'f1')[at % 2]}]", "#board")
    )
    page.goto(f"{url}/leaderboard/examples")
    page.wait_for_selector("#example [data-query]")
    page.wait_for_load_state("networkidle")
    found["example_in_browser"] = _repeated(
        lambda at: _one(page, "click", f"#list li:nth-child({2 + at % 10}) [data-choose]", "#example")
    )
    return found


def visits(page: Any, address: str, shown: str) -> list[float]:
    """Seconds from navigation to what is looked for, by the page's clock, with the browser's cache warm."""

    def visit(_at: int) -> float:
        page.goto(address)
        page.wait_for_selector(shown)
        return float(page.evaluate("performance.now() / 1000"))

    return _repeated(visit)


def middle(seconds: list[float]) -> float:
    """The median."""
    return statistics.median(seconds)


def _repeated(call: Callable[[int], float]) -> list[float]:
    return [call(at) for at in range(WARM + RUNS)][WARM:]


def _one(page: Any, act: str, argument: Any, shown: str) -> float:
    return float(page.evaluate(_TIMED, [act, argument, shown]))
