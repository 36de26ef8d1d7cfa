"""What a form says of a system, from the API or from the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.errors import InvalidInput
from submissions.intake import SystemCard


def card_of(sent: Mapping[str, Any]) -> SystemCard:
    """The card in a submission's fields; links may be separate values, or stand in one parted by blanks or lines."""
    return SystemCard(
        sent["system"].strip(),
        sent["architecture"],
        sent["supervision"].strip(),
        sent["description"].strip(),
        tuple(link for value in sent["links"] for link in value.split()),
        sent["uses_autoais"],
        _size(sent["size"]),
    )


def _size(given: Any) -> float | None:
    """Billions of parameters: a number, a form's text, or nothing. Raises `InvalidInput`."""
    if given is None or (isinstance(given, str) and not given.strip()):
        return None
    try:
        return float(given)
    except ValueError:
        raise InvalidInput(f"{given[:20]!r} is no size.", "Give billions of parameters, such as 0.25 or 11.") from None
