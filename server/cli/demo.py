"""`aqa demo`: the whole service with the demo benchmark, in one command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from server.bootstrap import Services

_TEAM = "Demo team"


def demo(
    host: Annotated[str, typer.Option(help="Address to listen on (default: AQA_HOST).")] = "",
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port (default: AQA_PORT).")] = None,
) -> None:
    """Load the demo benchmark, score its entries and serve it all; what an earlier run left is kept."""
    from dataclasses import replace

    from server.bootstrap import build
    from server.cli.console import stderr
    from server.cli.serve import ready, run_server
    from server.cli.wiring import settings
    from server.demo import editing
    from server.demo.load import load

    chosen = settings()
    chosen = replace(chosen, host=host or chosen.host, port=chosen.port if port is None else port, embedded_worker=True)
    listening = ready(chosen)
    wired = build(chosen)
    wired.database.upgrade()
    with stderr().status("Loading the demo benchmark") as status:
        added = load(wired, lambda step: status.update(f"Loading the demo benchmark: {step}"))
    _welcome(wired, _fresh_token(wired), added, editing.due(wired))
    _load_editing(wired)
    run_server(wired, listening, quiet=True)  # else the token scrolls away


def _load_editing(services: Services) -> None:
    """The editing track, loaded beside the server so that the first page need not wait for it."""
    import logging
    import threading

    from server.demo import editing

    def load() -> None:
        try:
            editing.load(services)
        except Exception:
            logging.getLogger("aqa.demo").exception("the demo of the editing track could not be loaded")

    threading.Thread(target=load, name="demo-editing", daemon=True).start()


def _fresh_token(services: Services) -> str:
    """A new token for the demo's own team; the ones of earlier starts stay good until they expire."""
    from core.errors import NotFound
    from server import auth

    with services.database.transaction() as session:
        try:
            team = auth.find_team(session, _TEAM)
        except NotFound:
            team = auth.add_team(session, _TEAM)
        return auth.new_token(session, team, days=services.settings.token_days)


def _welcome(services: Services, token: str, added: int | None, behind: int) -> None:
    """`added` entries wait for the worker; as many as `behind` says are still to be loaded beside the server."""
    from rich.panel import Panel
    from rich.table import Table

    from server.cli.console import stdout
    from server.demo.files import DATA

    console = stdout()
    url = services.settings.resolved_public_url
    shown = Table(box=None, show_header=False, pad_edge=False)
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column(overflow="fold")
    shown.add_row("Start", f"[bold]{url}/[/]")
    shown.add_row("Leaderboard", f"[bold]{url}/leaderboard/[/]")
    shown.add_row("Editing track", f"{url}/leaderboard/editing")
    shown.add_row("API", f"{url}/api/v1/openapi.json")
    shown.add_row("Team", _TEAM)
    shown.add_row("Token", f"[bold]{token}[/]")
    shown.add_row("A file to try", str((DATA / "entries" / "rtr-bm25-5.csv").relative_to(DATA.parents[2])))
    console.print(Panel(shown, title="AQA Leaderboard: demo", border_style="blue", expand=False))
    if added is None:
        console.print(
            "This data was made by an earlier version of the demo and is served as it is. "
            "For the present one, set AQA_DATA_DIR to an empty folder."
        )
    if coming := (added or 0) + behind:
        console.print(f"{coming} entries are being scored; they appear on the two boards one by one.")
    console.print("[yellow]All human ratings in the demo are synthetic; its systems are stand-ins.[/]")
    console.print("[dim]Stop with Ctrl-C. Data is kept in[/] " + str(services.settings.data_path), soft_wrap=True)
