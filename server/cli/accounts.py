"""`aqa team` and `aqa token`: who may submit. The local command line needs no token itself."""

from __future__ import annotations

from typing import Annotated

import typer

team = typer.Typer(help="Teams that submit.", no_args_is_help=True)
token = typer.Typer(help="Bearer tokens of teams, raters and maintainers.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@team.command("add")
def team_add(name: Annotated[str, typer.Argument(help="The team's name as the board shows it.")]) -> None:
    """Add a team."""
    from server.auth import add_team
    from server.cli.console import stdout
    from server.cli.wiring import services

    with services().database.transaction() as session:
        added = add_team(session, name).name
    stdout().print(f'Team "{added}" was added. Make it a token: aqa token new --team "{added}"', markup=False)


@team.command("list")
def team_list(as_json: Json = False) -> None:
    """List the teams."""
    from sqlalchemy import select

    from core.tables import Team
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services

    with services().database.reading() as session:
        rows = session.scalars(select(Team).order_by(Team.name)).all()
    if as_json:
        print_json([{"name": row.name, "created_at": row.created_at.isoformat()} for row in rows])
        return
    shown = table("Teams", "Name", "Since")
    for row in rows:
        shown.add_row(row.name, f"{row.created_at:%Y-%m-%d}")
    stdout().print(shown if rows else 'There is no team yet. Add one: aqa team add "NAME"')


@token.command("new")
def token_new(
    team: Annotated[str, typer.Option(help="The team the token stands for.")],
    role: Annotated[str, typer.Option(help="team, rater or maintainer.")] = "team",
    days: Annotated[
        int | None, typer.Option(help="Days until it expires, 0 for never (default: AQA_TOKEN_DAYS).")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token; it is shown this once and stored only as a hash."""
    from server.auth import new_token
    from server.cli.console import print_json, stderr, stdout
    from server.cli.wiring import services

    wired = services()
    lifetime = wired.settings.token_days if days is None else days
    with wired.database.transaction() as session:
        made = new_token(session, team, role, lifetime)
    if as_json:
        print_json({"token": made})
        return
    stdout().print(made, soft_wrap=True, markup=False)
    ends = f"expires in {lifetime} days" if lifetime else "never expires"
    stderr().print(f"[dim]It {ends} and is not shown again. Keep it secret.[/]")


@token.command("revoke")
def token_revoke(secret: Annotated[str, typer.Argument(metavar="TOKEN", help="The token itself.")]) -> None:
    """End a token at once."""
    from server.auth import revoke, verify
    from server.cli.console import stdout
    from server.cli.wiring import services

    with services().database.transaction() as session:
        found = verify(session, secret)
        revoke(session, found.token_id)
    stdout().print(f'A token of "{found.team}" was revoked.', markup=False)
