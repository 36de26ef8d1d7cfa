"""An inbox on the Hub: a dataset repository whose files, and files in pull requests to it, become submissions."""

from __future__ import annotations

import hashlib
import io
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from core.errors import AqaError, InvalidInput, OverQuota, Unavailable
from core.tables import HubAccount, InboxFile, NamespaceRow, Submission, SubmissionSource, Team
from submissions.intake import Intake
from submissions.repos.card import LARGEST, README, SYSTEM, read_card
from submissions.repos.entering import is_predictions
from submissions.repos.names import namespace_of, team_of
from submissions.sources.hub import Hub, HubFile, PullRequest
from submissions.sources.reference import Reference

log = logging.getLogger("aqa.inbox")
_FILE = re.compile(r"([^/]+)/([^/]+)/([^/]+)")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A file of predictions in the inbox that was not decided on yet, with the metadata beside it."""

    team: str
    """The folder's name: a namespace."""
    system: str
    file: HubFile
    metadata: tuple[HubFile, ...]
    commit: str
    pull_request: PullRequest | None

    @property
    def content(self) -> str:
        """Hash of predictions and metadata: what was decided on once is not looked at again."""
        parts = sorted(f"{each.path}\0{each.content}" for each in (self.file, *self.metadata))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file: a submission, a refusal with its reason, or waiting for what the reason says."""

    path: str
    pull_request: int | None
    state: str
    """taken, refused or waiting."""
    submission: str | None = None
    reason: str | None = None


@dataclass
class Inbox:
    """One dataset repository: `NAMESPACE/SYSTEM/predictions.*` with `system.yaml` beside it."""

    intake: Intake
    hub: Hub
    repo: str
    file_bytes: int
    comments: bool = False
    """Answer in pull requests what became of them."""

    def poll(self) -> list[Outcome]:
        """Decide on everything that is new. Raises `Unavailable` where the Hub gives up; what was decided stays so."""
        with self.intake.database.transaction() as session:
            _name_all(session)
        outcomes = []
        for waiting in self._new():
            outcome = self._decide(waiting)
            outcomes.append(outcome)
            self._answer(outcome)
        return outcomes

    def _new(self) -> Iterator[Waiting]:
        """Files that were not decided on: first those of main, then those that open pull requests add to it."""
        commit = self.hub.commit_of(self.repo)
        main = self.hub.files(self.repo, commit)
        yield from self._undecided(main, commit, None)
        there = {(file.path, file.content) for file in main}
        for request in self.hub.pull_requests(self.repo):
            commit = self.hub.commit_of(self.repo, request.ref)
            files = self.hub.files(self.repo, commit)
            for waiting in self._undecided(files, commit, request):
                if any((file.path, file.content) not in there for file in (waiting.file, *waiting.metadata)):
                    yield waiting

    def _undecided(self, files: Sequence[HubFile], commit: str, request: PullRequest | None) -> list[Waiting]:
        by_path = {file.path: file for file in files}
        found = []
        for file in files:
            match = _FILE.fullmatch(file.path)
            if match is None or not is_predictions(match[3]):
                continue
            beside = (f"{match[1]}/{match[2]}/{name}" for name in (SYSTEM, README))
            metadata = tuple(by_path[path] for path in beside if path in by_path)
            if metadata:
                found.append(Waiting(match[1], match[2], file, metadata, commit, request))
        with self.intake.database.reading() as session:
            return [each for each in found if not self._decided(session, each)]

    def _decided(self, session: Session, waiting: Waiting) -> bool:
        same = (
            InboxFile.repo == self.repo,
            InboxFile.path == waiting.file.path,
            InboxFile.content == waiting.content,
        )
        return session.scalar(select(InboxFile.id).where(*same)) is not None

    def _decide(self, waiting: Waiting) -> Outcome:
        number = waiting.pull_request.number if waiting.pull_request else None
        path = waiting.file.path
        with self.intake.database.reading() as session:
            team_id = team_of(session, waiting.team)
            missing = _not_theirs(session, waiting, team_id)
        if team_id is None or missing:
            return Outcome(path, number, "waiting", reason=missing)
        try:
            return Outcome(path, number, "taken", submission=self._take(waiting, team_id).id)
        except Unavailable:
            raise
        except OverQuota as error:
            return Outcome(path, number, "waiting", reason=f"{error.message} {error.hint}".strip())
        except IntegrityError:
            return Outcome(path, number, "waiting", reason="Another poller took it at the same moment.")
        except AqaError as error:
            reason = f"{error.message} {error.hint}".strip()
            with self.intake.database.transaction() as session:
                if not self._decided(session, waiting):
                    session.add(self._row(waiting, reason=reason))
            return Outcome(path, number, "refused", reason=reason)

    def _take(self, waiting: Waiting, team_id: int) -> Submission:
        """Through the one door; that it was taken is stored with the submission or not at all."""
        metadata = {file.path.rsplit("/", 1)[-1]: self._read(waiting, file, LARGEST) for file in waiting.metadata}
        found = read_card(metadata, waiting.system)
        if found is None:
            raise InvalidInput("Nothing says which benchmark these predictions are for.", f"Add {SYSTEM} beside them.")
        data = self._read(waiting, waiting.file, self.file_bytes)

        def finish(session: Session, submission: Submission) -> None:
            session.add(self._row(waiting, submission_id=submission.id))
            reference = Reference(self.repo, waiting.file.path, waiting.commit)
            session.add(SubmissionSource(submission_id=submission.id, reference=str(reference)))
            session.flush()

        name = waiting.file.path.rsplit("/", 1)[-1]
        return self.intake.accept(
            team_id, found.benchmark, found.card, io.BytesIO(data), name, publish=found.publish, finish=finish
        )

    def _read(self, waiting: Waiting, file: HubFile, limit: int) -> bytes:
        return self.hub.read(Reference(self.repo, file.path, waiting.commit), limit)

    def _row(self, waiting: Waiting, submission_id: str | None = None, reason: str | None = None) -> InboxFile:
        number = waiting.pull_request.number if waiting.pull_request else None
        return InboxFile(
            repo=self.repo, path=waiting.file.path, content=waiting.content, commit=waiting.commit,
            pull_request=number, submission_id=submission_id, reason=reason,
        )  # fmt: skip

    def _answer(self, outcome: Outcome) -> None:
        """Say in the pull request what was decided; that the Hub takes no comment changes nothing."""
        if not self.comments or outcome.pull_request is None or outcome.state == "waiting":
            return
        text = f"`{outcome.path}` was taken as submission `{outcome.submission}`."
        if outcome.state == "refused":
            text = f"`{outcome.path}` was refused: {outcome.reason}"
        try:
            self.hub.comment(self.repo, outcome.pull_request, text)
        except AqaError as error:
            log.warning("pull request %s got no answer: %s", outcome.pull_request, error.message)


def link(session: Session, user: str, team: Team) -> None:
    """Count a Hub user's pull requests as the team's from now on."""
    session.merge(HubAccount(user=user, team_id=team.id))


def _not_theirs(session: Session, waiting: Waiting, team_id: int | None) -> str | None:
    """Why this file may not be taken for the team it names; None if it may."""
    if team_id is None:
        return f"No team has the namespace {waiting.team!r}."
    if waiting.pull_request is None:
        return None  # whoever may write to the inbox's main branch is trusted
    account = session.get(HubAccount, waiting.pull_request.author)
    if account is None or account.team_id != team_id:
        return (
            f"The Hub user {waiting.pull_request.author!r} is not known as one of {waiting.team!r}; "
            "a maintainer can link them."
        )
    return None


def _name_all(session: Session) -> None:
    """Give every team its namespace, so that folders can name teams that never used the endpoint here."""
    nameless = select(Team.id).where(Team.id.not_in(select(NamespaceRow.team_id))).order_by(Team.id)
    for team_id in session.scalars(nameless).all():
        namespace_of(session, team_id)
