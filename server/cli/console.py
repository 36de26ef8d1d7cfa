"""How commands speak: tables and notes for people, pure JSON on standard output, errors on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from core.errors import AqaError


def stdout() -> Console:
    """The console for results."""
    return Console(highlight=False)


def stderr() -> Console:
    """The console for errors, remarks and progress."""
    return Console(stderr=True, highlight=False)


def print_json(value: Any) -> None:
    """One JSON document on standard output, and nothing else."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def print_error(error: AqaError) -> None:
    """What went wrong, how to mend it and up to 20 places, on standard error."""
    console = stderr()
    console.print(f"[bold red]Error:[/] {escape(error.message)}", soft_wrap=True)
    if error.hint:
        console.print(f"[dim]Hint:[/]  {escape(error.hint)}", soft_wrap=True)
    for place in error.places[:20]:
        where = f"row {place.row:,}" if place.row is not None else "file"
        excerpt = f"  [dim]{escape(place.excerpt)}[/]" if place.excerpt else ""
        console.print(f"  {where}: {escape(place.message)}{excerpt}", soft_wrap=True)
    if len(error.places) > 20:
        console.print(f"  … and {len(error.places) - 20:,} more")


class PlainTable(Table):
    """A table that takes texts as they are: what a user wrote in brackets is no markup."""

    def add_row(self, *cells: RenderableType | None, **how: Any) -> None:
        """Add a row; a cell that is to be styled is given as `Text`."""
        super().add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells), **how)


def table(
    title: str, *columns: str, right: Iterator[str] | tuple[str, ...] = (), whole: tuple[str, ...] = ()
) -> PlainTable:
    """An empty table with the house's looks.

    The columns named in `right` hold numbers. Cells that are too wide go on in the next line, those of the columns
    named in `whole` last.
    """
    from rich import box

    made = PlainTable(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    numbers = set(right)
    for column in columns:
        kept = column in numbers or column in whole
        made.add_column(column, justify="right" if column in numbers else "left", no_wrap=kept, overflow="fold")
    return made


@contextmanager
def progress(what: str, unit: str = "") -> Iterator[Callable[[int, int], None]]:
    """A bar with the time left, on standard error where that is a terminal; the block gets `tell(done, total)`."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import DownloadColumn as Bytes

    console = stderr()
    amount = Bytes() if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeElapsedColumn(), TextColumn("left"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
