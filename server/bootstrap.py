"""The one place where the parts are put together; tests build their own parts the same way."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property

from core.benchmark import Benchmarks
from core.blobs import open_blobs
from core.database import Database, Pool
from core.ports import Blobs, Judge
from core.queue import Announcement, Queue
from core.settings import Settings
from leaderboard.board_json import BoardJson
from leaderboard.cache import Boards
from leaderboard.differences import Differences
from scorer import judges
from scorer.editing import sentences
from scorer.evaluate import Scorer
from scorer.statistics.resamples import ResampleStore
from server.announcing import Announcer
from submissions.intake import Intake
from submissions.ratings import Assignments, Raters, Ratings, Sheets


@dataclass
class Services:
    """Everything the doors and the worker use."""

    settings: Settings
    database: Database
    blobs: Blobs
    benchmarks: Benchmarks
    queue: Queue
    intake: Intake
    wake: threading.Event = field(default_factory=threading.Event)
    """Set when a job was announced, so that an embedded worker need not wait for its next look."""
    _other: tuple[str, Scorer] | None = None

    @cached_property
    def scorer(self) -> Scorer:
        """The scorer under the configured judge; loading the judge waits until it is needed."""
        return self.scorer_with(judges.load(self.settings.judge))

    @cached_property
    def released_scorer(self) -> Scorer:
        """The scorer under the paper's released judgments."""
        return self.scorer_with(judges.load("released"))

    def scorer_for(self, spec: str) -> Scorer:
        """The scorer under the judge of a spec; besides the two above, the last one is kept."""
        if spec == self.settings.judge:
            return self.scorer
        if spec == self.released_scorer.judge.key:
            return self.released_scorer
        if self._other is None or self._other[0] != spec:
            self._other = None  # first let go of the one before: two models may not fit
            self._other = (spec, self.scorer_with(judges.load(spec)))
        return self._other[1]

    @cached_property
    def ratings(self) -> Ratings:
        """The door for human ratings."""
        return Ratings(self.database, self.benchmarks, self.queue, self.settings)

    @cached_property
    def raters(self) -> Raters:
        """Which raters count."""
        return Raters(self.database, self.benchmarks, self.queue)

    @cached_property
    def sheets(self) -> Sheets:
        """Rating sheets."""
        return Sheets(self.database, self.benchmarks)

    @cached_property
    def assignments(self) -> Assignments:
        """Raters at work."""
        return Assignments(self.database, self.benchmarks, self.queue)

    @cached_property
    def board_json(self) -> BoardJson:
        """The boards as the API gives them."""
        return BoardJson(self.database, Boards(self.database))

    @cached_property
    def differences(self) -> Differences:
        """What scoring anew changed, kept as long as the process lives."""
        return Differences(ResampleStore())

    def scorer_with(self, judge: Judge) -> Scorer:
        """A scorer under another judge."""
        chosen = self.settings
        return Scorer(
            self.database,
            self.benchmarks,
            judge,
            ResampleStore(),
            chosen.bootstrap_resamples,
            chosen.bootstrap_seed,
            chosen.judge_chunk,
            chosen.sentence_form,
        )


def build(settings: Settings) -> Services:
    """Wire the services; touches neither the network nor the database. Raises `InvalidInput` for a bad setting."""
    sentences.checked(settings.sentence_form)
    settings.data_path.mkdir(parents=True, exist_ok=True)
    database = Database(settings.resolved_database_url, Pool.from_settings(settings))
    blobs = open_blobs(settings.blobs, settings.data_path / "blobs", settings.s3_endpoint, settings.s3_public_endpoint)
    benchmarks = Benchmarks(database, settings.data_path)
    wake = threading.Event()
    announcer = Announcer(settings.broker_url) if settings.broker_url else None

    def announce(announcement: Announcement) -> None:
        wake.set()
        if announcer is not None:
            announcer(announcement)

    queue = Queue(
        database,
        lease_seconds=settings.lease_seconds,
        attempts=settings.job_attempts,
        announce=announce,
    )
    intake = Intake(database, benchmarks, blobs, queue, settings)
    return Services(settings, database, blobs, benchmarks, queue, intake, wake)
