"""What goes in and out of the API's routes for jobs and queues."""

from __future__ import annotations

from apiflask import Schema, fields
from apiflask.validators import OneOf

from core.queue import QUEUES, STATES
from server.api.paging import PageQuery, chosen_filter, text_filter
from server.job_subjects import TITLES


class JobsQuery(PageQuery):
    """Which jobs; what is left out is not looked at."""

    kind = chosen_filter(*TITLES)
    state = chosen_filter(*STATES)
    queue = chosen_filter(*QUEUES)
    subject = text_filter(120, "What it is about; a submission's id finds its parts too.")


class JobItem(Schema):
    """One job: what it is about, where it stands, who has it in hand, and why it failed."""

    id = fields.Integer(required=True)
    kind = fields.String(required=True)
    title = fields.String(required=True, metadata={"description": "The kind in words."})
    subject = fields.String(required=True)
    about = fields.String(required=True, metadata={"description": "The subject in words."})
    submission = fields.String(allow_none=True, required=True)
    queue = fields.String(required=True, validate=OneOf(list(QUEUES)))
    priority = fields.Integer(required=True, metadata={"description": "Lower is sooner."})
    state = fields.String(required=True, validate=OneOf(list(STATES)))
    attempt = fields.Integer(required=True)
    attempts = fields.Integer(required=True, metadata={"description": "How often it is tried at most."})
    parent = fields.Integer(allow_none=True, required=True)
    created_at = fields.AwareDateTime(required=True)
    not_before = fields.AwareDateTime(required=True)
    started_at = fields.AwareDateTime(
        allow_none=True, required=True, metadata={"description": "When its last attempt began."}
    )
    finished_at = fields.AwareDateTime(allow_none=True, required=True)
    age = fields.Float(required=True, metadata={"description": "Seconds since it was queued, or until it ended."})
    busy = fields.Float(
        allow_none=True,
        required=True,
        metadata={"description": "Seconds that its last attempt took, or has taken; null while it waits."},
    )
    worker = fields.String(allow_none=True, required=True)
    lease_until = fields.AwareDateTime(allow_none=True, required=True)
    heartbeat_at = fields.AwareDateTime(allow_none=True, required=True)
    reason = fields.String(allow_none=True, required=True)
    can_retry = fields.Boolean(required=True)
    can_cancel = fields.Boolean(required=True)


class JobOut(JobItem):
    """One job."""


class JobsOut(Schema):
    """Jobs, newest first."""

    jobs = fields.List(fields.Nested(JobItem), required=True)


class QueueItem(Schema):
    """One queue at this moment."""

    queue = fields.String(required=True, validate=OneOf(list(QUEUES)))
    paused = fields.Boolean(required=True)
    queued = fields.Integer(required=True)
    running = fields.Integer(required=True)
    failed = fields.Integer(required=True)
    oldest = fields.Float(
        allow_none=True, required=True, metadata={"description": "Seconds that the first job has waited."}
    )


class QueuesOut(Schema):
    """All queues."""

    queues = fields.List(fields.Nested(QueueItem), required=True)
