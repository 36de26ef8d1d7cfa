"""Jobs and queues; for maintainers."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from core import queue_care
from core.errors import NotFound
from core.queue import QUEUES
from server import job_desk
from server.access import only
from server.addresses import number
from server.api.documents import answers
from server.api.job_schemas import JobOut, JobsOut, JobsQuery, QueuesOut
from server.context import services
from server.job_desk import Chosen, JobView

bp = APIBlueprint("jobs", __name__, tag="Maintenance")


@bp.get("/jobs")
@only("maintainer")
@bp.input(JobsQuery, location="query")
@bp.output(JobsOut)
@answers(bp, 400, 403)
def listed(query_data: dict[str, Any]) -> dict[str, Any]:
    """Jobs, newest first; go on with `before`, the last job's id"""
    before, limit = query_data.pop("before"), query_data.pop("limit")
    with services().database.reading() as session:
        return {"jobs": job_desk.listed(services(), session, Chosen(**query_data), before=before, limit=limit)}


@bp.get("/jobs/<job_id>")
@only("maintainer")
@bp.output(JobOut)
@answers(bp, 403, 404)
def one(job_id: str) -> JobView:
    """One job"""
    return job_desk.one(services(), number(job_id, "job"))


@bp.post("/jobs/<job_id>/retry")
@only("maintainer")
@bp.output(JobOut)
@answers(bp, 403, 404, 409)
def retry(job_id: str) -> JobView:
    """Queue a failed or cancelled job again, with fresh attempts"""
    return job_desk.retry(services(), number(job_id, "job"))


@bp.post("/jobs/<job_id>/cancel")
@only("maintainer")
@bp.output(JobOut)
@answers(bp, 403, 404, 409)
def cancel(job_id: str) -> JobView:
    """End a job that waits or runs; what it is for is told so"""
    return job_desk.cancel(services(), number(job_id, "job"))


@bp.get("/queues")
@only("maintainer")
@bp.output(QueuesOut)
@answers(bp, 403)
def queues() -> dict[str, Any]:
    """What waits, runs and failed on each queue"""
    return _queues()


@bp.post("/queues/<queue>/pause")
@only("maintainer")
@bp.output(QueuesOut)
@answers(bp, 403, 404)
def pause(queue: str) -> dict[str, Any]:
    """Let a queue's jobs wait; jobs in hand are finished"""
    job_desk.pause(services(), _named(queue))
    return _queues()


@bp.post("/queues/<queue>/resume")
@only("maintainer")
@bp.output(QueuesOut)
@answers(bp, 403, 404)
def resume(queue: str) -> dict[str, Any]:
    """Let a queue's jobs be taken again"""
    job_desk.resume(services(), _named(queue))
    return _queues()


def _named(queue: str) -> str:
    if queue not in QUEUES:
        raise NotFound(f"There is no queue {queue[:20]!r}.", f"Queues: {', '.join(QUEUES)}.")
    return queue


def _queues() -> dict[str, Any]:
    with services().database.reading() as session:
        return {"queues": queue_care.overview(session)}
