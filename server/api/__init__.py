"""API v1: every route parses, calls one function and serialises."""

from __future__ import annotations

from apiflask import APIBlueprint

from server.api.account import bp as account
from server.api.benchmarks import bp as benchmarks
from server.api.jobs import bp as jobs
from server.api.leaderboard import bp as leaderboard
from server.api.models import bp as models
from server.api.ratings import bp as ratings
from server.api.references import bp as references
from server.api.rescores import bp as rescores
from server.api.snapshots import bp as snapshots
from server.api.submissions import bp as submissions
from server.api.systems import bp as systems
from server.api.teams import bp as teams
from server.api.uploads import bp as uploads
from server.api.webhooks import bp as webhooks

PREFIX = "/api/v1"


def blueprint() -> APIBlueprint:
    """The whole API, to be registered once per application."""
    api = APIBlueprint("api", __name__, url_prefix=PREFIX)
    for part in (
        account,
        benchmarks,
        submissions,
        references,
        uploads,
        models,
        systems,
        leaderboard,
        snapshots,
        ratings,
        webhooks,
        teams,
        jobs,
        rescores,
    ):
        api.register_blueprint(part)
    return api
