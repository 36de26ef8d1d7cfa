"""The form in which the sentences of a text are judged."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import InvalidInput
from core.sentences import splitter

PLAIN, CONTEXT = "plain", "context"
FORMS: dict[str, str] = {
    PLAIN: "Each sentence as it stands.",
    CONTEXT: "Each sentence after the turns before the passage.",
}
_NOT_MADE = "decontextualised"


def checked(form: str) -> str:
    """The sentence form of that name. Raises `InvalidInput` for one that is not made here."""
    if form in FORMS:
        return form
    if form == _NOT_MADE:
        raise InvalidInput(
            "Sentences are not decontextualised here: that takes a model of its own, and none is pinned.",
            f"Choose one of: {', '.join(FORMS)}.",
        )
    raise InvalidInput(f"There is no sentence form {form!r}.", f"Choose one of: {', '.join(FORMS)}.")


def signature(form: str) -> str:
    """The part of a score's signature that says how sentences were made."""
    return f"sent:{form}|split:{splitter()}"


def form_of(signature: str) -> str:
    """The sentence form that a signature names; the plain one where it names none."""
    named = (part.removeprefix("sent:") for part in signature.split("|") if part.startswith("sent:"))
    return next(named, PLAIN)


def statement(form: str, context: Sequence[str], sentence: str) -> str:
    """What a judge reads as the hypothesis for a sentence of a passage with this context."""
    return " ".join([*context, sentence]) if form == CONTEXT else sentence
