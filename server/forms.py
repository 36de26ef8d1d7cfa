"""What a form says of a system, from the API or from the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    )
