"""The few interfaces between rooms; each has several implementations behind a registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, Protocol

from core.records import Judgment, Measured, Pair


class Judge(Protocol):
    """Decides whether a premise supports a hypothesis."""

    key: str
    title: str
    help: str
    score_name: str
    """What its number is called where it is shown: AutoAIS for the paper's judge, else its own name."""

    @property
    def signature(self) -> str:
        """Everything its scores depend on, e.g. `judge:small@1|tmpl:aqa`; part of every cache key."""
        ...

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        """Judgments in the order of `pairs`; independent of how pairs are batched."""
        ...


class Blobs(Protocol):
    """Content-addressed bytes: the key is the sha256 of the content, in hexadecimal."""

    def put(self, stream: BinaryIO) -> str:
        """Store a stream whole or not at all; returns its key. Storing twice is harmless."""
        ...

    def open(self, key: str, start: int = 0) -> BinaryIO:
        """A readable stream of the content from a byte of it on. Raises `core.errors.NotFound`."""
        ...

    def exists(self, key: str) -> bool: ...

    def size(self, key: str) -> int:
        """Bytes. Raises `core.errors.NotFound`."""
        ...

    def delete(self, key: str) -> None:
        """Remove; removing what is not there is harmless."""
        ...

    def keys(self) -> Iterator[str]: ...

    def link(self, key: str, file_name: str) -> str | None:
        """An address that downloads the content under a name for a short while; None where there is none to give."""
        ...


class Metric(Protocol):
    """A number per question whose mean over its denominator is published; see `scorer.metrics`."""

    key: str
    title: str
    help: str
    version: str

    @property
    def rests_on(self) -> tuple[str, ...]:
        """What its number depends on besides the entry: of judge, threshold, sentences and labels."""
        ...

    def measure(self, items: Sequence[Any]) -> Measured:
        """Values over the metric's denominator, or a reason why there are none; items are those of its track."""
        ...
