"""A reference as a file at hand: pinned to a commit first, so that what is recorded is what was read."""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from typing import BinaryIO

from submissions.sources.hub import Hub
from submissions.sources.reference import Reference, parse


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file's bytes and the reference to exactly them."""

    reference: Reference
    data: bytes

    @property
    def name(self) -> str:
        """The file's name without its folders."""
        return self.reference.path.rsplit("/", 1)[-1]

    @property
    def stream(self) -> BinaryIO:
        """The bytes as a fresh stream."""
        return io.BytesIO(self.data)


def fetch(hub: Hub, text: str, limit: int) -> Fetched:
    """Read what a reference stands for now, at most `limit` bytes. Raises as `parse` and `Hub`."""
    asked = parse(text)
    pinned = replace(asked, revision=hub.commit_of(asked.repo, asked.revision))
    return Fetched(pinned, hub.read(pinned, limit))
