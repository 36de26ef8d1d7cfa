"""Which columns a file has, and which of them are wanted under which name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from submissions.formats.findings import Findings, excerpt

_SHOWN = 20


class Columns:
    """Maps names as found to names as wanted; blanks around a name and its case do not matter.

    With `wanted` None every column is kept under its own name. In JSON the columns `nested` may hold lists and
    objects, which become JSON text, as other kinds of file hold it.
    """

    def __init__(self, wanted: Sequence[str] | None, nested: Sequence[str] = ()) -> None:
        self._wanted = wanted
        self.nested = frozenset(nested)
        self.kept: dict[str, str | None] = {}
        """Name as found, in the file's order → name as wanted, or None for a column that is not kept."""

    def add(self, found: str) -> str | None:
        """Note a column; returns the name to keep it under, or None."""
        if found not in self.kept:
            self.kept[found] = self._target(found)
        return self.kept[found]

    @property
    def header(self) -> tuple[str, ...]:
        """All names as found."""
        return tuple(self.kept)

    def check(self, findings: Findings) -> None:
        """Report two columns that mean the same, renamed columns, and columns that are not used."""
        meanings = Counter(target for target in self.kept.values() if target is not None)
        for target in (target for target, times in meanings.items() if times > 1):
            names = listed([found for found, kept in self.kept.items() if kept == target])
            findings.problem("wrong_header", f"More than one column means “{target}”: {names}. Keep one of them.")
        renamed = [found for found, target in self.kept.items() if target not in (None, found)]
        if renamed:
            findings.note(f"Column names were read without regard to case and blanks: {listed(renamed)}.")
        unused = [found for found, target in self.kept.items() if target is None]
        if unused:
            findings.note(f"Columns not read (the stored file keeps them): {listed(unused)}.")

    def _target(self, found: str) -> str | None:
        if self._wanted is None or found in self._wanted:
            return found
        folded = found.strip().casefold()
        return folded if folded in self._wanted else None


def listed(names: Sequence[str]) -> str:
    """Names for a sentence, the first twenty of them."""
    shown = ", ".join(f"“{excerpt(name)}”" if name.strip() else "(no name)" for name in names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown or "none"
