"""The Flask application: API v1 and the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import orjson
from apiflask import APIFlask
from flask import g, request
from flask.json.provider import JSONProvider

from core.audit import SERVICE, act_as
from core.errors import NotFound, NotSignedIn
from server import api, errors, health, limits, metrics, pages, request_log, security, shown
from server.api.documents import SECURITY_SCHEMES, add_bodies
from server.api.schemas import ErrorOut
from server.bootstrap import Services
from server.context import EXTENSION, actor, read_bearer, read_cookie
from server.hub import blueprint as hub

_JSON_BYTES = 2**20
"""The largest JSON body of the API, which holds no files."""


class OrJson(JSONProvider):
    """JSON by orjson: fast, and NaN can only come out as null."""

    def dumps(self, obj: Any, **kwargs: Any) -> str:
        return orjson.dumps(obj, option=orjson.OPT_SERIALIZE_NUMPY).decode()

    def loads(self, s: str | bytes, **kwargs: Any) -> Any:
        return orjson.loads(s)


def create(services: Services) -> APIFlask:
    """The application over wired services."""
    settings = services.settings
    app = APIFlask(
        "server",
        title="AQA Leaderboard",
        version="1",
        spec_path=f"{api.PREFIX}/openapi.json",
        docs_path=None,
    )
    app.json = OrJson(app)
    app.extensions[EXTENSION] = services
    app.secret_key = security.secret_key(settings)
    app.config.update(
        MAX_CONTENT_LENGTH=upload_limit(services),
        MAX_FORM_MEMORY_SIZE=256 * 1024,
        SESSION_COOKIE_NAME="aqa_session",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=settings.secure_cookies,
        OPENAPI_VERSION="3.0.3",
        DESCRIPTION="Evaluation of attributed question answering: a file of predictions in, scores out.",
        SERVERS=[{"url": settings.resolved_public_url}],
        SECURITY_SCHEMES=SECURITY_SCHEMES,
        HTTP_ERROR_SCHEMA=ErrorOut,
        VALIDATION_ERROR_SCHEMA=ErrorOut,
        VALIDATION_ERROR_STATUS_CODE=400,
        AUTO_AUTH_ERROR_RESPONSE=False,
    )
    shown.register(app)
    app.error_processor(errors.from_validation)
    app.spec_processor(add_bodies)
    app.before_request(_identify)
    request_log.register(app)
    limits.register(app, settings)
    app.before_request(_admit)
    app.teardown_request(lambda _error: act_as(SERVICE))
    app.register_blueprint(api.blueprint())
    app.register_blueprint(hub.blueprint())
    app.register_blueprint(pages.blueprint())
    app.register_blueprint(health.bp)
    metrics.register(app, services)
    errors.register(app)
    limits.tighten(app, settings)
    app.after_request(security.harden)
    app.wsgi_app = _ends_with_input(app.wsgi_app)  # type: ignore[method-assign]
    return app


def _identify() -> None:
    """At the API and the hub by the bearer token alone, elsewhere by the session cookie alone."""
    g.identity = g.refusal = None
    if "\0" in request.path:  # PostgreSQL cannot even look for it
        raise NotFound("There is nothing at this address.", "Check the address.")
    try:
        if request.path.startswith((f"{api.PREFIX}/", f"{hub.PREFIX}/")):
            read_bearer()
        elif not request.path.startswith("/static/"):
            read_cookie()
    except NotSignedIn as error:
        g.refusal = error  # raised once the request has been counted: guessing tokens has a limit too


def _admit() -> None:
    if g.refusal is not None:
        raise g.refusal
    if request.is_json and request.path.startswith(f"{api.PREFIX}/"):
        request.max_content_length = _JSON_BYTES
    act_as(actor())


def upload_limit(services: Services) -> int:
    """Bytes that a request may hold: the largest file and room for its form."""
    return services.settings.max_file_bytes + 2**20


def _ends_with_input(inner: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Accept uploads of unknown length: the server ends the input, so it is safe to read to its end."""

    def outer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        environ["wsgi.input_terminated"] = True
        return inner(environ, start_response)

    return outer
