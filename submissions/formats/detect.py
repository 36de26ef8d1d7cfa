"""Tells what a file is from its first bytes, never from its name."""

from __future__ import annotations

import io
import re
import zipfile

from submissions.formats.findings import BadFile

_BLANK = re.compile(rb"\s*")

GZIP = b"\x1f\x8b"
PARQUET = b"PAR1"
WANTED = "CSV, TSV, JSON Lines, a JSON array or Parquet, each also gzipped (.gz)"
KIND_NAMES = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON Lines", "json": "a JSON array", "parquet": "Parquet"}

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
}
_SIGNATURES = (
    (0, b"%PDF-", "a PDF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or other Microsoft Office file (.xls)"),
    (4, b"1AY&SY", "a bzip2 file (.bz2)"),
    (0, b"\xfd7zXZ\x00", "an xz file (.xz)"),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file (.zst)"),
    (0, b"\x04\x22\x4d\x18", "an LZ4 file (.lz4)"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive (.7z)"),
    (0, b"Rar!\x1a\x07", "a RAR archive (.rar)"),
    (257, b"ustar", "a tar archive (.tar)"),
    (0, b"ARROW1", "an Arrow (Feather) file"),
    (0, b"PARE", "an encrypted Parquet file"),
    (0, b"Obj\x01", "an Avro file"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"\x93NUMPY", "a NumPy array (.npy)"),
    (0, b"\x89HDF", "an HDF5 file"),
    (0, b"\x89PNG", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
)
_OFFICE = (
    ("xl/", "an Excel workbook (.xlsx)"),
    ("word/", "a Word document (.docx)"),
    ("content.xml", "an OpenDocument file (.ods, .odt)"),
)


def refuse_foreign(data: bytes) -> None:
    """Raise `BadFile` naming the kind of file if its first bytes are those of a kind that is not read."""
    what = _zip_content(data) if data.startswith(b"PK\x03\x04") else _by_signature(data)
    if what:
        how = "Save the sheet as “CSV UTF-8”" if "Excel" in what or "OpenDocument" in what else "Unpack or export it"
        raise BadFile("wrong_type", f"This is {what}, whatever its name says. {how}; what is read is {WANTED}.")


def text_kind(data: bytes) -> str:
    """`json`, `jsonl` or `delimited`, from the first character of a UTF-8 text without BOM."""
    match = _BLANK.match(data)
    begin = match.end() if match else 0
    start = data[begin : begin + 14]
    if start.startswith(b"["):
        return "json"
    if start.startswith(b"{"):
        return "jsonl"
    if start.lower().startswith((b"<!doctype", b"<html", b"<?xml")):
        raise BadFile("wrong_type", f"This is an HTML or XML page, not a table. What is read is {WANTED}.")
    return "delimited"


def name_disagrees(name: str, kind: str) -> bool:
    """True if the name's ending promises another kind than the content is."""
    stem = name.lower().removesuffix(".gz")
    promised = next((value for suffix, value in _SUFFIXES.items() if stem.endswith(suffix)), kind)
    return promised != kind


def _by_signature(data: bytes) -> str | None:
    found = (what for offset, magic, what in _SIGNATURES if data[offset : offset + len(magic)] == magic)
    return next(found, None)


def _zip_content(data: bytes) -> str:
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        names = []
    for part, what in _OFFICE:
        if any(entry.startswith(part) for entry in names):
            return what
    return "a zip archive (.zip)"
