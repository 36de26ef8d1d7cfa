"""Logging of the long-running processes: what a line is about, and every secret struck out of what is written."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SECRETS = re.compile(
    r"(aqa_|hf_|whsec_)[A-Za-z0-9_-]{8,}|(?<=/hub/lfs/)[\w.-]+|(?i:(?<=bearer )\S+)|(?<=://)[^/\s@:]*:[^/\s@]+(?=@)"
)
"""Tokens, webhook secrets, tickets of uploads, and passwords in addresses."""
_subject: ContextVar[str] = ContextVar("subject", default="")


@contextmanager
def about(subject: str) -> Iterator[None]:
    """Whatever is logged inside the block carries this submission's (or run's) id."""
    token = _subject.set(subject)
    try:
        yield
    finally:
        _subject.reset(token)


class Redacting(logging.Formatter):
    """Formats as usual, tracebacks included, names the subject, and then strikes secrets out."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's text."""
        subject = _subject_of(record)
        return redact(super().format(record)) + (f" [{subject}]" if subject else "")


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, logger, message, subject and traceback where there are any."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        told = {"time": self.formatTime(record), "level": record.levelname, "logger": record.name}
        told["message"] = redact(record.getMessage())
        if subject := _subject_of(record):
            told["subject"] = subject
        if record.exc_info:
            told["traceback"] = redact(self.formatException(record.exc_info))
        return json.dumps(told, ensure_ascii=False)


def redact(text: str) -> str:
    """A text without the secrets in it."""
    return _SECRETS.sub(lambda found: f"{found[1] or ''}[secret]", text)


def set_up(level: int, *, as_json: bool = False) -> None:
    """Write the service's records of a level and above, and the libraries' warnings, to standard error."""
    logging.basicConfig(level=max(level, logging.WARNING), format=_FORMAT)
    logging.getLogger("aqa").setLevel(level)
    for handler in logging.getLogger().handlers:
        handler.setFormatter(JsonLines() if as_json else Redacting(_FORMAT))


def _subject_of(record: logging.LogRecord) -> str:
    return str(getattr(record, "subject", "") or _subject.get())
