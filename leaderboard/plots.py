"""Plotly figures as plain JSON values: data, layout and config, drawn by the browser."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.architectures import ARCHITECTURES
from leaderboard.calibration import Calibration
from leaderboard.correlate import Point, SystemLevel
from leaderboard.records import Cell

# Okabe and Ito's colours, told apart with every kind of colour vision; the shape says the same.
STYLES: dict[str, tuple[str, str]] = {
    "retrieve-then-read": ("#0072b2", "circle"),
    "post-hoc-retrieval": ("#d55e00", "square"),
    "llm-as-retriever": ("#009e73", "diamond"),
    "research-and-revise": ("#cc79a7", "triangle-up"),
    "other": ("#7f7f7f", "cross"),
    "unknown": ("#7f7f7f", "x"),
}
CONFIG: dict[str, Any] = {"displaylogo": False, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


def scatter(level: SystemLevel, synthetic: bool, human: str = "AIS") -> dict[str, Any]:
    """The human number over the metric with error bars, one trace per architecture, and the line of the fit."""
    traces = []
    for key, title in ARCHITECTURES.items():
        for kept in (True, False):
            points = [p for p in level.points if p.entry.architecture == key and (p.left_out is None) == kept]
            if points:
                traces.append(_trace(points, key, title if kept else f"{title}, not in the fit", kept))
    if level.line is not None:
        traces.append(_line(level))
    named = f"{human} (synthetic ratings)" if synthetic else human
    return {"data": traces, "layout": layout(f"{level.column.title} (%)", f"{named} (%)"), "config": CONFIG}


def calibration(found: Calibration, judge: str, synthetic: bool) -> dict[str, Any]:
    """Share of attributable answers over the judge's p, with Wilson whiskers and the line of a calibrated judge."""
    bins = found.bins
    drawn = {
        "type": "scatter", "mode": "markers+lines", "name": judge,
        "x": [round(each.mean_p, 4) for each in bins], "y": [_percent(each.share) for each in bins],
        "error_y": {
            "type": "data", "symmetric": False, "thickness": 1, "width": 3,
            "array": [_percent((each.interval.high or 0) - each.share) for each in bins],
            "arrayminus": [_percent(each.share - (each.interval.low or 0)) for each in bins],
        },
        "text": [f"{each.n} answers" for each in bins],
        "hovertemplate": "p %{x:.2f}: %{y:.1f} % attributable<br>%{text}<extra></extra>",
        "marker": {"size": 9, "color": "#0072b2"}, "line": {"color": "#0072b2", "width": 1},
    }  # fmt: skip
    ideal = {
        "type": "scatter", "mode": "lines", "name": "calibrated", "x": [0, 1], "y": [0, 100], "hoverinfo": "skip",
        "line": {"color": "#566275", "width": 1, "dash": "dash"},
    }  # fmt: skip
    human = "attributable by synthetic ratings (%)" if synthetic else "attributable by human ratings (%)"
    shown = layout(f"p of {plain(judge)}", human)
    shown["xaxis"]["range"], shown["yaxis"]["range"], shown["height"] = [-0.03, 1.03], [-4, 104], 380
    return {"data": [ideal, drawn], "layout": shown, "config": CONFIG}


def layout(x: str, y: str) -> dict[str, Any]:
    """The common layout; colours of text and grid are set by the page's style sheet, for light and dark."""
    axis = {"zeroline": False, "gridcolor": "#d9dfe8", "ticks": "outside", "automargin": True}
    return {
        "xaxis": axis | {"title": {"text": x}},
        "yaxis": axis | {"title": {"text": y}},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "Inter Variable, system-ui, sans-serif", "size": 13},
        "margin": {"l": 56, "r": 16, "t": 16, "b": 48},
        "height": 440,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
        "hovermode": "closest",
    }


def _trace(points: Sequence[Point], key: str, title: str, kept: bool) -> dict[str, Any]:
    colour, symbol = STYLES[key]
    return {
        "type": "scatter", "mode": "markers", "name": title,
        "x": [_percent(p.metric.value) for p in points], "y": [_percent(p.ais.value) for p in points],
        "error_x": error([p.metric for p in points], colour), "error_y": error([p.ais for p in points], colour),
        "text": [f"{plain(p.entry.system)}<br>{plain(p.entry.team)}" for p in points],
        "hovertemplate": "%{text}<br>%{x:.1f}, %{y:.1f}<extra></extra>",
        "marker": {"color": colour, "symbol": symbol if kept else f"{symbol}-open", "size": 10},
    }  # fmt: skip


def error(cells: Sequence[Cell], colour: str) -> dict[str, Any]:
    """Distances to the ends of the intervals; 0 where there is none."""
    return {
        "type": "data", "symmetric": False, "thickness": 1, "width": 3, "color": colour,
        "array": [_percent((c.high or 0) - (c.value or 0)) if c.high is not None else 0 for c in cells],
        "arrayminus": [_percent((c.value or 0) - (c.low or 0)) if c.low is not None else 0 for c in cells],
    }  # fmt: skip


def _line(level: SystemLevel) -> dict[str, Any]:
    slope, intercept = level.line or (0.0, 0.0)
    inside = [p.metric.value for p in level.points if p.left_out is None and p.metric.value is not None]
    ends = [min(inside), max(inside)]
    return {
        "type": "scatter", "mode": "lines", "name": "Least-squares fit", "hoverinfo": "skip",
        "x": [_percent(x) for x in ends], "y": [_percent(slope * x + intercept) for x in ends],
        "line": {"color": "#566275", "width": 1.5, "dash": "dash"},
    }  # fmt: skip


def _percent(value: float | None) -> float | None:
    return None if value is None else round(100 * value, 4)


def plain(text: str) -> str:
    """Text that Plotly must not read as its own markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
