"""`/metrics` for Prometheus: the queues, what judges did, and how long requests took."""

from __future__ import annotations

import hmac
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from apiflask import APIBlueprint, APIFlask
from flask import Response, current_app, g, request
from sqlalchemy import select

from core.errors import NotFound, NotInstalled, NotSignedIn
from core.extras import how_to_install
from core.queue_care import overview
from core.tables import Tally
from scorer.judgments import HITS, JUDGED, SECONDS
from server.access import public
from server.bootstrap import Services
from server.context import services

if TYPE_CHECKING:
    from prometheus_client import Metric

bp = APIBlueprint("metrics", __name__, enable_openapi=False)
_REGISTRY, _LATENCY = "aqa-metrics", "aqa-latency"
_TALLIES = {
    JUDGED: "Pairs that judges judged.",
    SECONDS: "Seconds that judges worked.",
    HITS: "Judgments taken from the cache.",
}


@bp.get("/metrics")
@public
def metrics() -> Response:
    """Everything in Prometheus' text form, for who sends the token of AQA_METRICS_TOKEN."""
    token = services().settings.metrics_token
    if not token:
        raise NotFound("There are no metrics here.", "Set AQA_METRICS_TOKEN to have them.")
    if not hmac.compare_digest(request.headers.get("Authorization", "").encode(), f"Bearer {token}".encode()):
        raise NotSignedIn("/metrics needs its own token.", "Send AQA_METRICS_TOKEN as: Authorization: Bearer TOKEN")
    from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

    return Response(generate_latest(current_app.extensions[_REGISTRY]), content_type=CONTENT_TYPE_LATEST)


def register(app: APIFlask, wired: Services) -> None:
    """Measure requests and collect the rest when asked. Raises `NotInstalled` where the client is not installed."""
    app.register_blueprint(bp)
    if not wired.settings.metrics_token:
        return
    try:
        from prometheus_client import CollectorRegistry, Histogram
    except ModuleNotFoundError as error:
        hint = f"Install it with: {how_to_install('scaled')}"
        raise NotInstalled("AQA_METRICS_TOKEN needs prometheus_client, which is not installed.", hint) from error
    registry = CollectorRegistry()
    registry.register(_FromDatabase(wired))
    latency = Histogram("aqa_request_seconds", "Time to answer.", ["method", "route", "status"], registry=registry)
    app.extensions[_REGISTRY], app.extensions[_LATENCY] = registry, latency

    def begin() -> None:
        g.begun = time.perf_counter()

    def end(response: Response) -> Response:
        route = request.url_rule.rule if request.url_rule else "none"
        if "begun" in g:
            observe(app, request.method, route, response.status_code, time.perf_counter() - g.begun)
        return response

    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request(end)


def observe(app: APIFlask, method: str, route: str, status: int, seconds: float) -> None:
    """Note how long a request took, where that is measured."""
    if _LATENCY in app.extensions:
        app.extensions[_LATENCY].labels(method, route, status).observe(seconds)


class _FromDatabase:
    """What all processes share stands in the database, so any web process can tell it."""

    def __init__(self, wired: Services) -> None:
        self._services = wired

    def describe(self) -> list[Metric]:
        """Nothing, so that registering does not ask the database."""
        return []

    def collect(self) -> Iterator[Metric]:
        """The state at this moment."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

        with self._services.database.reading() as session:
            states = overview(session)
            tallies = dict(session.execute(select(Tally.name, Tally.value)).all())
        jobs = GaugeMetricFamily("aqa_jobs", "Jobs by queue and state.", labels=["queue", "state"])
        age = GaugeMetricFamily("aqa_oldest_job_seconds", "Age of the oldest waiting job.", labels=["queue"])
        paused = GaugeMetricFamily("aqa_queue_paused", "1 where a queue is paused.", labels=["queue"])
        for state in states:
            for name in ("queued", "running", "failed"):
                jobs.add_metric([state.queue, name], getattr(state, name))
            age.add_metric([state.queue], state.oldest or 0.0)
            paused.add_metric([state.queue], float(state.paused))
        yield from (jobs, age, paused)
        for name, title in _TALLIES.items():
            yield CounterMetricFamily(f"aqa_{name}", title, value=tallies.get(name, 0.0))
