"""`aqa audit`: who did what."""

from __future__ import annotations

from typing import Annotated

import typer


def audit(
    subject: Annotated[str, typer.Option(help="Only what happened to this id.")] = "",
    team: Annotated[str, typer.Option(help="Only what this team's tokens did.")] = "",
    action: Annotated[str, typer.Option(help="Only this action, as submission.published.")] = "",
    since: Annotated[str, typer.Option(help="From this day on, YYYY-MM-DD (UTC).")] = "",
    until: Annotated[str, typer.Option(help="Up to this day, YYYY-MM-DD (UTC).")] = "",
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="The newest so many.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Show who changed what, newest first; nothing can be changed or removed in this log."""
    from dataclasses import asdict

    from server.audit_log import Wanted, day, log
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    wanted = Wanted(0, limit, subject, team, action, day(since), day(until))
    with services().database.reading() as session:
        events = log(session, wanted)
    if as_json:
        print_json([asdict(each) | {"at": each.at.isoformat()} for each in events])
        return
    shown = table("Log", "When (UTC)", "Who", "What", "To", "Details", whole=("What",))
    for each in events:
        gone = f"team {each.team_id}, deleted" if each.team_id else each.actor
        who = f"{each.team} (token {each.token_id})" if each.team else gone
        details = ", ".join(f"{key}={value}" for key, value in each.details.items())
        shown.add_row(f"{each.at:%Y-%m-%d %H:%M:%S}", who, each.action, each.subject, details)
    stdout().print(shown if events else "Nothing happened yet.")
