"""Attribution of revised passages (RARR §2.1): by a judge (Attr_auto) and by people (Attr_AIS), after and before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from core.records import Measured
from scorer.editing.items import EditItem, Version
from scorer.judges.verdict import near
from submissions.editing.labels import Verdict, left_out_in_words


def attributed(item: EditItem, version: Version) -> float:
    """Attr_auto of one text: mean over its sentences of the highest p that a snippet gives; 0 without sentences."""
    if not version.sentences or not item.evidence:
        return 0.0
    return fmean(sentence.p for sentence in version.sentences)


class AttrAuto:
    """Denominator: all passages; a missing or empty revision and an empty report count as 0."""

    key = "attr_auto"
    title = "Attr auto"
    help = "How far the judge finds the revised sentences supported by the report: mean over sentences of the best p."
    version = "1.0"
    rests_on = ("judge", "sentences")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """One value in [0, 1] per passage; `details` counts why nothing was judged, sentences, and remarks."""
        counts: Counter[str] = Counter(reason for item in items if (reason := item.reason) is not None)
        for item in items:
            counts["sentences"] += len(item.after.sentences)
            for sentence in item.after.sentences if item.evidence else ():
                counts["near_threshold"] += bool(near(sentence.p))
                counts.update(flag for flag in sentence.flags if flag not in near(sentence.p))
        values = [attributed(item, item.after) for item in items]
        return Measured([item.question.position for item in items], values, details={"counts": dict(counts)})


class AttrAutoBefore:
    """The original text against the same report: what the evidence alone amounts to."""

    key = "attr_auto_before"
    title = "Attr auto before"
    help = "As Attr auto, for the passage before editing with the report that the system found."
    version = "1.0"
    rests_on = ("judge", "sentences")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """One value in [0, 1] per passage; a passage without a revision has no report, so 0."""
        return Measured([i.question.position for i in items], [attributed(i, i.before) for i in items])


class AttrAis:
    """Denominator: the rated passages all of whose sentences have a label, or that need none."""

    key = "attr_ais"
    title = "Attr AIS"
    help = "Share of a revised passage's sentences that a majority of human raters finds supported by its report."
    version = "1.0"
    rests_on = ("sentences", "labels")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """One value in [0, 1] per rated passage whose sentences are all labelled.

        `details` has coverage, the bounds if all unrated were negative or positive, the votes behind the labels, and
        `left_out`, how many labels each other splitter numbered, where one did.
        """
        return _human(items, [item.after for item in items], "revisions")


class AttrAisBefore:
    """The same of the original text beside the same report."""

    key = "attr_ais_before"
    title = "Attr AIS before"
    help = "As Attr AIS, for the passage before editing with the report that the system found."
    version = "1.0"
    rests_on = ("sentences", "labels")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """As `AttrAis.measure`."""
        return _human(items, [item.before for item in items], "passages before editing")


def _human(items: Sequence[EditItem], versions: Sequence[Version], what: str) -> Measured:
    due = [(item, version) for item, version in zip(items, versions, strict=True) if item.question.rated]
    values: dict[int, float] = {}
    used: list[Verdict] = []
    for item, version in due:
        label = version.label.sentences if version.label else {}
        told = [label.get(number) for number in range(1, len(version.sentences) + 1)]
        if not version.sentences or not item.evidence:
            values[item.question.position] = 0.0
        elif all(each is not None for each in told):
            known = [each for each in told if each is not None]
            used += known
            values[item.question.position] = fmean(each.yes for each in known)
    details = coverage(len(due), values) | votes(used)
    left_out: Counter[str] = Counter()
    for _, version in due:
        left_out.update(version.label.left_out if version.label else {})
    if left_out:
        details["left_out"] = dict(left_out)
    if not due:
        return Measured([], [], "The benchmark has no passages for humans to rate.", details)
    if not used and len(values) < len(due):
        reason = f"No human has rated all sentences of any of this system's {what} yet."
        return Measured([], [], " ".join([reason, *left_out_in_words(left_out)]), details)
    return Measured(list(values), list(values.values()), details=details)


def coverage(due: int, values: dict[int, float]) -> dict[str, Any]:
    """How many of the passages to be rated count, and where the mean lies if the others were all 0 or all 1."""
    total = sum(values.values())
    return {
        "due": due,
        "rated": len(values),
        "coverage": len(values) / due if due else None,
        "bounds": [total / due, (total + due - len(values)) / due] if due else None,
    }


def votes(used: Sequence[Verdict]) -> dict[str, Any]:
    """The votes behind labels: how many, ties, labels that lack raters, and whether any was simulated."""
    return {
        "labelled": len(used),
        "votes": sum(each.raters for each in used),
        "ties": sum(2 * each.positive == each.raters for each in used),
        "incomplete": sum(not each.complete for each in used),
        "synthetic": any(each.synthetic for each in used),
    }
