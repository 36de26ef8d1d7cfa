"""Jinja templates with everything escaped, and how numbers are written."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from core.text import counted
from scorer.statistics.methods import method_help, method_name
from scorer.statistics.ranks import Rank
from submissions.editing.labels import left_out_in_words
from submissions.labels import few_raters_in_words


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("leaderboard.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "percent": percent,
        "coordinate": coordinate,
        "place": place,
        "day": day,
        "pvalue": pvalue,
        "billions": billions,
        "counted": counted,
        "method": method_name,
        "method_help": method_help,
        "signed": signed,
        "coefficient": coefficient,
        "left_out": left_out_in_words,
        "few_raters": few_raters_in_words,
    }
    return made


def render(template: str, **values: Any) -> str:
    """HTML of a template; every value is escaped."""
    return _environment().get_template(template).render(**values)


def percent(value: float | None, sign: bool = False) -> str:
    """0.4567 as 45.7; nothing as n/a. Rates are shown as 0 to 100 with one decimal."""
    if value is None:
        return "n/a"
    shown = f"{100 * value:+.1f}" if sign else f"{100 * value:.1f}"
    return shown.replace("-", "−") if float(shown) else shown.lstrip("+-")


def coordinate(value: float | None) -> str:
    """A rate on the 0 to 100 axis of a drawing."""
    return f"{100 * min(max(value or 0.0, 0.0), 1.0):.4g}"


def place(rank: Rank | None) -> str:
    """A rank interval: 3, or 2–5 where the places between cannot be told apart."""
    if rank is None:
        return "n/a"
    return str(rank.best) if rank.best == rank.worst else f"{rank.best}–{rank.worst}"


def signed(value: float) -> str:
    """A difference with three decimals and its sign; none where it rounds to nothing."""
    shown = f"{value:+.3f}"
    return shown.replace("-", "−") if float(shown) else "0.000"


def coefficient(value: float) -> str:
    """A correlation or an AUC with two decimals."""
    shown = f"{value:.2f}"
    return shown.replace("-", "−") if float(shown) else "0.00"


def pvalue(p: float | None) -> str:
    """Two figures, and a bound where it is tiny."""
    if p is None:
        return "n/a"
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}" if p < 0.01 else f"{p:.2f}"


def billions(size: float) -> str:
    """Parameters: 11 B, 770 M."""
    return f"{1_000 * size:,.4g} M" if size < 1 else f"{size:,.4g} B"


def day(moment: datetime | None) -> str:
    """A date as year, month and day."""
    return moment.strftime("%Y-%m-%d") if moment else ""
