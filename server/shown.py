"""Numbers and texts as the pages show them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Flask, url_for
from sqlalchemy.orm import Session

from core.architectures import ARCHITECTURES
from core.records import Score
from core.tables import EvaluationRow
from core.text import counted
from core.tracks import WORDS
from leaderboard.recipes import judge_of
from leaderboard.records import JudgeName
from scorer import metrics
from scorer.statistics.methods import method_help, method_name
from scorer.stored import read_scores
from server.results import synthetic
from submissions.editing.labels import left_out_in_words
from submissions.labels import few_raters_in_words


@dataclass(frozen=True)
class Line:
    """One metric of an entry; `remark` says what must be known to read the number."""

    title: str
    help: str
    score: Score
    remark: str


def lines(session: Session, benchmark_id: str, evaluation_id: int, struck: bool) -> tuple[list[Line], JudgeName | None]:
    """The metrics of an evaluation in the board's order, and the judge behind AutoAIS."""
    judge = judge_of(session.get_one(EvaluationRow, evaluation_id).judge)
    simulated = synthetic(session, benchmark_id)
    found = read_scores(session, evaluation_id)
    return [_line(score, judge, simulated, struck) for score in found.values()], judge


def _line(score: Score, judge: JudgeName | None, simulated: bool, struck: bool) -> Line:
    metric = metrics.load(score.metric)
    title, remarks = metric.title, []
    if metric.key == "autoais" and judge is not None:
        title = judge.score_name
        remarks.append(f"Judge: {judge.title}." if title == metric.title else f"Stands where {metric.title} would.")
        remarks += ["Not ranked: the system uses an AutoAIS model inside."] if struck else []
    elif "judge" in metric.rests_on and judge is not None:
        remarks.append(f"Judge: {judge.title}.")
        remarks += ["Not ranked: the system uses an AutoAIS model inside."] if struck else []
    if "labels" in metric.rests_on:
        remarks += ["Synthetic ratings."] if simulated else []
        remarks += _coverage(score.details) + _labels(score.details) if score.value is not None else []
        remarks += _with_raters(score.details.get("with_raters", {}))
        remarks += _population(score.details.get("ppi", {}))
        remarks += left_out_in_words(score.details.get("left_out", {})) if score.value is not None else []
    return Line(title, metric.help, score, " ".join(remarks))


def _coverage(details: dict[str, Any]) -> list[str]:
    coverage, bounds = details.get("coverage"), details.get("bounds")
    if coverage is None or coverage >= 1 or bounds is None:
        return []
    low, high = percent(bounds[0]), percent(bounds[1])
    return [f"{coverage:.0%} of what is to be rated is rated, so it lies between {low} and {high}."]


def _labels(details: dict[str, Any]) -> list[str]:
    near, told = details.get("near", {}).get("hits", 0), few_raters_in_words(details)
    if near:
        told.append(f"{near:,} more answers differ from rated ones in spelling only; they do not count.")
    return told


def _with_raters(ends: dict[str, Any]) -> list[str]:
    if ends.get("low") is None:
        return []
    return [f"With the raters drawn anew too: {percent(ends['low'])} to {percent(ends['high'])}."]


def _population(ppi: dict[str, Any]) -> list[str]:
    if ppi.get("value") is None:
        return []
    low, high = percent(ppi["low"]), percent(ppi["high"])
    return [f"Over all questions, by PPI from {ppi['rated']:,} ratings: {percent(ppi['value'])} ({low} to {high})."]


def percent(value: float | None) -> str:
    """A share as 0–100 with one decimal."""
    return "n/a" if value is None else f"{100 * value:.1f}"


def when(moment: datetime | None) -> str:
    """A time in UTC, to the minute."""
    return "" if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def words(key: str) -> str:
    """A key in words: `unknown_attribution` → `unknown attribution`."""
    return key.replace("_", " ")


def asset(name: str) -> str:
    """The address of a file of `server/static` that names its content, so that browsers may keep it for good."""
    return url_for("static", filename=name, v=_digest(name))


@cache
def _digest(name: str) -> str:
    return sha256((Path(__file__).parent / "static" / name).read_bytes()).hexdigest()[:10]


def register(app: Flask) -> None:
    """Make these available to the templates."""
    app.jinja_env.globals["track_words"] = WORDS
    app.jinja_env.filters.update(
        percent=percent, when=when, words=words, counted=counted, method=method_name, method_help=method_help
    )
    app.jinja_env.globals.update(architectures=ARCHITECTURES, asset=asset)
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
