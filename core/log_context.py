"""What the present request or job is about, so that every line logged meanwhile can say so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class About:
    """A submission's id (or a run's, or a job's subject), and the team that asks or whose it is."""

    subject: str = ""
    team: int | None = None


_NOTHING = About()
_about: ContextVar[About] = ContextVar("about", default=_NOTHING)


@contextmanager
def about(subject: str, team: int | None = None) -> Iterator[None]:
    """Whatever is logged inside the block is about this."""
    token = _about.set(About(subject, team))
    try:
        yield
    finally:
        _about.reset(token)


def begin(subject: str = "", team: int | None = None) -> None:
    """The same until it is called again: for requests, which begin and end in different functions."""
    _about.set(About(subject, team))


def note(subject: str) -> None:
    """The request or job turned out to be about this: a submission that it made."""
    _about.set(replace(_about.get(), subject=subject))


def current() -> About:
    """What is being done now."""
    return _about.get()
