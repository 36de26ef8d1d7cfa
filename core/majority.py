"""The rule that turns raters' votes into a label."""

from __future__ import annotations


def strict_majority(positive: int, raters: int) -> bool:
    """True if more than half of the raters are positive: a tie is not (AQA §3.1). Raises `ValueError` for no raters."""
    if raters < 1 or not 0 <= positive <= raters:
        raise ValueError(f"{positive} of {raters} raters is no vote")
    return 2 * positive > raters
