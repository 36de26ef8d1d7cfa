"""Sentences of a text, by a pinned library, and the form in which each is judged."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

from core.errors import InvalidInput

PLAIN, CONTEXT = "plain", "context"
FORMS: dict[str, str] = {
    PLAIN: "Each sentence as it stands.",
    CONTEXT: "Each sentence after the turns before the passage.",
}
_NOT_MADE = "decontextualised"
_VERSION = 1
"""Of our own steps around the library."""


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
    return f"sent:{form}|split:pysbd-{metadata.version('pysbd')}.{_VERSION}"


def form_of(signature: str) -> str:
    """The sentence form that a signature names; the plain one where it names none."""
    named = (part.removeprefix("sent:") for part in signature.split("|") if part.startswith("sent:"))
    return next(named, PLAIN)


def split(text: str) -> tuple[str, ...]:
    """The sentences of an English text in order, without the blanks around them; none for a blank text.

    By pysbd's rules. Where the library drops characters (it does so at a few symbols that it uses inside), the lines
    of the text are its sentences instead, so that nothing goes unjudged.
    """
    import pysbd

    # A segmenter keeps the text it works on, so threads must not share one.
    found = tuple(
        part for piece in pysbd.Segmenter(language="en", clean=False).segment(text) if (part := piece.strip())
    )
    if _letters(found) == _letters([text]):
        return found
    return tuple(part for line in text.splitlines() if (part := line.strip()))


def statement(form: str, context: Sequence[str], sentence: str) -> str:
    """What a judge reads as the hypothesis for a sentence of a passage with this context."""
    return " ".join([*context, sentence]) if form == CONTEXT else sentence


def _letters(parts: Sequence[str]) -> str:
    return "".join("".join(part.split()) for part in parts)
