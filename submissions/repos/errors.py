"""What can be wrong with a request to a repository; the names are those that Hub clients know."""

from __future__ import annotations

from core.errors import AqaError, NotFound


class RepoNotFound(NotFound):
    """There is no such repository, or it is not the asker's to see."""

    code = "repo_not_found"


class RevisionNotFound(NotFound):
    """The repository has no such revision that the asker may see."""

    code = "revision_not_found"


class EntryNotFound(NotFound):
    """The revision has no such file."""

    code = "entry_not_found"


class StaleParent(AqaError):
    """Somebody committed in between."""

    code = "stale_parent"
    status = 412
