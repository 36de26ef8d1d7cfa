"""Preservation of the original (RARR §2.2): by edit distance (Pres_Lev), by people (Pres_intent), and both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.records import Measured
from scorer.editing.attribution import coverage, votes
from scorer.editing.items import ABSENT, EditItem
from submissions.editing.labels import Verdict


def preserved(original: str, revised: str) -> float:
    """Pres_Lev = max(1 - Lev(x, y) / len(x), 0), with Levenshtein's distance over characters; x must not be empty."""
    from rapidfuzz.distance import Levenshtein

    # Beyond len(x) edits the value is 0, so the distance need not be known.
    distance = Levenshtein.distance(original, revised, score_cutoff=len(original))
    return max(1 - distance / len(original), 0.0)


class PresLev:
    """Denominator: all passages; a missing or empty revision preserves nothing."""

    key = "pres_lev"
    title = "Pres Lev"
    help = "How much of the original text stays: 1 minus the edit distance over its length, at least 0."
    version = "1.0"
    rests_on: tuple[str, ...] = ()

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """One value in [0, 1] per passage; `details` counts unchanged and absent revisions."""
        counts: Counter[str] = Counter()
        for item in items:
            counts["unchanged"] += item.unchanged
            counts[ABSENT] += item.reason == ABSENT
        values = [lev(item) for item in items]
        return Measured([item.question.position for item in items], values, details={"counts": dict(counts)})


class PresIntent:
    """Denominator: the rated passages with a label, or that need none."""

    key = "pres_intent"
    title = "Pres intent"
    help = "Share of revisions that keep the original's intent, by a majority of human raters."
    version = "1.0"
    rests_on = ("labels",)

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """0/1 per rated passage; an absent revision is 0 and an unchanged one 1 without a rater."""
        return _intent(items, weighted=False)


class PresComb:
    """Pres_comb = Pres_intent · Pres_Lev, on the passages where the intent is known."""

    key = "pres_comb"
    title = "Pres comb"
    help = "Pres Lev where people find the intent kept, else 0."
    version = "1.0"
    rests_on = ("labels",)

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """One value in [0, 1] per rated passage whose intent is known."""
        return _intent(items, weighted=True)


def lev(item: EditItem) -> float:
    """Pres_Lev of one passage."""
    if item.revision is None or not item.revision.text.strip():
        return 0.0
    return preserved(item.question.text, item.revision.text)


def _intent(items: Sequence[EditItem], *, weighted: bool) -> Measured:
    due = [item for item in items if item.question.rated]
    values: dict[int, float] = {}
    used: list[Verdict] = []
    for item in due:
        verdict = item.after.label.intent if item.after.label else None
        if item.reason == ABSENT:
            kept = 0.0
        elif item.unchanged:
            kept = 1.0
        elif verdict is not None:
            used.append(verdict)
            kept = float(verdict.yes)
        else:
            continue
        values[item.question.position] = kept * lev(item) if weighted else kept
    details = coverage(len(due), values) | votes(used)
    if not due:
        return Measured([], [], "The benchmark has no passages for humans to rate.", details)
    if not used and len(values) < len(due):
        return Measured([], [], "No human has rated the intent of this system's revisions yet.", details)
    return Measured(list(values), list(values.values()), details=details)
