"""The pages: what people see and click; they call the same functions as the API."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import request
from markupsafe import Markup

from server import security
from server.context import identity, services
from server.pages.account import bp as account
from server.pages.audit import bp as audit
from server.pages.guide import bp as guide
from server.pages.jobs import bp as jobs
from server.pages.models import bp as models
from server.pages.rating import bp as rating
from server.pages.ratings import bp as ratings
from server.pages.rescores import bp as rescores
from server.pages.submissions import bp as submissions
from server.pages.submit import bp as submit
from server.pages.systems import bp as systems
from server.pages.team import bp as team


def blueprint() -> APIBlueprint:
    """All pages, to be registered once per application."""
    pages = APIBlueprint("pages", __name__, enable_openapi=False)
    pages.before_request(security.check_csrf)
    pages.app_context_processor(_context)
    for part in (guide, account, team, submit, submissions, models, audit, rating, ratings, jobs, rescores, systems):
        pages.register_blueprint(part)
    return pages


def _context() -> dict[str, Any]:
    """What every template can use."""
    return {
        "who": identity(),
        "csrf_field": security.csrf_field,
        "current": _current,
        "open_registration": services().settings.open_registration,
    }


def _current(endpoint: str) -> Markup:
    """Marks the page that one is on in the navigation."""
    return Markup('aria-current="page"') if request.endpoint == endpoint else Markup("")
