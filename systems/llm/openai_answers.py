"""What an endpoint's answer says, read tolerantly: endpoints that call themselves compatible leave out and misspell."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

_SHOWN = 120
_LARGEST = 2**53


class NoAnswer(ValueError):
    """An answer that holds no text; the message says what came instead."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A text, why it ended, and what the endpoint counted: 0 tokens and no cost where it counted nothing."""

    text: str
    finish: str
    prompt_tokens: int
    new_tokens: int
    cost: float | None


def read(data: bytes, *, chat: bool) -> Answer:
    """The first choice of an answer. Raises `NoAnswer` for whatever holds none."""
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        raise NoAnswer(f"not JSON: {_shown(data)}") from None
    error = told.get("error") if isinstance(told, dict) else None
    if error:
        raise NoAnswer(f"an error: {_shown(json.dumps(error).encode())}")
    choices = told.get("choices") if isinstance(told, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    if not isinstance(choice, dict):
        raise NoAnswer(f"no choice: {_shown(data)}")
    message = choice.get("message") if chat else {"content": choice.get("text")}
    if not isinstance(message, dict):
        raise NoAnswer(f"no message: {_shown(data)}")
    given = told.get("usage")
    usage: dict[str, Any] = given if isinstance(given, dict) else {}
    finish, cost = choice.get("finish_reason"), _number(usage.get("cost"))
    return Answer(
        _text(message.get("content"), data),
        finish[:_SHOWN] if isinstance(finish, str) and finish else "stop",
        int(_number(usage.get("prompt_tokens")) or 0),
        int(_number(usage.get("completion_tokens")) or 0),
        cost,
    )


def _text(content: Any, data: bytes) -> str:
    """A text, or the texts of a list of parts; nothing where a filter or an end token left none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, dict) for part in content):
        return "".join(str(part["text"]) for part in content if isinstance(part.get("text"), str))
    raise NoAnswer(f"no text: {_shown(data)}")


def _number(value: Any) -> float | None:
    """A number that is not negative and that anybody could mean; None for all else, as NaN and texts."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST
    return float(value) if known else None


def _shown(data: bytes) -> str:
    text = " ".join(data[: 4 * _SHOWN].decode("utf-8", "replace").split())
    return repr(text[:_SHOWN] + ("…" if len(text) > _SHOWN else "")) if text else "nothing at all"
