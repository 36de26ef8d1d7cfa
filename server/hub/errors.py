"""Errors as Hub clients read them: `X-Error-Code` chooses the client's exception, `X-Error-Message` its text."""

from __future__ import annotations

from dataclasses import asdict

from apiflask import APIBlueprint
from flask import Response, g, jsonify
from sqlalchemy.exc import DataError, OperationalError
from werkzeug.exceptions import HTTPException

from core.errors import AqaError, NotSignedIn
from server import errors
from submissions.repos.errors import EntryNotFound, RepoNotFound, RevisionNotFound

_CLIENT_CODES: dict[type[AqaError], str] = {
    RepoNotFound: "RepoNotFound",
    RevisionNotFound: "RevisionNotFound",
    EntryNotFound: "EntryNotFound",
}
_WRONG_TOKEN = "Invalid credentials in Authorization header"  # clients take any other 401 for a missing repository


def register(bp: APIBlueprint) -> None:
    """Answer every error of the blueprint's routes in this form."""
    bp.register_error_handler(AqaError, respond)
    bp.register_error_handler(HTTPException, lambda error: _with_headers(respond(errors.from_http(error)), error))
    bp.register_error_handler(OperationalError, lambda error: respond(errors.from_database(error)))
    bp.register_error_handler(DataError, lambda error: respond(errors.from_data(error)))
    bp.register_error_handler(Exception, lambda error: respond(errors.from_fault(error)))


def respond(error: AqaError) -> Response:
    """The response for an error; the body holds the whole text and the places, headers only what they can carry."""
    errors.note(error)
    text = f"{error.message} {error.hint}".strip()
    response = jsonify({"error": text, "code": error.code, "places": [asdict(place) for place in error.places]})
    response.status_code = error.status
    if isinstance(error, NotSignedIn):
        response.headers["X-Error-Message"] = _WRONG_TOKEN
        response.headers["WWW-Authenticate"] = "Bearer"
    else:
        response.headers["X-Error-Message"] = one_line(text)
    if (code := _CLIENT_CODES.get(type(error))) is not None:
        response.headers["X-Error-Code"] = code
    if "commit_oid" in g:
        response.headers["X-Repo-Commit"] = g.commit_oid
    return response


def one_line(text: str) -> str:
    """A text as a header can carry it: one line of ASCII, not too long."""
    return " ".join(text.split())[:1000].encode("ascii", "replace").decode()


def _with_headers(response: Response, error: HTTPException) -> Response:
    for name, value in error.get_headers():
        if name.lower() in ("allow", "retry-after", "content-range"):
            response.headers[name] = value
    return response
