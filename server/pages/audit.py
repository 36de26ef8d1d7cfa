"""The audit log: a team reads of its own, maintainers of all; by action, team, subject and day, page after page."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import render_template, request, url_for

from core.errors import AqaError, InvalidInput
from server import audit_log
from server.access import SUBMITTERS, only
from server.audit_log import Wanted
from server.context import services, signed_in

bp = APIBlueprint("audit", __name__, url_prefix="/audit", enable_openapi=False)
_PAGE = 50
_FILTERS = ("action", "team", "subject", "since", "until")


@bp.get("")
@only(*SUBMITTERS)
def overview() -> tuple[str, int] | str:
    """One page of it; what is wrong with a filter is shown above the form, which keeps what was typed."""
    sent = {name: request.args.get(name, "").strip()[:120] for name in _FILTERS}
    try:
        wanted = _wanted(sent)
    except AqaError as error:
        return _page(sent, [], error=error), error.status
    with services().database.reading() as session:
        found = audit_log.log(session, wanted, signed_in())
    older = url_for(".overview", **_given(sent), before=found[-2].id) if len(found) > _PAGE else None
    newest = url_for(".overview", **_given(sent)) if wanted.before else None
    return _page(sent, found[:_PAGE], older=older, newest=newest)


def _wanted(sent: dict[str, str]) -> Wanted:
    before = request.args.get("before", "0")
    if not (before.isascii() and before.isdigit() and len(before) < 10):
        raise InvalidInput("The page that was asked for is none of the log.", "Begin with the newest events.")
    if "\0" in "".join(sent.values()):
        raise InvalidInput("A filter holds a NUL character.", "Remove it.")
    return Wanted(
        int(before), _PAGE + 1, sent["subject"], sent["team"], sent["action"],
        audit_log.day(sent["since"]), audit_log.day(sent["until"]),
    )  # fmt: skip


def _given(sent: dict[str, str]) -> dict[str, Any]:
    return {name: value for name, value in sent.items() if value}


def _page(sent: dict[str, str], events: list[audit_log.Event], **shown: Any) -> str:
    return render_template(
        "audit.html", events=events, sent=sent, actions=audit_log.ACTIONS, given=bool(_given(sent)), **shown
    )
