"""What this is, the benchmarks, and how files look."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, redirect, render_template, url_for
from werkzeug.wrappers import Response as Redirect

from core.tracks import TRACKS
from leaderboard.entries import read_entries
from scorer import metrics
from server.access import public
from server.context import services
from server.downloads import attachment
from server.results import synthetic
from submissions import tracks

bp = APIBlueprint("guide", __name__, enable_openapi=False)


@bp.get("/")
@public
def home() -> str:
    """What this is, the benchmarks and the way to the board."""
    return render_template("home.html", benchmarks=services().benchmarks.all())


@bp.get("/benchmarks/<benchmark_id>")
@public
def benchmark(benchmark_id: str) -> str:
    """One benchmark: its size, its rules, a few of its questions."""
    row = services().benchmarks.row(benchmark_id)
    with services().database.reading() as session:
        systems = len(read_entries(session, benchmark_id))
        simulated = synthetic(session, benchmark_id)
    questions = services().benchmarks.get(benchmark_id).questions[:5]
    return render_template(
        "benchmark.html", benchmark=row, questions=questions, systems=systems, simulated=simulated
    )  # fmt: skip


@bp.get("/benchmarks/<benchmark_id>/template.<kind>")
@public
def benchmark_template(benchmark_id: str, kind: str) -> Response:
    """A file to fill in."""
    chosen = services().benchmarks.get(benchmark_id)
    return attachment(tracks.of(chosen).template(chosen.questions, kind), f"{benchmark_id}-template.{kind}")


@bp.get("/favicon.ico")
@public
def favicon() -> Redirect:
    """Browsers ask for it on pages that name no icon."""
    return redirect(url_for("static", filename="icon.svg"), 301)


@bp.get("/docs")
@public
def docs() -> str:
    """Formats, metrics and the API in short."""
    by_track = {TRACKS[key]: metrics.load_all(key) for key in TRACKS}
    return render_template("docs.html", metrics=by_track, settings=services().settings)
