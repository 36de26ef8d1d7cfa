"""The maintainers' page of jobs and queues."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core import queue_care
from core.errors import AqaError, NotFound
from core.queue import QUEUES, STATES
from server import job_desk
from server.access import only
from server.addresses import number
from server.context import services
from server.job_desk import Chosen
from server.job_subjects import TITLES

bp = APIBlueprint("jobs", __name__, url_prefix="/jobs", enable_openapi=False)
_PAGE = 50


@bp.get("")
@only("maintainer")
def overview() -> str:
    """The queues, and the jobs that are chosen."""
    return _page("jobs.html")


@bp.get("/live")
@only("maintainer")
def live() -> str:
    """The part of the page that changes; the page asks for it again and again."""
    return _page("_jobs.html")


@bp.post("/<job_id>/<what>")
@only("maintainer")
def change(job_id: str, what: str) -> tuple[str, int] | Response:
    """Try a job again, or call it off."""
    do = {"retry": job_desk.retry, "cancel": job_desk.cancel}.get(what)
    if do is None:
        raise NotFound("There is nothing at this address.", "Check the address.")
    try:
        do(services(), number(job_id, "job"))
    except AqaError as error:
        return _page("jobs.html", error=error), error.status
    return _back()


@bp.post("/retry-failed")
@only("maintainer")
def retry_failed() -> Response:
    """Try all chosen jobs that failed again."""
    job_desk.retry_all(services(), _chosen())
    return _back()


@bp.post("/queues/<queue>/<what>")
@only("maintainer")
def pause(queue: str, what: str) -> Response:
    """Pause a queue, or let it run again."""
    do = {"pause": job_desk.pause, "resume": job_desk.resume}.get(what)
    if do is None or queue not in QUEUES:
        raise NotFound("There is nothing at this address.", "Check the address.")
    do(services(), queue)
    return _back()


def _chosen() -> Chosen:
    def named(name: str, known: tuple[str, ...]) -> str:
        value = request.args.get(name, "")
        return value if value in known else ""

    subject = request.args.get("subject", "").strip()[:120]
    return Chosen(named("kind", tuple(TITLES)), named("state", STATES), named("queue", QUEUES), subject)


def _query(chosen: Chosen, **other: Any) -> dict[str, Any]:
    """The filters as an address holds them, some of them changed."""
    held = {"kind": chosen.kind, "state": chosen.state, "queue": chosen.queue, "subject": chosen.subject} | other
    return {name: value for name, value in held.items() if value}


def _back() -> Response:
    return redirect(url_for(".overview", **_query(_chosen(), before=request.args.get("before", ""))), 303)


def _page(template: str, **shown: Any) -> str:
    chosen, before = _chosen(), request.args.get("before", "")
    start = number(before, "job") if before else 0
    with services().database.reading() as session:
        jobs = job_desk.listed(services(), session, chosen, before=start, limit=_PAGE + 1)
        counts, queues = job_desk.counts(session, chosen), queue_care.overview(session)
    return render_template(
        template, jobs=jobs[:_PAGE], more=len(jobs) > _PAGE, before=before, counts=counts, queues=queues,
        chosen=chosen, kinds=TITLES, query=lambda **other: _query(chosen, **other), lasting=job_desk.lasting, **shown,
    )  # fmt: skip
