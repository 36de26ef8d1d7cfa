"""What a Hub's error means, in our terms: the one table for files, models and judges."""

from __future__ import annotations

from typing import Any

from core.errors import AqaError, Forbidden, InvalidInput, NotFound, Unavailable


def told(error: Exception, repo: str, revision: str = "main", kind: str = "model") -> AqaError:
    """The error to raise for one that came while a repository was asked; one of ours stays as it is."""
    from huggingface_hub import errors

    if isinstance(error, AqaError):
        return error
    if isinstance(error, errors.HFValidationError):
        return InvalidInput(f"{repo[:120]!r} is no name of a {kind}: {first_line(error)}", "Write owner/name@revision.")
    if isinstance(error, errors.GatedRepoError):
        return Forbidden(
            f"{repo} is gated: its owner decides who may read it.",
            "Use an open copy, or accept its terms on the Hub and set AQA_HUB_TOKEN.",
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return NotFound(
            f"There is no {kind} {repo} on the Hub, or it is private.", "Check the name; is it open to the service?"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return NotFound(f"{repo} has no revision {revision[:60]!r}.", "Name a branch, a tag or a commit.")
    if isinstance(error, errors.OfflineModeIsEnabled):
        return Unavailable("HF_HUB_OFFLINE is set, so the Hub is not asked.", "Unset it, or name a local folder.")
    if isinstance(error, errors.EntryNotFoundError) and not isinstance(error, errors.LocalEntryNotFoundError):
        return NotFound(f"{repo} has no such file at {revision[:60]}.", "Check the path.")
    if isinstance(error, errors.DisabledRepoError):
        return Forbidden(f"{repo} was disabled on the Hub.", "Use another copy.")
    return _by_status(error, repo)


def _by_status(error: Exception, repo: str) -> AqaError:
    code = status(error)
    if code == 429:
        return Unavailable("The Hub asks for patience (429), and still does after some waiting.", "Try again later.")
    if is_passing(error) or (code is None and isinstance(error, OSError)):
        return Unavailable(
            f"{repo} could not be read, as the Hub does not answer: {first_line(error)}",
            "Check the network and AQA_HUB_ENDPOINT, or try again later.",
        )
    if code in (401, 403):
        return Forbidden(f"The Hub refuses access to {repo}: {first_line(error)}", "Check AQA_HUB_TOKEN.")
    return InvalidInput(f"The Hub refused the request about {repo}: {first_line(error)}", "Check the reference.")


def is_passing(error: Exception) -> bool:
    """True for a busy or failing Hub and a broken connection: where another try may help."""
    from httpx2 import TransportError
    from huggingface_hub.errors import OfflineModeIsEnabled

    code = status(error)
    if code is not None:
        return code == 429 or code >= 500
    return isinstance(error, TransportError | ConnectionError) and not isinstance(error, OfflineModeIsEnabled)


def response(error: Exception) -> Any:
    """The answer that an error stands for; None where there was none."""
    from huggingface_hub.errors import HfHubHTTPError

    return error.response if isinstance(error, HfHubHTTPError) else None


def status(error: Exception) -> int | None:
    """The HTTP status of that answer."""
    answer = response(error)
    return None if answer is None else int(answer.status_code)


def first_line(error: Exception) -> str:
    """The first line of an error's words."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:300]
