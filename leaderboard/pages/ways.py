"""Pages that each track has of its own, and the way from one to the other."""

from __future__ import annotations

from collections.abc import Mapping

from core.database import Database
from core.tracks import EDITING, QA, TRACKS
from leaderboard.pages.frame import benchmark_choices
from leaderboard.pages.render import render

COMPARISONS = {QA: "/leaderboard/compare", EDITING: "/leaderboard/editing-compare"}
EXAMPLES = {QA: "/leaderboard/examples", EDITING: "/leaderboard/editing-passages"}
CORRELATIONS = {QA: "/leaderboard/correlations", EDITING: "/leaderboard/editing"}
"""Where each track has these pages; the editing track's correlations are on its board."""


def elsewhere(database: Database, benchmark: str, track: str, paths: Mapping[str, str]) -> str:
    """The way to the page of the benchmark's own track, if that is another; else empty. `paths` by track."""
    for other, path in paths.items():
        if benchmark and other != track and benchmark_choices(database, benchmark, other)[1] == benchmark:
            return render("elsewhere.html", path=path, benchmark=benchmark, track=TRACKS[other])
    return ""
