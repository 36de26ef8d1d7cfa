"""`aqa model`: models of the Hub, checked beforehand and run here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from submissions.sources.model import Checked

app = typer.Typer(help="Models of the Hub: check one, have one run.", no_args_is_help=True)
Reference = Annotated[str, typer.Argument(metavar="REF", help="owner/name@revision; without a revision, main.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


@app.command()
def check(reference: Reference, as_json: Json = False) -> None:
    """Say what would be refused of a model; only its description and settings are read. Exits with 3 if anything is."""
    from dataclasses import asdict

    from server import models
    from server.cli.console import print_json, stdout
    from server.cli.wiring import settings

    found = models.check(settings(), reference)
    if as_json:
        print_json(asdict(found) | {"pinned": found.pinned})
    else:
        for line in _lines(found):
            stdout().print(line, markup=False, soft_wrap=True)
    if found.refusals:
        raise typer.Exit(3)


@app.command()
def run(
    reference: Reference,
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    system: Annotated[str, typer.Option(help="The system's name; the same name again makes a new version.")],
    architecture: Annotated[
        str, typer.Option(help="retrieve-then-read, post-hoc-retrieval or llm-as-retriever.")
    ] = "retrieve-then-read",
    decoding: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=NUMBER, as max_new_tokens=16; repeatable.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For whatever is drawn.")] = 0,
    supervision: Annotated[str, typer.Option(help="What the model learned from.")] = "",
    description: Annotated[str, typer.Option(help="What the system does.")] = "",
    size: Annotated[float | None, typer.Option(help="Billions of parameters.")] = None,
    publish: Annotated[bool, typer.Option("--publish", help="Show it on the board once it is scored.")] = False,
    url: Annotated[str, typer.Option(envvar="AQA_URL", help="The service; without it, the local database.")] = "",
    token: Annotated[str, typer.Option(envvar="AQA_TOKEN", help="The team's token at the service.")] = "",
    team: Annotated[str, typer.Option(help="The team, where no service is named.")] = "",
    as_json: Json = False,
) -> None:
    """Have a model answer a benchmark on the gpu queue; its predictions enter like anybody's file."""
    from server.cli.console import print_json, stdout
    from submissions.intake import SystemCard

    card, numbers = SystemCard(system, architecture, supervision, description, size=size), _numbers(decoding or [])
    if url:
        from server.client import Client

        made = Client(url, token).run_model(reference, benchmark, card, numbers, seed, publish)
    else:
        made = _here(team, reference, benchmark, card, numbers, seed, publish)
    if as_json:
        print_json(made)
    else:
        stdout().print(f"Run {made['id']} of {made['model']} waits for a worker of the gpu queue.", markup=False)


def _here(team: str, reference: str, benchmark: str, card: Any, *rest: Any) -> dict[str, Any]:
    from core.errors import InvalidInput
    from server import auth, models
    from server.cli.wiring import services

    if not team:
        raise InvalidInput("Whose entry is it?", "Name a team with --team, or a service with --url and --token.")
    wired, (numbers, seed, publish) = services(), rest
    with wired.database.reading() as session:
        team_id = auth.find_team(session, team).id
    made = models.submit(wired, team_id, reference, benchmark, card, numbers, seed=seed, publish=publish)
    with wired.database.reading() as session:
        row = models.own(session, team_id, made)
    return {"id": row.id, "state": row.state, "model": row.plan["changes"]["model"]}


def _numbers(given: list[str]) -> dict[str, float | int]:
    from core.errors import InvalidInput

    found: dict[str, float | int] = {}
    for each in given:
        name, _, text = each.partition("=")
        try:
            found[name] = float(text) if "." in text else int(text)
        except ValueError:
            raise InvalidInput(f"{each[:60]!r} sets no number.", "Write NAME=NUMBER, as max_new_tokens=16.") from None
    return found


def _lines(found: Checked) -> list[str]:
    told = [
        found.pinned,
        f"{found.architecture or 'no class'}, {found.fetched_bytes / 1e9:,.2f} GB, licence: {found.licence or 'none'}",
    ]
    return [*told, *(f"Refused: {reason}" for reason in found.refusals)] + ["It can be run."] * (not found.refusals)
