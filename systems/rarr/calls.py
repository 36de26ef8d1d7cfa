"""Items worked on together: each is a generator that asks for calls, and calls of one kind are made in one batch.

An item's steps read like a program for that item alone; nothing in them depends on which other items are at work, so
batches change how long it takes and not what comes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from core.errors import AqaError, NotFound, Unavailable

T = TypeVar("T")
PATIENCE = 20
"""After so many calls in a row that met nobody, nobody is there: the work stops, and can go on later."""
_NOBODY = (Unavailable, NotFound)


@dataclass(frozen=True, slots=True)
class Call:
    """`many` turns `things` into as many results, each on its own; calls with an equal `key` may share a batch."""

    key: Hashable
    many: Callable[[Sequence[Any]], Sequence[Any]]
    things: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """Stands where a result would: the call was refused, or failed after all retries."""

    reason: str


Steps = Generator[Call, list[Any], T]
"""An item's work: yields calls, is sent the results of each (or `Failed` in their place), returns what it came to."""


def together(items: Sequence[Steps[T]]) -> list[T]:
    """What each item's work came to, in their order.

    The kind of call that most things wait for is made next, for all items that wait for it. Raises the call's error
    once `PATIENCE` calls in a row were `Unavailable` or `NotFound`.
    """
    waiting: dict[int, Call] = {}
    done: dict[int, T] = {}

    def go_on(at: int, results: list[Any] | None) -> None:
        try:
            waiting[at] = items[at].send(results)  # type: ignore[arg-type]  # a generator starts with None
        except StopIteration as ended:
            done[at] = ended.value

    patient = _Patience()
    for at in range(len(items)):
        go_on(at, None)
    while waiting:
        sizes = Counter[Hashable]()
        for call in waiting.values():
            sizes[call.key] += len(call.things)
        key = max(sizes, key=sizes.__getitem__)  # of equals, that of the first item
        chosen = {at: waiting.pop(at) for at in sorted(waiting) if waiting[at].key == key}
        many = next(iter(chosen.values())).many
        results = iter(patient.make(many, [thing for call in chosen.values() for thing in call.things]))
        for at, call in chosen.items():
            go_on(at, [next(results) for _ in call.things])
    return [done[at] for at in range(len(items))]


class _Patience:
    """Makes calls; where one of a batch fails, each is made alone, so that it fails alone."""

    def __init__(self) -> None:
        self._missed = 0

    def make(self, many: Callable[[Sequence[Any]], Sequence[Any]], things: Sequence[Any]) -> list[Any]:
        if not things:
            return []
        try:
            results = list(many(things))
        except AqaError as error:
            if len(things) > 1:
                return [each for thing in things for each in self.make(many, [thing])]
            self._missed = self._missed + 1 if isinstance(error, _NOBODY) else 0
            if self._missed >= PATIENCE:
                raise
            return [Failed(error.message)]
        self._missed = 0
        return results
