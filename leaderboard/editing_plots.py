"""Attribution over preservation with lines of equal F1_AP, as in RARR's figure of the trade-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.architectures import ARCHITECTURES
from leaderboard.plots import CONFIG, STYLES, error, layout, plain
from leaderboard.records import Board, Cell, Entry
from leaderboard.view import NUMBERS

AUTO, HUMAN = NUMBERS


@dataclass(frozen=True, slots=True)
class Axes:
    """The metrics of one drawing: attribution, preservation, their harmonic mean, and attribution before editing."""

    title: str
    attribution: str
    preservation: str
    both: str
    before: str


AXES = {
    AUTO: Axes("Automatic", "attr_auto", "pres_lev", "f1_ap_auto", "attr_auto_before"),
    HUMAN: Axes("By people", "attr_ais", "pres_comb", "f1_ap", "attr_ais_before"),
}
_RIGHT = 0.6
_COVERED = 2.0
"""Marks closer than this both ways, in per cent, cover each other's names."""
LEVELS = tuple(range(10, 100, 10))
"""F1_AP of the lines, in per cent."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One system in the drawing; `before` is its attribution before editing, where preservation is whole."""

    entry: Entry
    attribution: Cell
    preservation: Cell
    both: Cell
    before: Cell | None


def marks(board: Board, axes: Axes) -> tuple[Mark, ...]:
    """The systems that have both numbers under the main recipe."""
    found = []
    for row in board.rows:
        attribution, preservation, both = (
            row.metrics[key] for key in (axes.attribution, axes.preservation, axes.both)
        )  # fmt: skip
        if attribution.value is not None and preservation.value is not None:
            before = row.metrics.get(axes.before)
            known = before if before is not None and before.value is not None else None
            found.append(Mark(row.entry, attribution, preservation, both, known))
    return tuple(found)


def trade_off(found: Sequence[Mark], axes: Axes, synthetic: bool) -> dict[str, Any]:
    """One trace per architecture with error bars both ways; open marks and thin lines show the text before editing."""
    traces: list[dict[str, Any]] = [contour(level / 100) for level in LEVELS]
    labels = _labels(found)
    for key, title in ARCHITECTURES.items():
        own = [mark for mark in found if mark.entry.architecture == key]
        if own:
            traces += [*_moves(own, key), _points(own, key, title, labels)]
    human = axes is AXES[HUMAN] and synthetic
    names = ("Attribution, Attr AIS", "Preservation, Pres comb") if axes is AXES[HUMAN] else (
        "Attribution, Attr auto", "Preservation, Pres Lev")  # fmt: skip
    shown = layout(*(f"{name}{' (synthetic ratings)' if human else ''} (%)" for name in names))
    shown["xaxis"]["range"] = shown["yaxis"]["range"] = [-2, 104]
    shown["height"] = 560
    return {"data": traces, "layout": shown, "config": CONFIG}


def contour(level: float) -> dict[str, Any]:
    """The line of all (attribution, preservation) whose harmonic mean is `level`, in (0, 1): y = F x / (2 x - F)."""
    least = level / (2 - level)
    x = least + (1 - least) * np.linspace(0, 1, 80) ** 2  # closer together where the line is steep
    y = level * x / (2 * x - level)
    middle = int(np.argmin(np.abs(x - y)))  # on the diagonal, where a balanced system would be
    text = [f"F1 {100 * level:.0f}" if at == middle else "" for at in range(len(x))]
    return {
        "type": "scatter", "mode": "lines+text", "name": f"F1 AP {100 * level:.0f}", "showlegend": False,
        "x": np.round(100 * x, 3).tolist(), "y": np.round(100 * y, 3).tolist(), "text": text,
        "textposition": "top right", "textfont": {"size": 10}, "hoverinfo": "skip",
        "line": {"color": "#8a97a8", "width": 0.8, "dash": "dot"},
    }  # fmt: skip


def _labels(found: Sequence[Mark]) -> dict[int, str]:
    """System → what is written beside its mark: names of marks that cover each other stand together, at the first."""
    labels: dict[int, list[str]] = {}
    places: list[tuple[float, float, int]] = []
    for mark in found:
        x, y = _percent(mark.attribution) or 0.0, _percent(mark.preservation) or 0.0
        own = mark.entry.system_id
        first = next((at for a, b, at in places if abs(a - x) < _COVERED and abs(b - y) < _COVERED), own)
        places.append((x, y, first))
        labels.setdefault(first, []).append(plain(mark.entry.system))
    return {at: "<br>".join(names) for at, names in labels.items()}


def _points(own: Sequence[Mark], key: str, title: str, labels: Mapping[int, str]) -> dict[str, Any]:
    colour, symbol = STYLES[key]
    return {
        "type": "scatter", "mode": "markers+text", "name": title,
        "x": [_percent(m.attribution) for m in own], "y": [_percent(m.preservation) for m in own],
        "error_x": error([m.attribution for m in own], colour), "error_y": error([m.preservation for m in own], colour),
        "text": [labels.get(m.entry.system_id, "") for m in own], "textfont": {"size": 11},
        # Away from the near edge, so that no name is cut.
        "textposition": [f"bottom {'left' if (m.attribution.value or 0) > _RIGHT else 'right'}" for m in own],
        "customdata": [[plain(m.entry.system), plain(m.entry.team), _written(m.both)] for m in own],
        "hovertemplate": "%{customdata[0]}<br>%{customdata[1]}<br>attribution %{x:.1f}, preservation %{y:.1f}"
        "<br>F1 AP %{customdata[2]}<extra></extra>",
        "marker": {"color": colour, "symbol": symbol, "size": 11},
    }  # fmt: skip


def _moves(own: Sequence[Mark], key: str) -> list[dict[str, Any]]:
    """From the text before editing (all of it preserved) to the system's mark."""
    colour, symbol = STYLES[key]
    return [
        {
            "type": "scatter", "mode": "lines+markers", "name": f"{plain(m.entry.system)}, before editing",
            "showlegend": False,
            "x": [_percent(m.before), _percent(m.attribution)], "y": [100, _percent(m.preservation)],
            "hovertemplate": f"{plain(m.entry.system)}, before editing<br>attribution %{{x:.1f}}<extra></extra>",
            "marker": {"color": colour, "symbol": [f"{symbol}-open", symbol], "size": [8, 0.1]},
            "line": {"color": colour, "width": 1},
        }
        for m in own if m.before is not None
    ]  # fmt: skip


def _written(cell: Cell) -> str:
    return "n/a" if cell.value is None else f"{100 * cell.value:.1f}"


def _percent(cell: Cell | None) -> float | None:
    return None if cell is None or cell.value is None else round(100 * cell.value, 4)
