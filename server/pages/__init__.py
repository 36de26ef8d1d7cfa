"""The pages: what people see and click; they call the same functions as the API."""

from __future__ import annotations

from apiflask import APIBlueprint

from server import security
from server.context import identity, read_cookie


def blueprint() -> APIBlueprint:
    """All pages, to be registered once per application."""
    pages = APIBlueprint("pages", __name__, enable_openapi=False)
    pages.before_request(read_cookie)
    pages.before_request(security.check_csrf)
    pages.app_context_processor(lambda: {"who": identity(), "csrf_token": security.csrf_token})
    return pages
