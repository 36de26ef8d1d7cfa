"""`aqa`, the command line. Commands import what they use when they run, so that `aqa --help` is quick."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import typer

from server.cli import (
    accounts,
    audit,
    backup,
    benchmark,
    board,
    database,
    demo,
    export,
    hub,
    imports,
    judge,
    models,
    queue,
    ratings,
    rescore,
    score,
    serve,
    submit,
    systems,
)

app = typer.Typer(
    name="aqa",
    help="Evaluation as a service for attributed question answering.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    epilog="Settings come from the environment (AQA_…); docs/settings.md lists them.",
)
app.command("score", rich_help_panel="Evaluate")(score.score)
app.add_typer(judge.app, name="judge", rich_help_panel="Evaluate")
app.command("submit", rich_help_panel="Evaluate")(submit.submit)
app.command("status", rich_help_panel="Evaluate")(submit.status)
app.command("export", rich_help_panel="Evaluate")(export.export)
app.add_typer(systems.app, name="system", rich_help_panel="Evaluate")
app.add_typer(models.app, name="model", rich_help_panel="Evaluate")
app.add_typer(benchmark.app, name="benchmark", rich_help_panel="Benchmarks")
app.add_typer(board.app, name="board", rich_help_panel="Benchmarks")
app.add_typer(imports.app, name="import", rich_help_panel="Benchmarks")
app.add_typer(ratings.app, name="ratings", rich_help_panel="Human ratings")
app.command("demo", rich_help_panel="Run the service")(demo.demo)
app.command("serve", rich_help_panel="Run the service")(serve.serve)
app.command("worker", rich_help_panel="Run the service")(serve.worker)
app.add_typer(hub.app, name="hub", rich_help_panel="Run the service")
app.add_typer(queue.app, name="queue", rich_help_panel="Run the service")
app.add_typer(rescore.app, name="rescore", rich_help_panel="Run the service")
app.add_typer(database.app, name="db", rich_help_panel="Run the service")
app.command("backup", rich_help_panel="Run the service")(backup.backup)
app.command("restore", rich_help_panel="Run the service")(backup.restore)
app.add_typer(accounts.team, name="team", rich_help_panel="Accounts")
app.add_typer(accounts.token, name="token", rich_help_panel="Accounts")
app.command("audit", rich_help_panel="Accounts")(audit.audit)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and exit: 0 done, 2 usage or not found, 3 refused input, 1 anything else."""
    from core.errors import AqaError
    from server.cli.console import print_error

    try:
        app(arguments)
    except AqaError as error:
        print_error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; there is nobody to tell
        sys.exit(1)
    except Exception as error:
        from server.cli.faults import explained

        told = explained(error)
        if told is None:
            raise
        print_error(told)
        sys.exit(told.exit_code)
