"""The paper's released ratings, row by row: a CSV of 83,030 rows, or a zip or gzip around it."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from core.errors import NotFound, Refused
from submissions.formats import Findings, excerpt

COLUMNS = ("system_name", "question", "answer", "attribution", "passage", "human_rating", "auto_ais", "nli_score")
_LETTERS = {"Y": True, "N": False}


@dataclass(frozen=True, slots=True)
class ReleasedRow:
    """One system's answer to one question, as typed; `row` counts from 1.

    `human` is the majority of the raters, None where nobody rated the row; `decision` and `p` are AutoAIS's, None
    where the file has none.
    """

    row: int
    system: str
    question: str
    answer: str
    attribution: str
    passage: str
    human: bool | None
    decision: bool | None
    p: float | None


def stream(path: Path, findings: Findings) -> Iterator[ReleasedRow]:
    """The rows of the file; odd ones are reported and left out or mended, and do not stop the reading.

    Raises `NotFound`, and `Refused` for a file that is not of this form or not UTF-8.
    """
    try:
        with _opened(path) as binary:
            text = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
            csv.field_size_limit(2**31 - 1)
            records = csv.reader(text)
            at = _columns(next(records, []), path)
            for row, fields in enumerate(records, start=1):
                found = _row(row, fields, at, findings)
                if found is not None:
                    yield found
    except UnicodeDecodeError as error:
        raise Refused(f"{path.name} is not UTF-8.", "Use the file as it was released.") from error
    except (zipfile.BadZipFile, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise Refused(f"{path.name} is damaged: {error}.", "Get the file again.") from error


def file_digest(path: Path) -> str:
    """The sha256 of the file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if not path.is_file():
        raise NotFound(f"There is no file {path}.", "Check the path, or use --download.")
    with path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        if start.startswith(b"PK"):
            with zipfile.ZipFile(file) as archive, archive.open(_member(archive, path)) as member:
                yield member
        elif start.startswith(b"\x1f\x8b"):
            with gzip.open(file) as unzipped:
                yield io.BufferedReader(unzipped)
        else:
            yield file


def _member(archive: zipfile.ZipFile, path: Path) -> str:
    names = [n for n in archive.namelist() if n.lower().endswith(".csv") and not n.startswith("__MACOSX")]
    if len(names) != 1:
        raise Refused(f"{path.name} holds {len(names)} CSV files instead of one.", "Use the file as it was released.")
    return names[0]


def _columns(header: Sequence[str], path: Path) -> list[int]:
    names = [name.strip().casefold() for name in header]
    lacking = [name for name in COLUMNS if name not in names]
    if lacking:
        raise Refused(
            f"{path.name} is not the released ratings: it lacks the columns {', '.join(lacking)}.",
            f"Its columns are {', '.join(COLUMNS)}.",
        )
    return [names.index(name) for name in COLUMNS]


def _row(row: int, fields: Sequence[str], at: Sequence[int], findings: Findings) -> ReleasedRow | None:
    if not fields:
        return None
    findings.counts["rows"] += 1
    if len(fields) <= max(at):
        findings.warn(
            "field_count", f"The row has {len(fields)} fields; it was left out.", row, excerpt(",".join(fields))
        )
        return None
    system, question, answer, attribution, passage, human, decision, score = (fields[i] for i in at)
    if any("\n" in text for text in (system, question, attribution, human, decision, score)):
        findings.warn("quoting", "A quote is missing, so rows ran together; they were left out.", row, excerpt(system))
        return None
    return ReleasedRow(
        row, system.strip(), question, answer, attribution.strip(), passage,
        _letter(row, "human_rating", human, findings), _letter(row, "auto_ais", decision, findings),
        _p(row, score, findings),
    )  # fmt: skip


def _letter(row: int, column: str, text: str, findings: Findings) -> bool | None:
    text = text.strip().upper()
    if text and text not in _LETTERS:
        findings.warn("bad_answer", f"“{column}” is neither Y nor N nor empty; it was left out.", row, excerpt(text))
    return _LETTERS.get(text)


def _p(row: int, text: str, findings: Findings) -> float | None:
    try:
        p = float(text)
    except ValueError:
        p = math.nan
    if 0 <= p <= 1:
        return p
    if text.strip():
        findings.warn("bad_score", "“nli_score” is not a number from 0 to 1; it was left out.", row, excerpt(text))
    return None
