"""References to files on the Hub: `hf://datasets/owner/repo/path@revision`."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from core.errors import InvalidInput
from submissions.repos.names import check_name, check_path

SCHEME = "hf://"
_EXAMPLE = "Write it like hf://datasets/owner/repo/path/predictions.jsonl@main."


@dataclass(frozen=True, slots=True)
class Reference:
    """A file of a dataset repository at a revision: a branch, a tag, a pull request's ref, or a commit."""

    repo: str
    path: str
    revision: str

    def __str__(self) -> str:
        return f"{SCHEME}datasets/{self.repo}/{self.path}@{self.revision}"


def parse(text: str) -> Reference:
    """Read a reference; the revision may also stand behind the repository's name, as the Hub's own tools write it.

    Without a revision it is `main`. Raises `InvalidInput`.
    """
    kind, _, rest = text.removeprefix(SCHEME).partition("/")
    parts = rest.split("/", 2)
    if not text.startswith(SCHEME) or kind != "datasets" or len(parts) != 3:
        raise InvalidInput(f"{text[:120]!r} is not a reference to a file of a dataset on the Hub.", _EXAMPLE)
    owner, name, path = parts
    name, _, behind_name = name.partition("@")
    if not behind_name:
        path, _, behind_path = path.rpartition("@") if "@" in path else (path, "", "")
    revision = unquote(behind_name or behind_path) or "main"
    if not revision.isprintable() or ".." in revision or len(revision) > 200:
        raise InvalidInput(f"{revision[:80]!r} is not a revision.", _EXAMPLE)
    return Reference(f"{check_name(owner)}/{check_name(name)}", check_path(path), revision)
