"""What an endpoint's error means to the one who runs a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.errors import AqaError, InvalidInput, NotFound, Unavailable

if TYPE_CHECKING:
    from openai import BadRequestError, OpenAIError

_SHOWN = 300


def needs_other_limit(error: BadRequestError, limit: str) -> bool:
    """True if the endpoint wants `max_completion_tokens` where `max_tokens` was sent."""
    return limit == "max_tokens" and "max_completion_tokens" in str(error)


def translated(error: OpenAIError, model: str, address: str) -> AqaError:
    """The project's own error for one of the client's, with what to do."""
    import openai

    said = " ".join(str(error).split())[:_SHOWN]
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return Unavailable(f"{address} refused the key: {said}", "Set OPENAI_API_KEY to a key that may use the model.")
    if isinstance(error, openai.NotFoundError):
        return NotFound(f"{address} has no model {model!r}: {said}", "Check the model's name and the address.")
    if isinstance(error, openai.RateLimitError):
        return Unavailable(f"{address} is out of quota or too busy: {said}", "Run again later; what is done is kept.")
    if isinstance(error, openai.APITimeoutError):
        return Unavailable(f"{address} did not answer in time.", "Run again later; what is done is kept.")
    if isinstance(error, openai.APIConnectionError):
        said = " ".join(str(error.__cause__ or error).split())[:_SHOWN]
        how = "cannot be reached" if type(error.__cause__).__name__ == "ConnectError" else "gave no answer"
        return Unavailable(f"{address} {how}: {said}", "Check the address; what is done is kept.")
    if isinstance(error, openai.APIStatusError) and error.status_code < 400:
        return InvalidInput(f"{address} leads elsewhere: {said}", "Name the address that it leads to.")
    if isinstance(error, openai.APIStatusError) and error.status_code < 500:
        return InvalidInput(f"{address} refused the request: {said}", "Is the prompt longer than the model's window?")
    return Unavailable(f"{address} failed: {said}", "Run again later; what is done is kept.")
