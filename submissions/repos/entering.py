"""Which commits are submissions: those that bring predictions where the repository says what they are for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from core.errors import InvalidInput
from core.ports import Blobs
from core.tables import RepoCommit, RepoEntry, Submission
from submissions.repos.card import LARGEST, README, SYSTEM
from submissions.repos.store import Change

SCORES, EXAMPLES, REPORT = OUTPUTS = ("scores.json", "examples.parquet", "report.json")
"""Files that the service writes."""
_PREDICTIONS = re.compile(r"predictions\.[A-Za-z0-9]{1,10}(\.gz)?")
Tree = Mapping[str, RepoEntry]


@dataclass(frozen=True, slots=True)
class Brought:
    """Predictions that a commit brought, or that it brought the metadata for."""

    paths: tuple[str, ...]

    @property
    def path(self) -> str:
        """The one file of predictions. Raises `InvalidInput` where there are several."""
        if len(self.paths) > 1:
            raise InvalidInput(
                f"There are several files of predictions: {', '.join(self.paths)}.",
                "Keep one; delete the others in the same commit.",
            )
        return self.paths[0]


def is_predictions(path: str) -> bool:
    """True for the name of a file of predictions."""
    return _PREDICTIONS.fullmatch(path) is not None


def brought(session: Session, repo_id: int, before: Tree, after: Tree) -> Brought | None:
    """What the step from one tree to the next brings in; None where it brings nothing to score."""
    there = [path for path in after if is_predictions(path)]
    changed = [path for path in there if _changed(path, before, after)]
    if changed:
        return Brought(tuple(changed))
    described = any(path in after and _changed(path, before, after) for path in (SYSTEM, README))
    blobs = {after[path].blob for path in there}
    if described and there and not _taken(session, repo_id, blobs):
        return Brought(tuple(there))
    return None


def check_reserved(before: Tree, changes: Iterable[Change]) -> None:
    """Raise `InvalidInput` for a change to a file that only the service writes; sending one back as it is is fine."""
    for change in changes:
        same = change.content and change.path in before and before[change.path].blob == change.content.blob
        if change.path in OUTPUTS and not same:
            raise InvalidInput(f"{change.path} is written by the service.", "Leave it out of the commit.")


def metadata_files(tree: Tree, blobs: Blobs) -> dict[str, bytes]:
    """The files that metadata is read from, each no further than a byte above the most that is read."""
    found = {}
    for path in (SYSTEM, README):
        if path in tree:
            with blobs.open(tree[path].blob) as stream:
                found[path] = stream.read(LARGEST + 1)
    return found


def _changed(path: str, before: Tree, after: Tree) -> bool:
    return path not in before or before[path].blob != after[path].blob


def _taken(session: Session, repo_id: int, blobs: Collection[str]) -> bool:
    """True if one of these became a submission from this repository."""
    found = (
        select(Submission.id)
        .join(RepoCommit, RepoCommit.submission_id == Submission.id)
        .where(RepoCommit.repo_id == repo_id, Submission.file_blob.in_(blobs))
    )
    return session.scalar(found.limit(1)) is not None
