"""The team's own page: quota, tokens, the name that others read, webhooks; and making a team."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from apiflask import APIBlueprint
from flask import g, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, Forbidden, InvalidInput, NotFound
from core.tables import Team
from core.tables.base import utc_now
from server import auth, teams, webhooks
from server.access import SUBMITTERS, only, public
from server.addresses import number
from server.context import services, signed_in
from server.limits import limited
from submissions import quotas

bp = APIBlueprint("team", __name__, enable_openapi=False)


@bp.get("/register")
@public
def register_form() -> str:
    """The form for a team's name. Raises `Forbidden` where registration is closed."""
    if not services().settings.open_registration:
        raise Forbidden("Registration is closed here.", "Ask a maintainer for a team and its token.")
    return render_template("register.html", error=None, name="")


@bp.post("/register")
@limited("register")
@public
def register() -> tuple[str, int] | str:
    """Make the team, show its token this once, and sign in with it."""
    name = request.form.get("team", "")
    try:
        with services().database.transaction() as database:
            token = teams.register(database, services().settings, name)
            who = auth.verify(database, token)
    except AqaError as error:
        return render_template("register.html", error=error, name=name), error.status
    session.clear()
    session["token"] = who.token_id
    g.identity = who
    return render_template("registered.html", team=who.team, token=token)


@bp.get("/team")
@only()
def overview() -> str:
    """Everything about the asker's team."""
    return _page()


@bp.post("/team/tokens")
@only()
def new_token() -> tuple[str, int] | str:
    """Make another token and show it this once."""
    days = request.form.get("days", "")
    try:
        if not (days.isascii() and days.isdigit() and len(days) < 6):
            raise InvalidInput("The days are not a number.", "Write a number of days, or 0 for never.")
        with services().database.transaction() as database:
            _, secret = teams.make_token(database, signed_in(), request.form.get("label", ""), int(days))
    except AqaError as error:
        return _page(error=error), error.status
    return _page(secret=secret, secret_is="The new token")


@bp.post("/team/tokens/<token_id>/revoke")
@only()
def revoke(token_id: str) -> Response:
    """End a token."""
    with services().database.transaction() as database:
        teams.revoke_token(database, signed_in(), number(token_id, "token"))
    return redirect(url_for(".overview"), 303)


@bp.post("/team/alias")
@only()
def alias() -> tuple[str, int] | Response:
    """Have others read another name until a day has passed, or the own one again."""
    try:
        with services().database.transaction() as database:
            if request.form.get("do") == "show":
                teams.show(database, signed_in().team_id)
            else:
                until = _end_of(request.form.get("until", ""))
                teams.hide(database, signed_in().team_id, request.form.get("alias", ""), until)
    except AqaError as error:
        return _page(error=error), error.status
    return redirect(url_for(".overview"), 303)


@bp.post("/team/webhooks")
@limited("files")
@only(*SUBMITTERS)
def add_webhook() -> tuple[str, int] | str:
    """Add an address and show its secret this once."""
    try:
        with services().database.transaction() as database:
            hook = webhooks.add(database, services().settings, signed_in().team_id, request.form.get("url", ""))
    except AqaError as error:
        return _page(error=error), error.status
    return _page(secret=hook.secret, secret_is="The secret that signs this webhook's messages")


@bp.post("/team/webhooks/<webhook_id>/<what>")
@only(*SUBMITTERS)
def change_webhook(webhook_id: str, what: str) -> Response:
    """Remove an address, or send it a message that shows whether it works."""
    if what not in ("remove", "ping"):
        raise NotFound("There is nothing at this address.", "Check the address.")
    with services().database.transaction() as database:
        hook = webhooks.own(database, signed_in().team_id, number(webhook_id, "webhook"))
        if what == "remove":
            database.delete(hook)
        else:
            webhooks.ping(database, services().queue, hook)
    return redirect(url_for(".overview"), 303)


def _end_of(day: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(day), time.max, UTC).replace(microsecond=0)
    except ValueError:
        raise InvalidInput(f"{day[:20]!r} is not a day.", "Write it as YYYY-MM-DD.") from None


def _page(**shown: Any) -> str:
    who, settings = signed_in(), services().settings
    with services().database.reading() as database:
        team = database.get_one(Team, who.team_id)
        rows = teams.tokens(database, who)
        hooks = [(hook, webhooks.deliveries(database, hook, 5)) for hook in webhooks.listed(database, who.team_id)]
        used = quotas.used_today(database, who.team_id)
    return render_template(
        "team.html", team=team, hidden=team.shown(utc_now()) != team.name, tokens=rows, works=teams.works, hooks=hooks,
        used=used, settings=settings, submitter=who.role in SUBMITTERS, **shown,
    )  # fmt: skip
