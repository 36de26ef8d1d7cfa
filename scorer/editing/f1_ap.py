"""F1_AP (RARR §2.3): the harmonic mean of attribution and preservation, of the two means over passages."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from core.ports import Metric
from core.records import Measured
from scorer.editing.attribution import AttrAis, AttrAuto
from scorer.editing.items import EditItem
from scorer.editing.preservation import PresComb, PresLev
from scorer.statistics.harmonic import harmonic
from submissions.editing.labels import left_out_in_words


class F1ApAuto:
    """Needs no people; denominator: all passages."""

    key = "f1_ap_auto"
    title = "F1 AP auto"
    help = "Harmonic mean of the system's Attr auto and Pres Lev."
    version = "1.0"
    rests_on = ("judge", "sentences")
    harmonic_of = ("attr_auto", "pres_lev")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """Values are the harmonic means per passage, parts the two components; see `_measure`."""
        return _measure(items, AttrAuto(), PresLev())


class F1Ap:
    """Needs people; denominator: the rated passages where both the sentences and the intent are labelled."""

    key = "f1_ap"
    title = "F1 AP"
    help = "Harmonic mean of the system's Attr AIS and Pres comb, both on the passages where people rated both."
    version = "1.0"
    rests_on = ("sentences", "labels")
    harmonic_of = ("attr_ais", "pres_comb")

    def measure(self, items: Sequence[EditItem]) -> Measured:
        """Values are the harmonic means per passage, parts the two components; see `_measure`."""
        return _measure(items, AttrAis(), PresComb())


def _measure(items: Sequence[EditItem], attribution: Metric, preservation: Metric) -> Measured:
    """On the passages that both components know; undefined where either is, for its reason."""
    found = [metric.measure(items) for metric in (attribution, preservation)]
    known: list[dict[int, float]] = [dict(zip(each.positions, each.values, strict=True)) for each in found]
    both = sorted(known[0].keys() & known[1].keys())
    pairs = [(known[0][at], known[1][at]) for at in both]
    per_item = [harmonic(*pair) for pair in pairs]
    kept = ("synthetic", "left_out")
    details: dict[str, Any] = {key: v for each in found for key, v in each.details.items() if key in kept and v}
    due = found[0].details.get("due")
    if due:
        details |= {"due": due, "rated": len(both), "coverage": len(both) / due}
    reason = found[0].reason or found[1].reason
    if reason is None and not both:
        told = left_out_in_words(details.get("left_out", {}))
        reason = " ".join(["There is no passage whose sentences and intent are both rated.", *told])
    if reason is not None:
        return Measured([], [], reason, details)
    means = {metric.key: fmean(pair[at] for pair in pairs) for at, metric in enumerate((attribution, preservation))}
    details |= {"parts": means, "mean_of_passages": fmean(per_item)}
    return Measured(both, per_item, None, details, ([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
