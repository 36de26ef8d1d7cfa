"""Logging of the long-running processes, with every secret struck out of what is written."""

from __future__ import annotations

import logging
import re

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SECRETS = re.compile(
    r"(aqa_|hf_|whsec_)[A-Za-z0-9_-]{8,}|(?<=/hub/lfs/)[\w.-]+|(?i:(?<=bearer )\S+)|(?<=://)[^/\s@:]+:[^/\s@]+(?=@)"
)
"""Tokens, webhook secrets, tickets of uploads, and passwords in addresses."""


class Redacting(logging.Formatter):
    """Formats as usual, tracebacks included, and then strikes secrets out."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's text."""
        return redact(super().format(record))


def redact(text: str) -> str:
    """A text without the secrets in it."""
    return _SECRETS.sub(lambda found: f"{found[1] or ''}[secret]", text)


def set_up(level: int) -> None:
    """Write log records of a level and above to standard error."""
    logging.basicConfig(level=level, format=_FORMAT)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(Redacting(_FORMAT))
