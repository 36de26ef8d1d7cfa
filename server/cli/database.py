"""`aqa db`: the database's tables."""

from __future__ import annotations

import typer

app = typer.Typer(help="Look after the database.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look after the database."""


@app.command()
def upgrade() -> None:
    """Bring the database's tables to this version; safe to repeat."""
    from core.database import Database
    from server.cli.console import stdout
    from server.cli.wiring import settings

    database = Database(settings().resolved_database_url)
    before = database.revision()
    database.upgrade()
    after = database.head()
    shown = database.url.render_as_string(hide_password=True)
    verb = "is at" if before == after else f"went from {before or 'empty'} to"
    stdout().print(f"{shown} {verb} {after}.", markup=False, soft_wrap=True)
