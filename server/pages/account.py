"""Signing in with a token and out again."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from core.errors import NotSignedIn
from server import auth
from server.access import public
from server.context import services
from server.limits import limited

bp = APIBlueprint("account", __name__, enable_openapi=False)


@bp.get("/sign-in")
@public
def sign_in() -> str:
    """The form for the token."""
    return render_template("sign_in.html", error=None, back=_own_path(request.args.get("back", "")))


@bp.post("/sign-in")
@limited("sign_in")
@public
def signed_in() -> tuple[str, int] | Response:
    """Check the token and start a session; the cookie holds the token's id, never the token."""
    back = _own_path(request.form.get("back", ""))
    try:
        with services().database.reading() as database:
            who = auth.verify(database, request.form.get("token", ""))
    except NotSignedIn as error:
        return render_template("sign_in.html", error=error, back=back), error.status
    session.clear()
    session["token"] = who.token_id
    start = "pages.rating.work" if who.role == "rater" else "pages.submissions.mine"
    return redirect(back or url_for(start), 303)


@bp.post("/sign-out")
@public
def sign_out() -> Response:
    """End the session."""
    session.clear()
    return redirect(url_for("pages.guide.home"), 303)


def _own_path(path: str) -> str:
    """The path if it leads to a page of ours, else nothing: no one is sent elsewhere after signing in.

    Browsers drop tabs and line ends from addresses, which would make `//` of a slash, a tab and a slash.
    """
    ours = path.startswith("/") and not path.startswith("//") and "\\" not in path and path.isprintable()
    return path if ours else ""
