"""Every error becomes one shape at the edge: JSON at the API, a page elsewhere."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any

from apiflask.exceptions import HTTPError
from flask import Flask, Response, jsonify, make_response, redirect, render_template, request, url_for
from sqlalchemy.exc import DataError, OperationalError
from sqlalchemy.exc import TimeoutError as NoneFree
from werkzeug.exceptions import HTTPException

from core.errors import AqaError, InvalidInput, Unavailable

log = logging.getLogger("aqa.web")

_CODES = {
    401: "not_signed_in",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    429: "too_many_requests",
}
_MESSAGES = {
    404: "There is nothing at this address.",
    405: "This address does not take that method.",
    413: "A field or the file is larger than this service takes.",
    429: "Too many requests came in a short time.",
}
_HINTS = {
    404: "Check the address.",
    405: "Use one of the methods in the Allow header.",
    413: "Send the file compressed with gzip, or a smaller one.",
    429: "Wait for the seconds that the Retry-After header names.",
}
_UNEXPECTED = "Something went wrong on our side. It was noted."


class Failure(AqaError):
    """An error that did not start as one of ours, in our shape."""

    def __init__(self, status: int, code: str, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status
        self.code = code


def register(app: Flask) -> None:
    """Handle every kind of error that a request can end with."""
    app.register_error_handler(AqaError, respond)
    app.register_error_handler(HTTPException, lambda error: _with_headers(respond(from_http(error)), error))
    app.register_error_handler(OperationalError, lambda error: respond(from_database(error)))
    app.register_error_handler(NoneFree, lambda _error: respond(from_pool()))
    app.register_error_handler(DataError, lambda error: respond(from_data(error)))
    app.register_error_handler(UnicodeEncodeError, lambda error: respond(from_text(error)))
    app.register_error_handler(RecursionError, lambda error: respond(from_recursion(error)))
    app.register_error_handler(Exception, lambda error: respond(from_fault(error)))


def from_validation(error: HTTPError) -> tuple[dict[str, Any], int, Any]:
    """APIFlask's own errors, in our shape: a field that is missing or wrong."""
    wrong = "; ".join(_flat(error.detail)) or str(error.message)
    if not error.detail:
        failure = _plain(error.status_code, error.message)
        return body(failure), failure.status, error.headers
    return (
        body(Failure(400, "invalid_input", wrong, "The API's fields are described at /api/v1/openapi.json.")),
        400,
        {},
    )


def body(error: AqaError) -> dict[str, Any]:
    """The one shape of every error."""
    places = [asdict(place) for place in error.places]
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint, "places": places}}


def respond(error: AqaError) -> Response:
    """The response for an error, as the door that was used speaks."""
    note(error)
    if request.path.startswith("/api/"):
        response = jsonify(body(error))
    elif error.status == 401:
        back = request.full_path.rstrip("?") if request.method == "GET" else ""
        return make_response(redirect(url_for("pages.account.sign_in", back=back), 303))
    else:
        response = make_response(render_template("error.html", error=error))
    response.status_code = error.status
    if error.status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def note(error: AqaError) -> None:
    """Log an error of ours that is a fault of the service."""
    if error.status >= 500 and not isinstance(error, Unavailable | Failure):
        log.error("%s %s: %s", request.method, request.path, error.message)


def from_http(error: HTTPException) -> AqaError:
    """An error of the framework in our shape."""
    status = error.code or 500
    return _plain(status, _MESSAGES.get(status) or error.description or error.name)


def _plain(status: int, message: str | None) -> Failure:
    code = _CODES.get(status, "bad_request" if status < 500 else "error")
    shown = _UNEXPECTED if status >= 500 else message or code
    return Failure(status, code, shown, _HINTS.get(status, ""))


def _with_headers(response: Response, error: HTTPException) -> Response:
    for name, value in error.get_headers():
        if name.lower() in ("allow", "retry-after", "location"):
            response.headers[name] = value
    return response


def from_database(error: OperationalError) -> AqaError:
    """A database that does not answer."""
    log.error("%s %s: the database failed: %s", request.method, request.path, error.orig)
    return Unavailable("The database does not answer.", "Try again in a moment.")


def from_pool() -> AqaError:
    """All connections to the database were in use for as long as a request waits."""
    log.error("%s %s: no connection to the database was free; see AQA_POOL_SIZE", request.method, request.path)
    return Unavailable("The service is busy: no connection to the database was free.", "Try again in a moment.")


def from_data(error: DataError) -> AqaError:
    """A value that the database cannot hold."""
    log.info("%s %s: %s", request.method, request.path, error.orig)
    return InvalidInput("A value holds a character that cannot be stored.", "Remove NUL characters.")


def from_text(error: UnicodeEncodeError) -> AqaError:
    """A text that is none, such as half of a surrogate pair, which JSON can spell and nothing can store."""
    if "surrogates" in error.reason:
        return InvalidInput("A value holds half a character.", "Send text that can be written as UTF-8.")
    return from_fault(error)


def from_recursion(error: RecursionError) -> AqaError:
    """A body of thousands of brackets within each other, which Python's reader of JSON cannot follow."""
    if request.is_json and "JSON" in str(error):
        return InvalidInput("The body is nested too deeply.", "Send the fields as one flat JSON object.")
    return from_fault(error)


def from_fault(error: Exception) -> AqaError:
    """Anything that nobody foresaw."""
    log.exception("%s %s failed", request.method, request.path)
    return Failure(500, "error", _UNEXPECTED, "Try again; if it stays, tell a maintainer.")


def _flat(detail: Any, path: str = "") -> list[str]:
    if isinstance(detail, dict):
        return [line for key, value in detail.items() for line in _flat(value, f"{path}.{key}" if path else str(key))]
    if isinstance(detail, list):
        return [line for value in detail for line in _flat(value, path)]
    where = ".".join(part for part in path.split(".") if part not in ("form_and_files", "query", "json"))
    return [f"{where}: {detail}"]
