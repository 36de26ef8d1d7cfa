"""Collects what reading a file finds: counts stay complete, places are capped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from core.records import Place, Report

MAX_PLACES = 1_000
_EXCERPT = 80
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029]")


class BadFile(Exception):
    """Reading cannot go on; carries the one thing to report."""

    def __init__(self, kind: str, message: str, row: int | None = None, excerpt: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.row = row
        self.excerpt = excerpt


class Findings:
    """Problems (each refuses the file), warnings and notes, in the order they were found."""

    def __init__(self, counts: dict[str, int] | None = None, notes: Iterable[str] = ()) -> None:
        self.counts: Counter[str] = Counter(counts or {})
        self.notes: list[str] = list(notes)
        self._problems: dict[str, list[Place]] = {}
        self._warnings: dict[str, list[Place]] = {}

    @classmethod
    def resumed(cls, report: Report, counts: Iterable[str]) -> Findings:
        """Go on from a report whose places are all problems, with these counts at least."""
        found = cls(dict.fromkeys(counts, 0) | report.counts, report.notes)
        for place in report.places:
            found._problems.setdefault(place.kind, []).append(place)
        return found

    @property
    def refused(self) -> bool:
        """True once a problem was found."""
        return bool(self._problems)

    def problem(self, kind: str, message: str, row: int | None = None, excerpt: str = "") -> None:
        """Count something that refuses the file whole."""
        self._add(self._problems, Place(row, kind, message, excerpt))

    def warn(self, kind: str, message: str, row: int | None = None, excerpt: str = "") -> None:
        """Count something that a person should look at and that does not refuse the file."""
        self._add(self._warnings, Place(row, kind, message, excerpt))

    def bad_file(self, error: BadFile) -> None:
        """Count what stopped the reading."""
        self.problem(error.kind, error.message, error.row, error.excerpt)

    def note(self, text: str) -> None:
        """Say something about the file as a whole."""
        self.notes.append(text)

    def report(self) -> Report:
        """The report; problems come first where there are more places than fit."""
        fatal = tuple(self._sentence(kind, places[0]) for kind, places in self._problems.items())
        places = _share(list(self._problems.values()), MAX_PLACES)
        warned = _share(list(self._warnings.values()), MAX_PLACES - len(places))
        # What no row of the file stands for, such as a question that it leaves out, would bury the rows.
        places += sorted(warned, key=lambda place: place.row is None)
        return Report(dict(self.counts), tuple(places), fatal, tuple(self.notes))

    def early_report(self) -> Report:
        """The report where rows were not looked at: what nobody counted is left out, rather than said to be 0."""
        report = self.report()
        return replace(report, counts={kind: n for kind, n in report.counts.items() if n or kind == "rows"})

    def _add(self, places: dict[str, list[Place]], place: Place) -> None:
        self.counts[place.kind] += 1
        kept = places.setdefault(place.kind, [])
        if len(kept) < MAX_PLACES:
            kept.append(place)

    def _sentence(self, kind: str, first: Place) -> str:
        more = self.counts[kind] - 1
        where = f"Row {first.row}: " if first.row is not None else ""
        tail = f" The same kind of problem was found in {more:,} more place{'s' * (more > 1)}." if more else ""
        return where + first.message + tail


def _share(groups: list[list[Place]], room: int) -> list[Place]:
    """At most `room` places, with a fair part for each group; small groups leave theirs to the others."""
    taken: dict[int, int] = {}
    for left, index in enumerate(sorted(range(len(groups)), key=lambda i: len(groups[i]))):
        taken[index] = min(len(groups[index]), (room - sum(taken.values())) // (len(groups) - left))
    return [place for index, group in enumerate(groups) for place in group[: taken[index]]]


def excerpt(text: str) -> str:
    """The first characters of a text, with what cannot be printed or encoded written as an escape."""
    first = text.rstrip("\r\n")[: _EXCERPT + 1]
    shown = _UNPRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", first[:_EXCERPT])
    return shown + "…" if len(first) > _EXCERPT else shown
