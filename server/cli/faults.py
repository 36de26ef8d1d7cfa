"""Faults of the machine, told as one clear error; a fault of ours keeps its traceback."""

from __future__ import annotations

import errno
import sqlite3

from core.errors import AqaError, InvalidInput, Unavailable

_MACHINE = {
    errno.ENOSPC: "Make room on the disk and run the command again.",
    errno.EDQUOT: "Make room on the disk and run the command again.",
    errno.EIO: "The disk may be failing; look at the system's log.",
    errno.EROFS: "Choose a place that can be written; AQA_DATA_DIR names the data folder.",
    errno.ENOENT: "Check the path; a folder of it may be missing.",
    errno.EACCES: "Look at the owner and the rights of that path.",
    errno.EPERM: "Look at the owner and the rights of that path.",
    errno.EISDIR: "Name a file, not a folder.",
    errno.ENOTDIR: "A part of that path is a file, not a folder.",
    errno.EEXIST: "Choose another path.",
    errno.ENAMETOOLONG: "Choose a shorter name.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
}


def explained(error: Exception) -> AqaError | None:
    """The error as a user can act on it; None for one that only a developer can."""
    from sqlalchemy.exc import DataError, OperationalError

    if isinstance(error, OSError) and error.errno in _MACHINE:
        where = f": {error.filename}" if error.filename else ""
        return Unavailable(f"{error.strerror}{where}.", _MACHINE[error.errno])
    if isinstance(error, OperationalError | sqlite3.DatabaseError):
        said = error.orig if isinstance(error, OperationalError) else error
        return Unavailable(f"The database failed: {said}.", "Check that the disk has room and the database runs.")
    if isinstance(error, DataError | OverflowError):
        return InvalidInput("A value is too large, or holds a character that cannot be stored.", "Look at its parts.")
    return None
