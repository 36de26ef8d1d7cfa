"""The two ways to submit from the command line: straight into the local database, or over the API."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from core.errors import InvalidInput

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from core.tables import Submission
    from server.auth import Identity
    from server.bootstrap import Services
    from server.client import Client
    from server.entries import Entry
    from submissions.intake import SystemCard


class Door(Protocol):
    """What `aqa submit` and `aqa status` need; all answers have the API's shape."""

    def submit(
        self, file: Path, benchmark: str, card: SystemCard, publish: bool, reference: str = ""
    ) -> dict[str, Any]:
        """Send a file in; `reference` says where on the Hub it was fetched from."""
        ...

    def status(self, submission: str) -> dict[str, Any]: ...

    def scores(self, submission: str) -> dict[str, Any]: ...

    def wait(self) -> None:
        """Let some time pass, or do some of the work that is waited for."""
        ...


def door(url: str, token: str, team: str) -> Door:
    """The API at `url` if there is one, else the local database, where `team` names whose entry it is."""
    from server.cli.wiring import services

    if url:
        from server.client import Client

        return Remote(Client(url, token))
    return Local(services(), team)


class Remote:
    """Over the API."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.status, self.scores = client.status, client.scores

    def submit(
        self, file: Path, benchmark: str, card: SystemCard, publish: bool, reference: str = ""
    ) -> dict[str, Any]:
        """Upload the file; where it came from stays with the sender."""
        return self._client.submit(file, benchmark, card, publish)

    def wait(self) -> None:
        """A second."""
        time.sleep(1)


class Local:
    """Into the database that the settings name; the local command line acts as a maintainer."""

    def __init__(self, services: Services, team: str) -> None:
        self._services = services
        self._team = team

    def submit(
        self, file: Path, benchmark: str, card: SystemCard, publish: bool, reference: str = ""
    ) -> dict[str, Any]:
        """Store an entry for the team."""
        from core.tables import SubmissionSource
        from server import auth
        from submissions.formats import open_file

        if not self._team:
            raise InvalidInput("Whose entry is it?", "Name a team with --team, or a service with --url and --token.")
        with self._services.database.reading() as session:
            team = auth.find_team(session, self._team)

        def remember(session: Session, submission: Submission) -> None:
            if reference:
                session.add(SubmissionSource(submission_id=submission.id, reference=reference))

        with open_file(file) as stream:
            made = self._services.intake.accept(
                team.id, benchmark, card, stream, file.name, publish=publish, finish=remember
            )
        return self.status(made.id)

    def status(self, submission: str) -> dict[str, Any]:
        """Where a submission stands."""
        from server.api.schemas import EntryOut

        return dict(EntryOut().dump(self._entry(submission)))

    def scores(self, submission: str) -> dict[str, Any]:
        """A submission's scores."""
        from server.results import scores

        entry = self._entry(submission)
        with self._services.database.reading() as session:
            return scores(self._services, session, entry)

    def wait(self) -> None:
        """Do a job, if one is free: no service need run."""
        from server.worker import Worker

        if not Worker(self._services).run_one():
            time.sleep(0.5)

    def _entry(self, submission: str) -> Entry:
        from server import entries

        with self._services.database.reading() as session:
            return entries.find(session, self._services.queue, _maintainer(), submission)


def _maintainer() -> Identity:
    from server.auth import Identity

    return Identity(team_id=0, team="", role="maintainer", token_id=0)
