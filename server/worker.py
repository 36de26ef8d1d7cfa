"""The worker: claim → `JOBS[kind]` → finish. Runs as a thread inside the web process or as a process of its own."""

from __future__ import annotations

import logging
import os
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from core.audit import SERVICE, acting
from core.errors import AqaError, LeaseLost, NotInstalled, Unavailable
from core.hub_access import HubAccess, reaching_hub
from core.log_context import about
from core.queue import Claim
from server import job_subjects
from server.bootstrap import Services
from server.exchange.jobs import Periodic
from server.jobs import FAILED, JOBS

log = logging.getLogger("aqa.worker")


class Worker:
    """Takes jobs one at a time until told to stop; a job in hand at that moment is finished or given back."""

    def __init__(self, services: Services, queues: Sequence[str] = ("cpu",)) -> None:
        self._services = services
        self._queues = queues
        self._stop = threading.Event()
        self._in_hand: Claim | None = None
        self._doing: dict[str, Any] = {}
        self._periodic = Periodic(services)
        self.name = f"{socket.gethostname()}:{os.getpid()}:{threading.get_ident() % 10_000}"

    def run(self) -> None:
        """Work until `stop`; never dies of a job's fault or a database that is away for a while."""
        while not self._stop.is_set():
            try:
                self._periodic.tick()
                busy = self.run_one()
            except Exception:
                log.exception("the worker could not reach its queue; it will try again")
                busy = False
            if not busy:
                self._services.wake.wait(self._services.settings.poll_seconds)
                self._services.wake.clear()

    def run_until_idle(self) -> int:
        """Do all jobs that are free now; returns how many."""
        done = 0
        while self.run_one():
            done += 1
        return done

    def run_one(self) -> bool:
        """Do one job; returns False if none was free."""
        queue, database = self._services.queue, self._services.database
        with database.transaction() as session:
            for ended in queue.bury(session):
                FAILED[ended.kind](self._services, session, ended.subject, ended.reason)
        claim = queue.claim(self._queues, self.name)
        if claim is None:
            return False
        self._in_hand, self._doing = claim, {"subject": claim.subject}
        try:
            doing = self._doing = self._about(claim)
            log.info("job %s: %s, attempt %s", claim.id, claim.kind, claim.attempt, extra=doing)
            access = HubAccess.from_settings(self._services.settings)
            with self._heartbeats(claim), acting(SERVICE), about(doing["subject"], doing["team"]), reaching_hub(access):
                JOBS[claim.kind](self._services, claim)
        except LeaseLost:
            log.warning("job %s was taken over or cancelled; this worker's result was dropped", claim.id)
        except Exception as error:
            self._fail(claim, error)
        finally:
            self._in_hand = None
        return True

    def stop(self) -> None:
        """Ask the loop to end after the job in hand."""
        self._stop.set()
        self._services.wake.set()

    def give_back(self) -> None:
        """Return the job in hand, if there is one, untried; whatever this worker still does for it is refused."""
        claim = self._in_hand
        if claim is None:
            return
        try:
            self._services.queue.give_back(claim)
            log.info("job %s was given back", claim.id)
        except LeaseLost:
            log.info("job %s had ended already", claim.id)

    def _fail(self, claim: Claim, error: Exception) -> None:
        # Only what another attempt could mend is tried again, and none brings a package that is missing here.
        final = isinstance(error, NotInstalled) or (isinstance(error, AqaError) and not isinstance(error, Unavailable))
        reason = f"{error.message} {error.hint}".strip() if isinstance(error, AqaError) else _unexpected(error)
        lost = False
        try:
            with self._services.database.transaction() as session:
                delay = 2.0**claim.attempt
                if self._services.queue.fail(session, claim, reason, retry=not final, after=delay):
                    FAILED[claim.kind](self._services, session, claim.subject, reason)
        except LeaseLost:
            # Its subject may be gone, with its team say: what it stumbled over then is no fault of ours.
            lost = True
            log.warning("job %s was taken over or cancelled while it failed: %s", claim.id, type(error).__name__)
        finally:
            if not lost:
                self._tell(claim, error)

    def _tell(self, claim: Claim, error: Exception) -> None:
        if isinstance(error, AqaError):  # it says itself what is wrong; where it was raised helps nobody
            log.warning("job %s failed in attempt %s: %s", claim.id, claim.attempt, error.message, extra=self._doing)
        else:
            log.error("job %s failed in attempt %s", claim.id, claim.attempt, exc_info=error, extra=self._doing)

    def _about(self, claim: Claim) -> dict[str, Any]:
        """What the log lines of a job name: its submission or other subject, and the team whose it is."""
        with self._services.database.reading() as session:
            told = job_subjects.of_claim(session, claim)
        return {"subject": told.submission or claim.subject, "team": told.team_id}

    @contextmanager
    def _heartbeats(self, claim: Claim) -> Iterator[None]:
        ended = threading.Event()

        def beat() -> None:
            while not ended.wait(self._services.queue.lease_seconds / 4):
                try:
                    self._services.queue.heartbeat(claim)
                except LeaseLost:
                    return
                except Exception:
                    log.exception("a heartbeat of job %s was lost", claim.id)

        thread = threading.Thread(target=beat, name=f"heartbeat-{claim.id}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _unexpected(error: Exception) -> str:
    return f"An unexpected error on our side ({type(error).__name__}); it does not count against your quota."
