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


@team.command("delete")
def team_delete(
    name: Annotated[str, typer.Argument(help="The team's name.")],
    yes: Annotated[bool, typer.Option("--yes", help="Really delete it: there is no way back.")] = False,
    as_json: Json = False,
) -> None:
    """Delete a team with its submissions, scores, repositories, tokens, and the files that nobody else needs."""
    from dataclasses import asdict

    from core.errors import InvalidInput
    from server.auth import find_team
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services
    from server.deletion import delete_team

    wired = services()
    with wired.database.reading() as session:
        found = find_team(session, name)
    if not yes:
        raise InvalidInput(f'"{found.name}" would be deleted for ever.', "Say so with --yes.")
    gone = delete_team(wired, found.id)
    if as_json:
        print_json(asdict(gone))
        return
    counts = f"{gone.submissions:,} submissions, {gone.evaluations:,} evaluations and {gone.blobs:,} files"
    stdout().print(f'Team "{gone.team}" was deleted, with {counts}.', markup=False)


@token.command("new")
def token_new(
    team: Annotated[str, typer.Option(help="The team the token stands for.")],
    role: Annotated[str, typer.Option(help="team, rater or maintainer.")] = "team",
    days: Annotated[
        int | None, typer.Option(help="Days until it expires, 0 for never (default: AQA_TOKEN_DAYS).")
    ] = None,
    label: Annotated[str, typer.Option(help="What it is for.")] = "",
    as_json: Json = False,
) -> None:
    """Make a token; it is shown this once and stored only as a hash."""
    from server.auth import new_token
    from server.cli.console import print_json, stderr, stdout
    from server.cli.wiring import services

    wired = services()
    lifetime = wired.settings.token_days if days is None else days
    with wired.database.transaction() as session:
        made = new_token(session, team, role, lifetime, label)
    if as_json:
        print_json({"token": made})
        return
    stdout().print(made, soft_wrap=True, markup=False)
    ends = f"expires in {lifetime} days" if lifetime else "never expires"
    stderr().print(f"[dim]It {ends} and is not shown again. Keep it secret.[/]")


@token.command("list")
def token_list(
    team: Annotated[str, typer.Option(help="Only this team's.")] = "",
    as_json: Json = False,
) -> None:
    """List the tokens, without their texts."""
    from sqlalchemy import select

    from core.tables import Token
    from server.auth import find_team
    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.teams import works

    with services().database.reading() as session:
        query = select(Token).order_by(Token.id)
        if team:
            query = query.where(Token.team_id == find_team(session, team).id)
        rows = [(row, row.team.name) for row in session.scalars(query)]
    if as_json:
        print_json(
            [
                {"id": row.id, "team": name, "role": row.role, "label": row.label, "works": works(row),
                 "expires_at": row.expires_at.isoformat() if row.expires_at else None}
                for row, name in rows
            ]
        )  # fmt: skip
        return
    shown = table("Tokens", "Number", "Team", "Role", "Label", "Expires", "State", right=("Number",))
    for row, name in rows:
        state = "works" if works(row) else "revoked" if row.revoked_at else "expired"
        ends = f"{row.expires_at:%Y-%m-%d}" if row.expires_at else "never"
        shown.add_row(str(row.id), name, row.role, row.label, ends, state)
    stdout().print(shown if rows else "There is no token yet. Make one: aqa token new --help")


@token.command("revoke")
def token_revoke(
    secret: Annotated[str, typer.Argument(metavar="TOKEN", help="The token itself, or its number.")],
) -> None:
    """End a token at once."""
    from server.auth import revoke, verify
    from server.cli.console import stdout
    from server.cli.wiring import services

    with services().database.transaction() as session:
        number = int(secret) if secret.isascii() and secret.isdigit() else verify(session, secret).token_id
        name = revoke(session, number).team.name
    stdout().print(f'A token of "{name}" was revoked.', markup=False)
