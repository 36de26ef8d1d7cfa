"""Session key, CSRF tokens and the headers that keep a page from running what others wrote."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from flask import Flask, Response, current_app, request, session
from markupsafe import Markup

from core.errors import Forbidden
from core.settings import Settings

_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
_TLS_ONLY = "max-age=31536000; includeSubDomains"


def secret_key(settings: Settings) -> str:
    """The key that signs cookies: the setting, or one made once and kept readable by its owner only."""
    if settings.secret_key:
        return settings.secret_key
    path = settings.data_path / "secret_key"
    if not path.exists():
        # Written aside and linked, so that another process finds the whole key or none.
        with tempfile.NamedTemporaryFile("w", dir=settings.data_path, prefix="secret-") as aside:
            aside.write(secrets.token_urlsafe(48))
            aside.flush()
            os.fsync(aside.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(aside.name, path)
    return _kept(path)


def csrf_field() -> Markup:
    """The hidden field that every form sends back; its token is made with the session."""
    if "csrf" not in session:
        session["csrf"] = secrets.token_urlsafe(24)
    return Markup('<input type="hidden" name="csrf" value="{}">').format(session["csrf"])


def check_csrf() -> None:
    """Refuse a change that another site's page could have sent. Raises `Forbidden`."""
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    sent, kept = request.form.get("csrf", ""), session.get("csrf", "")
    if not kept or not secrets.compare_digest(sent.encode(), str(kept).encode()):
        raise Forbidden(
            "This form is out of date or came from elsewhere.", "Load the page again and send it from there."
        )


def headers(app: Flask) -> dict[str, str]:
    """The secure headers of every answer."""
    return _HEADERS | ({"Strict-Transport-Security": _TLS_ONLY} if app.config["SESSION_COOKIE_SECURE"] else {})


def harden(response: Response) -> Response:
    """Set the secure headers; nothing that depends on who asks is kept by caches."""
    for name, value in headers(current_app).items():
        response.headers.setdefault(name, value)
    if request.path.startswith("/static/"):
        if "v" in request.args or request.path.endswith(".woff2"):  # the address changes with the content
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    else:
        response.headers.setdefault("Cache-Control", "no-store")
    return response


def _kept(path: Path) -> str:
    key = path.read_text().strip()
    if len(key) < 32:
        raise ValueError(f"{path} holds no usable key; delete it and start again")
    return key
