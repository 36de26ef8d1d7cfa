"""`aqa hub`: the inbox and the published boards on the Hub."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="The Hub: take in what its inbox holds, publish boards to it.", no_args_is_help=True)
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@app.command()
def poll(as_json: Json = False) -> None:
    """Look into the inbox once (AQA_INBOX_REPO) and take in what is new."""
    from dataclasses import asdict

    from server.cli.console import print_json, stdout, table
    from server.cli.wiring import services
    from server.exchange.wiring import inbox

    outcomes = inbox(services()).poll()
    if as_json:
        print_json([asdict(outcome) for outcome in outcomes])
    elif not outcomes:
        stdout().print("Nothing new.")
    else:
        shown = table("Inbox", "File", "Pull request", "State", "Submission or reason")
        for each in outcomes:
            number = "" if each.pull_request is None else f"#{each.pull_request}"
            shown.add_row(each.path, number, each.state, each.submission or each.reason or "")
        stdout().print(shown)


@app.command()
def link(
    user: Annotated[str, typer.Argument(help="The name of a user of the Hub.")],
    team: Annotated[str, typer.Argument(help="The team that the user's pull requests count for.")],
) -> None:
    """Count a Hub user's pull requests to the inbox as a team's."""
    from server import auth
    from server.cli.console import stdout
    from server.cli.wiring import services
    from submissions.sources import inbox

    with services().database.transaction() as session:
        found = auth.find_team(session, team)
        inbox.link(session, user, found)
    stdout().print(f"Pull requests of {user} now count as those of {found.name}.", markup=False)


@app.command()
def publish(
    repo: Annotated[str, typer.Option(help="Dataset repository to publish to [default: AQA_PUBLISH_REPO].")] = "",
    as_json: Json = False,
) -> None:
    """Publish all boards with the scored outputs of their entries, and today's snapshot."""
    from dataclasses import asdict

    from core.tables.base import utc_now
    from server.cli.console import print_json, stdout
    from server.cli.wiring import services
    from server.exchange.publishing import publish_boards
    from server.exchange.wiring import hub

    wired = services()
    target = repo or wired.settings.publish_repo
    done = publish_boards(wired, hub(wired), target, utc_now().date())
    if as_json:
        print_json(asdict(done))
        return
    commits = f"{len(done.commits)} commit{'' if len(done.commits) == 1 else 's'}"
    stdout().print(
        f"{target}: {done.written:,} files written, {done.removed:,} removed, in {commits}.",
        markup=False,
        soft_wrap=True,
    )
