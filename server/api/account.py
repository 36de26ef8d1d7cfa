"""Who the token belongs to."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint

from server.access import only
from server.api.documents import answers
from server.api.schemas import MeOut
from server.context import services, signed_in
from submissions import quotas

bp = APIBlueprint("account", __name__, tag="Account")


@bp.get("/me")
@only()
@bp.output(MeOut)
@answers(bp)
def me() -> dict[str, Any]:
    """The team and role of the token"""
    who = signed_in()
    with services().database.reading() as session:
        used = quotas.used_today(session, who.team_id)
    return {
        "team": who.team,
        "role": who.role,
        "submissions_today": used,
        "submissions_per_day": services().settings.submissions_per_day,
    }
