"""`aqa backup` and `aqa restore`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def backup(folder: Annotated[Path, typer.Argument(help="New folder for the backup.")]) -> None:
    """Write database, blobs and corpora into a folder, each file with its digest; the service may run on."""
    from server import backup as backups
    from server.cli.console import progress, stdout
    from server.cli.wiring import services

    with progress("Blobs") as tell:
        held = backups.backup(services(), folder, tell)
    stdout().print(
        f"{folder} holds {held.database} at {held.revision}, {held.blobs:,} blobs, {len(held.files):,} files."
    )


def restore(
    folder: Annotated[Path, typer.Argument(help="Folder that `aqa backup` wrote.")],
    check: Annotated[bool, typer.Option("--check", help="Only check every digest.")] = False,
) -> None:
    """Check a backup's digests, then bring it into an empty database and the blob store."""
    from server import backup as backups
    from server.bootstrap import build
    from server.cli.console import stdout
    from server.cli.wiring import settings

    held = backups.verify(folder) if check else backups.restore(build(settings()), folder)
    verb = "is whole" if check else "was restored"
    stdout().print(
        f"{folder} {verb}: {held.database} at {held.revision}, {held.blobs:,} blobs.",
        markup=False,
        soft_wrap=True,
    )
