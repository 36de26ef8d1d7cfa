"""The Hub as a source: files pinned to commits, errors told apart, patience where it asks for some."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from core import hub_errors
from core.errors import NotFound, TooLarge, Unavailable
from submissions.sources.reference import Reference

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")
_ATTEMPTS = 5
_LONGEST_PAUSE = 300.0
_SECONDS = 30.0
"""How long the Hub may be silent; the library's own client waits for ever."""
_silence: ContextVar[float] = ContextVar("_silence", default=10 * _SECONDS)
"""That of the call under way; threads that the library starts for one have the default."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file at a commit; `content` is the Hub's hash of it, `size` in bytes."""

    path: str
    content: str
    size: int


@dataclass(frozen=True, slots=True)
class PullRequest:
    """An open pull request and who opened it."""

    number: int
    author: str

    @property
    def ref(self) -> str:
        """The revision that its files stand at."""
        return f"refs/pr/{self.number}"


@dataclass
class Hub:
    """Dataset repositories of a Hub, and what it tells of models.

    `endpoint` empty means `HF_ENDPOINT` or the public Hub. Without a token, none is sent, whatever the machine has.
    Every method raises `NotFound` for what is missing or private, `Forbidden` for what is gated, and `Unavailable`
    where the Hub does not answer or still asks for patience after five tries.
    """

    endpoint: str = ""
    token: str = field(default="", repr=False)
    pause: Callable[[float], None] = time.sleep

    def commit_of(self, repo: str, revision: str = "main") -> str:
        """The commit that a revision stands for now."""
        info = self._ask(lambda: self.api.dataset_info(repo, revision=revision, timeout=_SECONDS), repo, revision)
        if not info.sha:
            raise Unavailable(f"The Hub names no commit for {repo}.", "Try again later.")
        return str(info.sha)

    def files(self, repo: str, commit: str) -> list[HubFile]:
        """All files at a commit."""

        def tree() -> list[HubFile]:
            entries = self.api.list_repo_tree(repo, repo_type="dataset", revision=commit, recursive=True)
            return [_hub_file(entry) for entry in entries if hasattr(entry, "blob_id")]

        return self._ask(tree, repo, commit)

    def file(self, reference: Reference) -> HubFile:
        """What stands at a reference."""
        repo, path, revision = reference.repo, reference.path, reference.revision
        found = self._ask(
            lambda: self.api.get_paths_info(repo, [path], repo_type="dataset", revision=revision), repo, revision
        )
        if not found or not hasattr(found[0], "blob_id"):
            raise NotFound(f"{repo} has no file {path} at {revision[:40]}.", "Check the path.")
        return _hub_file(found[0])

    def read(self, reference: Reference, limit: int) -> bytes:
        """A file's bytes. Raises `TooLarge` beyond `limit` bytes, before anything is downloaded."""
        size = self.file(reference).size
        if size > limit:
            raise TooLarge(f"{reference.path} has {size / 2**20:,.1f} MiB; the limit is {limit / 2**20:,.0f} MiB.")
        data = self._download(reference.repo, reference.path, reference.revision, "dataset", limit)
        if len(data) != size:
            raise Unavailable(f"{reference.path} arrived with {len(data):,} of {size:,} bytes.", "Try again.")
        return data

    def pull_requests(self, repo: str) -> list[PullRequest]:
        """The open pull requests, oldest first."""

        def listed() -> list[PullRequest]:
            found = self.api.get_repo_discussions(
                repo, repo_type="dataset", discussion_type="pull_request", discussion_status="open"
            )
            return [PullRequest(each.num, each.author) for each in found if each.is_pull_request]

        return sorted(self._ask(listed, repo), key=lambda each: each.number)

    def comment(self, repo: str, pull_request: int, text: str) -> None:
        """Answer in a pull request."""
        self._ask(lambda: self.api.comment_discussion(repo, pull_request, text, repo_type="dataset"), repo)

    def create(self, repo: str) -> None:
        """Make a dataset repository unless there is one."""
        self._ask(lambda: self.api.create_repo(repo, repo_type="dataset", exist_ok=True), repo)

    def commit(self, repo: str, add: dict[str, bytes], remove: Sequence[str], message: str) -> str:
        """Commit files in one step; returns the commit."""
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        def send() -> str:
            operations: list[Any] = [CommitOperationAdd(path, data) for path, data in add.items()]
            operations += [CommitOperationDelete(path) for path in remove]
            made = self.api.create_commit(repo, operations, commit_message=message, repo_type="dataset")
            return str(made.oid)

        return self._ask(send, repo, seconds=10 * _SECONDS)

    def model(self, repo: str, revision: str) -> Any:
        """What the Hub tells of a model at a revision, with the sizes of its files."""
        ask = self.api.model_info
        return self._ask(
            lambda: ask(repo, revision=revision, files_metadata=True, timeout=_SECONDS), repo, revision, "model"
        )

    def model_file(self, repo: str, commit: str, path: str, limit: int) -> bytes:
        """One small file of a model. Raises `TooLarge` beyond `limit` bytes."""
        return self._download(repo, path, commit, "model", limit)

    @property
    def api(self) -> Any:
        """The library's client."""
        from huggingface_hub import HfApi

        return HfApi(endpoint=self.endpoint.rstrip("/") or None, token=self.token or False)

    def _download(self, repo: str, path: str, revision: str, kind: str, limit: int) -> bytes:
        """A file's bytes, counted while they come.

        The library's own download waits by itself, for as long as a busy Hub likes; here somebody may be waiting.
        """
        from huggingface_hub import get_session, hf_hub_url
        from huggingface_hub.utils import build_hf_headers, hf_raise_for_status  # type: ignore[attr-defined]

        url = hf_hub_url(repo, path, repo_type=kind, revision=revision, endpoint=self.endpoint.rstrip("/") or None)
        headers = build_hf_headers(token=self.token or False) | {"Accept-Encoding": "identity"}

        def read() -> bytes:
            data = bytearray()
            with get_session().stream("GET", url, headers=headers, follow_redirects=True, timeout=_SECONDS) as answer:
                hf_raise_for_status(answer)
                for piece in answer.iter_bytes():
                    data += piece
                    if len(data) > limit:
                        raise TooLarge(f"{path} is larger than {limit / 2**20:,.0f} MiB.", "Name a smaller file.")
            return bytes(data)

        return self._ask(read, repo, revision, kind)

    def _ask(
        self, call: Callable[[], T], repo: str, revision: str = "main", kind: str = "dataset", seconds: float = 0
    ) -> T:
        """Call, and call again where the Hub asks for patience or fails."""
        for attempt in range(1, _ATTEMPTS + 1):
            _bound_client()
            outer = _silence.set(seconds or _SECONDS)
            try:
                return call()
            except Exception as error:
                wait = _patience(error, attempt)
                if wait is None or attempt == _ATTEMPTS:
                    raise hub_errors.told(error, repo, revision, kind) from error
            finally:
                _silence.reset(outer)
            self.pause(wait)
        raise AssertionError("the loop returns or raises")


def _bound_client() -> None:
    """Have the library's client ask each call how long it waits: it is one for the process, and calls differ."""
    from huggingface_hub import get_session

    hooks = get_session().event_hooks["request"]
    if _limit not in hooks:
        hooks.append(_limit)


def _limit(request: httpx.Request) -> None:
    seconds = _silence.get()
    request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), seconds)


def _hub_file(entry: Any) -> HubFile:
    return HubFile(str(entry.path), str(entry.lfs.sha256 if entry.lfs else entry.blob_id), int(entry.size))


def _patience(error: Exception, attempt: int) -> float | None:
    """Seconds to wait before the next try; None where another try would not help."""
    if hub_errors.status(error) == 429:
        from huggingface_hub.utils import parse_ratelimit_headers  # type: ignore[attr-defined]

        headers = hub_errors.response(error).headers
        known = parse_ratelimit_headers(headers)
        after = headers.get("Retry-After", "")
        asked = known.reset_in_seconds if known and known.remaining == 0 else int(after) if after.isdigit() else 0
        return min(max(float(asked), 2.0**attempt), _LONGEST_PAUSE)
    return 2.0**attempt if hub_errors.is_passing(error) else None
