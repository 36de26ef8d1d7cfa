"""`aqa submit` and `aqa status`: enter a file and follow it, here or at a service."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core import states

if TYPE_CHECKING:
    from server.cli.doors import Door

Url = Annotated[str, typer.Option(envvar="AQA_URL", help="The service's address; without it, the local database.")]
Token = Annotated[str, typer.Option(envvar="AQA_TOKEN", help="The team's token at the service.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]


def submit(
    file: Annotated[
        str,
        typer.Argument(
            help="Predictions: CSV, TSV, JSONL, JSON or Parquet, also gzipped; or hf://datasets/OWNER/REPO/PATH@REVISION."
        ),
    ],
    benchmark: Annotated[str, typer.Option(help="The benchmark's id.")],
    system: Annotated[str, typer.Option(help="The system's name; the same name again makes a new version.")],
    architecture: Annotated[str, typer.Option(help="E.g. retrieve-then-read; docs/cli.md lists them.")] = "unknown",
    supervision: Annotated[str, typer.Option(help="What the system learned from.")] = "",
    description: Annotated[str, typer.Option(help="What the system does.")] = "",
    link: Annotated[list[str] | None, typer.Option(help="A web address about it; repeatable.")] = None,
    uses_autoais: Annotated[bool, typer.Option("--uses-autoais", help="An AutoAIS model works inside it.")] = False,
    size: Annotated[float | None, typer.Option(help="Billions of parameters over all its models.")] = None,
    publish: Annotated[bool, typer.Option("--publish", help="Show it on the board once it is scored.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it is scored.")] = False,
    url: Url = "",
    token: Token = "",
    team: Annotated[str, typer.Option(help="The team, where no service is named.")] = "",
    as_json: Json = False,
) -> None:
    """Submit a file of predictions and have it scored."""
    from server.cli.doors import door
    from submissions.intake import SystemCard

    card = SystemCard(system, architecture, supervision, description, tuple(link or ()), uses_autoais, size)
    card.check()
    way = door(url, token, team)
    if url and _left_to_the_service(file):
        from server.client import Client

        entry = Client(url, token).submit_reference(file, benchmark, card, publish)
    else:
        with _at_hand(file) as (path, reference):
            entry = way.submit(path, benchmark, card, publish, reference)
    if wait:
        entry = _follow(way, entry)
    _show(way, entry, as_json, url)
    if wait and entry["state"] == states.FAILED:
        raise typer.Exit(1)


def status(
    id: Annotated[str, typer.Argument(help="The submission's id.")],
    url: Url = "",
    token: Token = "",
    as_json: Json = False,
) -> None:
    """Show where a submission stands, and its scores once there are some."""
    from server.cli.doors import door

    way = door(url, token, "")
    _show(way, way.status(id), as_json, url)


def _left_to_the_service(file: str) -> bool:
    """True for a reference that no token of ours is needed for: the service then writes down where it came from."""
    from server.cli.wiring import settings
    from submissions.sources.reference import SCHEME

    return file.startswith(SCHEME) and not settings().hub_token


@contextmanager
def _at_hand(file: str) -> Iterator[tuple[Path, str]]:
    """The file's path, and the pinned reference where it had to be fetched from the Hub."""
    from server.cli.wiring import settings
    from submissions.formats import open_file
    from submissions.sources.fetch import fetch
    from submissions.sources.hub import Hub
    from submissions.sources.reference import SCHEME

    if not file.startswith(SCHEME):
        open_file(Path(file)).close()  # a wrong path is told before anything is asked of a service
        yield Path(file), ""
        return
    chosen = settings()
    hub = Hub(chosen.hub_endpoint, chosen.hub_token)
    fetched = fetch(hub, file, chosen.max_file_bytes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / fetched.name
        path.write_bytes(fetched.data)
        yield path, str(fetched.reference)


def _follow(way: Door, entry: dict[str, Any]) -> dict[str, Any]:
    from server.cli.console import progress

    with progress("Scoring") as tell:
        while entry["state"] not in states.FINISHED:
            tell(round(100 * entry["progress"]), 100)
            way.wait()
            entry = way.status(entry["id"])
    return entry


def _show(way: Door, entry: dict[str, Any], as_json: bool, url: str) -> None:
    from server.cli.console import print_json, stdout
    from server.cli.report import print_entry, print_stored_scores

    scores = way.scores(entry["id"]) if entry["state"] == states.SCORED else None
    if as_json:
        print_json(entry | {"scores": scores})
        return
    print_entry(entry, stdout())
    if scores is not None:
        print_stored_scores(scores, stdout())
    elif entry["state"] != states.FAILED:
        where = f" --url {url}" if url else ""
        stdout().print(f"\nFollow it: aqa status {entry['id']}{where}", markup=False, soft_wrap=True)
