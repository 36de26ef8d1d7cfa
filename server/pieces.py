"""Large files in pieces: announced with their size, sent one piece after the other, submitted when they are whole."""

from __future__ import annotations

import io
import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import IO, Any

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from core.blob_keeping import ensure, from_bytes
from core.errors import Conflict, InvalidInput, NotFound, TooLarge
from core.tables import SentRequest, Team, Upload, UploadPart
from core.tables.base import utc_now
from server.bootstrap import Services
from server.deletion import drop_unused
from server.idempotency import once

_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")
_OPEN_FILES = 4
"""A team's unfinished uploads may announce this many times the largest file."""


@dataclass(frozen=True)
class Whole:
    """A file that arrived whole, with the attributes of a form's file."""

    stream: IO[bytes]
    filename: str


def begin(services: Services, team_id: int, name: str, size: int) -> Upload:
    """Announce a file. Raises `TooLarge`, and `Conflict` where too much is on its way already."""
    settings = services.settings
    most = settings.max_file_bytes
    if size > most:
        raise TooLarge(f"The file is larger than {settings.max_file_mb} MiB.", "Send it compressed with gzip.")
    _drop_old(services)
    with services.database.transaction() as session:
        session.get_one(Team, team_id, with_for_update=True)
        sent = session.scalar(select(func.sum(Upload.size)).where(Upload.team_id == team_id)) or 0
        if int(sent) + size > _OPEN_FILES * most:
            raise Conflict("Too many files of the team are on their way.", "Submit or delete those first.")
        upload = Upload(id=secrets.token_hex(12), team_id=team_id, name=name[:255], size=size)
        session.add(upload)
    return upload


def find(session: Session, team_id: int, upload_id: str, *, lock: bool = False) -> Upload:
    """An upload of the team's own. Raises `NotFound`."""
    upload = session.get(Upload, upload_id, with_for_update=lock)
    if upload is None or upload.team_id != team_id:
        raise NotFound(f"Your team has no upload {upload_id[:40]!r}.", "Begin it again; they end after a while.")
    return upload


def take(services: Services, team_id: int, upload_id: str, content_range: str, stream: IO[bytes]) -> Upload:
    """Store the next piece; one that is there already is taken as said again.

    Raises `InvalidInput` for a bad range or another number of bytes, `TooLarge` for a piece over the limit and
    `Conflict` for one that does not follow on what is there.
    """
    with services.database.reading() as session:
        upload = find(session, team_id, upload_id)
    start, end = _range(content_range, upload.size, services.settings.upload_chunk_mb * 2**20)
    data = stream.read(end - start + 1)
    if len(data) != end - start or stream.read(1):
        raise InvalidInput(f"The piece has {len(data):,} bytes, its range {end - start:,}.", "Send the piece again.")
    if start + len(data) <= upload.received:
        return upload
    blob = services.blobs.put(io.BytesIO(data))
    with services.database.transaction() as session:
        upload = find(session, team_id, upload_id, lock=True)
        if upload.received == start:
            session.add(UploadPart(upload_id=upload.id, start=start, blob=blob))
            upload.received = end
            ensure(session, services.blobs, blob, from_bytes(data))
        elif upload.received < end:
            raise Conflict(f"{upload.received:,} bytes are here, so the next piece begins there.", "Go on from there.")
    return upload


def finish(services: Services, team_id: int, upload_id: str, sent: Mapping[str, Any]) -> str:
    """Submit the file as if it had come whole; returns the submission's id, the same one if it is said again.

    Raises `Conflict` while bytes are missing, and as `idempotency.once`; a file that was refused can be deleted.
    """
    key = f"upload:{upload_id}"
    with services.database.reading() as session:
        known = session.get(SentRequest, (team_id, key))
        if known is not None and session.get(Upload, upload_id) is None:
            return known.submission_id
        upload = find(session, team_id, upload_id)
    with closing(_joined(services, upload)) as file:
        made = once(services, team_id, key, {**sent, "file": Whole(file, upload.name)})
    drop(services, team_id, upload_id)
    return made


def drop(services: Services, team_id: int, upload_id: str) -> None:
    """Forget an upload and its pieces. Raises `NotFound`."""
    with services.database.transaction() as session:
        upload = find(session, team_id, upload_id, lock=True)
        blobs = _parts(session, upload.id)
        session.delete(upload)
    drop_unused(services, blobs)


def _joined(services: Services, upload: Upload) -> IO[bytes]:
    if upload.received != upload.size:
        raise Conflict(f"{upload.received:,} of {upload.size:,} bytes are here.", "Send the rest first.")
    file = tempfile.TemporaryFile()  # noqa: SIM115, it is closed by the caller
    with services.database.reading() as session:
        blobs = _parts(session, upload.id)
    for blob in blobs:
        with services.blobs.open(blob) as piece:
            shutil.copyfileobj(piece, file)
    file.seek(0)
    return file


def _parts(session: Session, upload_id: str) -> list[str]:
    query = select(UploadPart.blob).where(UploadPart.upload_id == upload_id).order_by(UploadPart.start)
    return list(session.scalars(query))


def _drop_old(services: Services) -> None:
    old = Upload.created_at < utc_now() - timedelta(hours=services.settings.upload_hours)
    with services.database.transaction() as session:
        ids = list(session.scalars(select(Upload.id).where(old).limit(100).with_for_update(skip_locked=True)))
        blobs = list(session.scalars(select(UploadPart.blob).where(UploadPart.upload_id.in_(ids))))
        session.execute(delete(Upload).where(Upload.id.in_(ids)))
    drop_unused(services, blobs)


def _range(text: str, size: int, most: int) -> tuple[int, int]:
    found = _RANGE.fullmatch(text.strip())
    start, last, whole = (int(part) for part in found.groups()) if found else (0, -1, -1)
    if whole != size or not start <= last < size:
        raise InvalidInput(
            f"Content-Range {text[:60]!r} does not lie in a file of {size:,} bytes.",
            "Write: bytes FIRST-LAST/SIZE, counted from 0.",
        )
    if last + 1 - start > most:
        raise TooLarge(f"A piece has at most {most // 2**20} MiB.", "Send smaller pieces.")
    return start, last + 1
