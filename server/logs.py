"""Logging of the long-running processes: what a line is about, and every secret struck out of what is written."""

from __future__ import annotations

import json
import logging
import re

from core.log_context import current

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_SECRETS = re.compile(
    r"(aqa_|hf_|whsec_)[A-Za-z0-9_-]{8,}|(?<=/hub/lfs/)[\w.-]+|(?i:(?<=bearer )\S+)|(?<=://)[^/\s@:]*:[^/\s@]+(?=@)"
)
"""Tokens, webhook secrets, tickets of uploads, and passwords in addresses."""
FIELDS = ("method", "path", "status", "seconds")
"""What a line about a request holds besides, each under its own name."""
_SUBMISSION = re.compile(r"^([0-9a-f]{12})[:@]")
"""A job's subject that is a part of a submission, or the submission in a rescore."""


class Redacting(logging.Formatter):
    """Formats as usual, tracebacks included, strikes secrets out, and names the subject and the team."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's text."""
        subject, team = _about(record)
        told = " ".join(part for part in (subject, f"team {team}" if team is not None else "") if part)
        return redact(super().format(record)) + (f" [{told}]" if told else "")


class JsonLines(logging.Formatter):
    """One JSON object a record: time, level, logger, message; subject, team and traceback where there are any."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        told: dict[str, object] = {"time": self.formatTime(record), "level": record.levelname, "logger": record.name}
        told["message"] = redact(record.getMessage())
        subject, team = _about(record)
        if subject:
            told["subject"] = subject
        if team is not None:
            told["team"] = team
        for name in FIELDS:
            value = getattr(record, name, None)
            if value is not None:
                told[name] = redact(value) if isinstance(value, str) else value
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


def _about(record: logging.LogRecord) -> tuple[str, int | None]:
    """The submission (or run, or other subject) and the team: the line's own, else those of what is being done."""
    doing = current()
    subject, team = str(getattr(record, "subject", "") or doing.subject), getattr(record, "team", doing.team)
    found = _SUBMISSION.match(subject)
    return (found[1] if found else subject), team
