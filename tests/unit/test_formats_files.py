"""Whole files: told by content, refused by name of what they are."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest

from core.errors import InvalidInput, NotFound, Refused
from submissions.formats import Limits, open_file, read_table
from tests.formats_writers import KINDS, LIMITS, PASSAGE, accept, questions, write

BENCHMARK = questions("what is tür", "when, and where", "who")
ROWS = [
    {"question": "what is tür", "answer": "door", "attribution": PASSAGE},
    {"question": "when, and where", "answer": "1990", "attribution": ""},
    {"question": "who", "answer": "N/A", "attribution": ""},
]
GOOD = write("csv", ROWS)


def fatal(data: bytes, name: str = "answers.csv", limits: Limits = LIMITS) -> str:
    """Why the file was refused; nothing of it may have been taken."""
    refused = accept(data, BENCHMARK, name, limits)
    assert refused.predictions == []
    assert (refused.digest, refused.coverage) == ("", 0.0)
    assert not refused.report.accepted
    return " ".join(refused.report.fatal)


def zipped(*names: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name in names:
            archive.writestr(name, "<x/>")
    return sink.getvalue()


def tarred() -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("answers.csv"), io.BytesIO())
    return sink.getvalue()


@pytest.mark.parametrize(
    "name", ["answers.txt", "answers.csv", "answers.json", "answers.jsonl", "answers.parquet", "a"]
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_is_told_from_content(kind: str, name: str) -> None:
    data = write(kind, ROWS)
    accepted = accept(data, BENCHMARK, name)
    assert accepted.report.accepted
    assert read_table(io.BytesIO(data), name, LIMITS).kind == kind
    assert accepted.digest == accept(GOOD, BENCHMARK).digest
    promised = {"txt": kind, "a": kind}.get(name.rpartition(".")[2], name.rpartition(".")[2])
    assert any("the name says otherwise" in note for note in accepted.report.notes) == (promised != kind)


HARMLESS = {
    "BOM": b"\xef\xbb\xbf" + GOOD,
    "LF": GOOD.replace(b"\r\n", b"\n"),
    "lone CR": GOOD.replace(b"\r\n", b"\r"),
    "no final newline": GOOD.removesuffix(b"\r\n"),
    "blank last line": GOOD + b"\r\n",
    "blank lines": GOOD.replace(b"\r\n", b"\r\n\r\n"),
    "blanks on a line": GOOD + b"   \r\n",
    "blank rows of a sheet": GOOD + b",,\r\n,,\r\n",
    "swapped columns": write("csv", ROWS, ["attribution", "answer", "question"]),
    "everything quoted": b"\r\n".join(
        b",".join(b'"' + cell.encode() + b'"' for cell in cells)
        for cells in [tuple(ROWS[0]), *(tuple(row.values()) for row in ROWS)]
    ),
    "gzip in two members": gzip.compress(GOOD[:40]) + gzip.compress(GOOD[40:]),
    "gzip with padding": gzip.compress(GOOD) + b"\0" * 100,
    "BOM in JSON Lines": b"\xef\xbb\xbf" + write("jsonl", ROWS),
    "BOM in JSON": b"\xef\xbb\xbf" + write("json", ROWS),
    "CRLF in JSON Lines": write("jsonl", ROWS).replace(b"\n", b"\r\n"),
    "blank lines in JSON Lines": b"\n" + write("jsonl", ROWS).replace(b"\n", b"\n \n"),
}


@pytest.mark.parametrize("data", HARMLESS.values(), ids=HARMLESS.keys())
def test_same_content(data: bytes) -> None:
    accepted = accept(data, BENCHMARK)
    assert accepted.report.fatal == ()
    assert accepted.digest == accept(GOOD, BENCHMARK).digest
    assert accepted.coverage == 1.0


ENCODED = {
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 big-endian": b"\xfe\xff" + GOOD.decode().encode("utf-16-be"),
    "UTF-16LE": GOOD.decode().encode("utf-16-le"),
    "UTF-16BE": GOOD.decode().encode("utf-16-be"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "cp1252": GOOD.decode().encode("cp1252"),
}


@pytest.mark.parametrize("encoding", ENCODED)
def test_other_encodings_are_named_with_a_conversion(encoding: str) -> None:
    data = ENCODED[encoding]
    reason = fatal(data, "my answers.csv")
    assert encoding.split()[0] in reason
    code = reason.split("iconv -f ")[1].split()[0]
    assert "'my answers.csv' > 'utf8-my answers.csv'" in reason
    converted = data.decode(code).encode("utf-8")
    assert accept(converted, BENCHMARK).digest == accept(GOOD, BENCHMARK).digest


def test_the_place_of_a_wrong_byte_is_told() -> None:
    refused = accept(ENCODED["cp1252"], BENCHMARK)
    assert "line 2" in refused.report.fatal[0]
    assert refused.report.places[0].excerpt.startswith("what is tür,door")
    damaged = ("é" * 50 + "\n" + "ü" * 50).encode() + b"\xff,x\n"
    assert "but for the byte 0xFF in line 2" in fatal(damaged)


FOREIGN = {
    "Excel workbook (.xlsx)": zipped("[Content_Types].xml", "xl/workbook.xml"),
    "Word document": zipped("word/document.xml"),
    "OpenDocument": zipped("mimetype", "content.xml"),
    "zip archive": zipped("answers.csv"),
    "old Excel": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 500,
    "PDF": b"%PDF-1.7\n",
    "bzip2": bz2.compress(GOOD),
    "xz": lzma.compress(GOOD),
    "Zstandard": b"\x28\xb5\x2f\xfd\x04\x00",
    "tar": tarred(),
    "7-Zip": b"7z\xbc\xaf\x27\x1c\0\4",
    "Feather": b"ARROW1\0\0",
    "HTML": b"\n<!DOCTYPE html><html></html>",
    "SQLite": b"SQLite format 3\x00",
    "binary file": bytes(range(256)) * 4,
    "gzipped twice": gzip.compress(gzip.compress(GOOD)),
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("what", FOREIGN)
def test_other_files_are_refused_by_name(what: str, packed: bool) -> None:
    data = gzip.compress(FOREIGN[what]) if packed else FOREIGN[what]
    assert what in fatal(data)


def test_directory(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="is a directory"):
        open_file(tmp_path)
    with pytest.raises(NotFound):
        open_file(tmp_path / "none.csv")
    with pytest.raises(InvalidInput):
        open_file(tmp_path / ("x" * 300))
    (tmp_path / "good.csv").write_bytes(GOOD)
    with open_file(tmp_path / "good.csv") as stream:
        assert stream.read() == GOOD


class Broken(io.RawIOBase):
    """A stream whose reading fails."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        raise self.error


@pytest.mark.parametrize(
    "error, word", [(IsADirectoryError(21, "x"), "directory"), (OSError(5, "Input/output error"), "Input/output")]
)
def test_streams_that_cannot_be_read(error: OSError, word: str) -> None:
    table = read_table(Broken(error), "x", LIMITS)  # type: ignore[arg-type]
    assert word in table.report.fatal[0]


def test_empty_files() -> None:
    assert "0 bytes" in fatal(b"")
    assert "empty" in fatal(gzip.compress(b""))
    assert "blanks" in fatal(b" \n\n")
    assert "blanks" in fatal(b"\xef\xbb\xbf")
    assert "a header and no rows" in fatal(b"question,answer,attribution\n")
    assert "no rows" in fatal(b"[]")
    assert "no rows" in fatal(write("parquet", [], ["question", "answer", "attribution"]))


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_gzip(kind: str) -> None:
    packed = gzip.compress(write(kind, ROWS))
    assert "too early" in fatal(packed[:-5])
    assert "too early" in fatal(packed[:12])
    assert "damaged" in fatal(packed[:-6] + b"\0" + packed[-5:])
    assert "other bytes" in fatal(packed + b"rest")


def test_a_gzip_bomb_is_refused_by_its_ratio_before_it_is_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join([*(packer.compress(b"0" * 1_000_000) for _ in range(300)), packer.flush()])
    assert len(bomb) < 300_000
    tracemalloc.start()
    reason = fatal(bomb, limits=Limits(ratio=10))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "more than 10 times" in reason
    assert peak < 20_000_000
    assert "unpacks to more than the 2 MiB allowed" in fatal(bomb, limits=Limits(ratio=2000, unpacked_bytes=2**21))


def test_limits_on_size_and_rows() -> None:
    assert "larger than the 50 bytes allowed" in fatal(GOOD, limits=Limits(file_bytes=50))
    for kind in KINDS:
        data = write(kind, ROWS)
        assert "rows" in fatal(data, limits=Limits(rows=2))
        assert accept(data, BENCHMARK, limits=Limits(rows=3, file_bytes=len(data))).report.accepted
