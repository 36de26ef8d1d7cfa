"""What p amounts to: the threshold of the decision, and the remarks that every judge makes alike."""

from __future__ import annotations

THRESHOLD = 0.5
NEAR = 0.02
"""p this close to the threshold could fall otherwise in another precision."""


def label(p: float) -> str:
    """`1` for supported, `0` for not, as the paper's judge prints them."""
    return "1" if p >= THRESHOLD else "0"


def near(p: float) -> tuple[str, ...]:
    """The flag of a p near the threshold."""
    return ("near-threshold",) * (abs(p - THRESHOLD) <= NEAR)


def flags(p: float, premise_cut: bool) -> tuple[str, ...]:
    """Remarks on a row: p near the threshold; a premise that was cut."""
    return near(p) + ("premise-cut",) * premise_cut
