"""One tree of errors: each has a code, an HTTP status and a hint that says how to mend it."""

from __future__ import annotations

from core.records import Place


class AqaError(Exception):
    """Base of all errors a user can meet; `hint` tells what to do, `places` where to look."""

    code = "error"
    status = 500
    exit_code = 1

    def __init__(self, message: str, hint: str = "", places: tuple[Place, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.places = places


class InvalidInput(AqaError):
    """What was sent cannot be used as it is."""

    code = "invalid_input"
    status = 400
    exit_code = 2


class Refused(AqaError):
    """A file was read and refused whole; nothing was stored."""

    code = "refused"
    status = 422
    exit_code = 3


class TooLarge(Refused):
    """A limit on size was passed."""

    code = "too_large"
    status = 413


class NotSignedIn(AqaError):
    """No token, or one that is wrong, expired or revoked."""

    code = "not_signed_in"
    status = 401


class Forbidden(AqaError):
    """Signed in, but this is somebody else's."""

    code = "forbidden"
    status = 403


class NotFound(AqaError):
    """There is no such thing, or it is not yours to see."""

    code = "not_found"
    status = 404
    exit_code = 2


class Conflict(AqaError):
    """It clashes with what is there."""

    code = "conflict"
    status = 409
    exit_code = 2


class OverQuota(AqaError):
    """The team's submissions for today are used up."""

    code = "over_quota"
    status = 429


class LeaseLost(AqaError):
    """The job was taken by another worker; this one's result is not wanted."""

    code = "lease_lost"
    status = 409


class Unavailable(AqaError):
    """Something the service stands on cannot be reached or is not installed."""

    code = "unavailable"
    status = 503


class NotInstalled(Unavailable):
    """A package is missing where this runs; trying again mends nothing."""


class NeedsUpgrade(Unavailable):
    """The database's tables are not those of this version."""

    code = "needs_upgrade"


class NotFinite(AqaError):
    """A model put out NaN or infinity; the run stops, since that is no verdict."""

    code = "not_finite"
