"""Celery as the transport of announcements: a message only says that a queue has work; the claim decides which."""

from __future__ import annotations

import logging
from functools import cached_property
from typing import TYPE_CHECKING

from core.errors import NotInstalled
from core.extras import how_to_install
from core.queue import Announcement

if TYPE_CHECKING:
    from celery import Celery

log = logging.getLogger("aqa.announcing")
TASK = "aqa.work"
_LONGEST_TASK = 12 * 3600


class Announcer:
    """Sends announcements; a broker that is away is no error, since a sweep announces again what waits."""

    def __init__(self, url: str) -> None:
        self._url = url

    @cached_property
    def _app(self) -> Celery:
        return celery_app(self._url)

    def __call__(self, announcement: Announcement) -> None:
        """Tell the workers of a queue that there is a job."""
        try:
            self._app.send_task(
                TASK, (announcement.queue,), queue=transport_queue(announcement.queue), retry=False, ignore_result=True
            )
        except Exception as error:  # the job is committed: nothing that a broker does may undo that
            log.warning("job %s could not be announced, a sweep will: %s", announcement.id, type(error).__name__)


def transport_queue(queue: str) -> str:
    """The broker's name of a queue."""
    return f"aqa.{queue}"


def celery_app(url: str) -> Celery:
    """A Celery application with the settings under which no message was lost to `kill -9`.

    Raises `NotInstalled` where Celery is not installed.
    """
    try:
        from celery import Celery
    except ModuleNotFoundError as error:
        raise NotInstalled(
            "AQA_BROKER_URL needs Celery, which is not installed.", f"Install it with: {how_to_install('scaled')}"
        ) from error
    app = Celery("aqa", broker=url, set_as_current=False)
    app.conf.update(
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_ignore_result=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_enable_remote_control=False,
        worker_proc_alive_timeout=60.0,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=transport_options(url),
    )
    return app


def transport_options(url: str) -> dict[str, int]:
    """Options that only the Redis transport knows; others fail on them."""
    if not url.startswith(("redis://", "rediss://", "redis+socket://", "sentinel://")):
        return {}
    return {
        "visibility_timeout": _LONGEST_TASK,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 3,
        "socket_timeout": 30,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
    }
