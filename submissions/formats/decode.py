"""From a stream to bytes of known size and encoding: size limits, gzip, UTF-8 or the name of what it is instead."""

from __future__ import annotations

import codecs
import gzip
import io
import shlex
import zlib
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput, NotFound, Refused
from submissions.formats.detect import GZIP, WANTED
from submissions.formats.findings import BadFile, excerpt
from submissions.formats.limits import MIB, Limits, readable_size

_CHUNK = MIB
_SMALL = MIB  # a file that unpacks to less than this is harmless whatever its ratio
_BOMS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading.

    Raises `Refused` for a directory, `NotFound` if there is nothing, `InvalidInput` if it may not be read.
    """
    try:
        return path.open("rb")
    except IsADirectoryError:
        raise Refused(f"{path} is a directory, not a file.", f"Name one file: {WANTED}.") from None
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "Check the path.") from None
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from None


def read_bytes(stream: BinaryIO, limits: Limits) -> bytes:
    """All bytes of a stream. Raises `BadFile` if it cannot be read, is empty or is larger than allowed."""
    pieces: list[bytes] = []
    size = 0
    try:
        while piece := stream.read(_CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > limits.file_bytes:
                largest = readable_size(limits.file_bytes)
                raise BadFile("too_large", f"The file is larger than the {largest} allowed. Gzip it or drop columns.")
    except IsADirectoryError:
        raise BadFile("wrong_type", f"This is a directory, not a file. Send one file: {WANTED}.") from None
    except OSError as error:
        raise BadFile("unreadable", f"The file cannot be read: {error.strerror or error}. Send it again.") from None
    if not size:
        raise BadFile("empty_file", "The file is empty (0 bytes).")
    return b"".join(pieces)


def unpack(data: bytes, limits: Limits) -> bytes:
    """`data`, gunzipped if it is gzip. Raises `BadFile` if it is damaged or grows beyond the limits."""
    if not data.startswith(GZIP):
        return data
    allowed = min(limits.unpacked_bytes, max(limits.ratio * len(data), _SMALL))
    pieces: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while piece := stream.read(_CHUNK):
                pieces.append(piece)
                size += len(piece)
                if size > allowed:
                    raise _too_much(len(data), allowed, limits)
    except EOFError:
        raise BadFile("unreadable", "The gzip file ends too early. Pack it or send it again.") from None
    except (OSError, zlib.error):
        message = "The gzip file is damaged, or there are other bytes behind its end. Pack it again."
        raise BadFile("unreadable", message) from None
    unpacked = b"".join(pieces)
    if unpacked.startswith(GZIP):
        raise BadFile("wrong_type", "The file is gzipped twice. Unpack it once.")
    if not unpacked:
        raise BadFile("empty_file", "The gzip file holds an empty file.")
    return unpacked


def _too_much(packed: int, allowed: int, limits: Limits) -> BadFile:
    if allowed == limits.unpacked_bytes:
        return BadFile("too_large", f"The gzip file unpacks to more than the {readable_size(allowed)} allowed.")
    return BadFile(
        "too_large",
        f"{readable_size(packed)} of gzip unpack to more than {readable_size(allowed)}; files that grow by more than "
        f"{limits.ratio} times are refused. Send it without gzip.",
    )


def utf8(data: bytes, name: str) -> bytes:
    """`data` without its BOM. Raises `BadFile` naming the encoding found if it is not UTF-8."""
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            raise _encoding(encoding, encoding, name)
    half = _utf16_without_bom(data[:4096])
    if half:
        raise _encoding(half, half, name)
    data = data.removeprefix(codecs.BOM_UTF8)
    bad = _first_bad_byte(data)
    if bad is not None:
        raise _not_utf8(data, bad, name)
    if not data.strip():
        raise BadFile("empty_file", "The file holds nothing but blanks.")
    return data


def _utf16_without_bom(sample: bytes) -> str | None:
    """UTF-16 of mostly Western text has NUL in every second byte."""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if half < 4 or max(even, odd) < 0.4 * half or min(even, odd) > 0.1 * half:
        return None
    return "UTF-16LE" if odd > even else "UTF-16BE"


def _first_bad_byte(data: bytes) -> int | None:
    """Checks in pieces, so that no decoded copy of the whole file is made."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    for start in range(0, len(data), _CHUNK):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(view[start : start + _CHUNK], final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return None


def _not_utf8(data: bytes, bad: int, name: str) -> BadFile:
    line_start = max(data.rfind(b"\n", 0, bad), data.rfind(b"\r", 0, bad)) + 1
    start = excerpt(data[line_start : line_start + 400].decode("cp1252", "replace"))
    line = max(data.count(b"\n", 0, bad), data.count(b"\r", 0, bad)) + 1
    sample = data[max(0, bad - 65536) : bad + 65536]
    control = sum(sample.count(bytes([code])) for code in (*range(9), *range(14, 32)))
    if control > len(sample) / 50:
        return BadFile("wrong_type", f"This is a binary file of an unknown kind. What is read is {WANTED}.")
    lenient = sample.decode("utf-8", "replace")
    broken = lenient.count("\ufffd")
    if sum(not char.isascii() for char in lenient) - broken > broken:
        message = f"The text is UTF-8, but for the byte 0x{data[bad]:02X} in line {line}. Write it again as UTF-8."
        return BadFile("wrong_encoding", message, None, start)
    try:
        sample.decode("cp1252")
    except UnicodeDecodeError:
        message = f"The text is not UTF-8 (line {line}) and its encoding is not known. Save it as UTF-8."
        return BadFile("wrong_encoding", message, None, start)
    return _encoding("Windows-1252 (cp1252)", "CP1252", name, f", first in line {line}", start)


def _encoding(found: str, code: str, name: str, where: str = "", start: str = "") -> BadFile:
    path = Path(name.removesuffix(".gz") or "answers.csv")
    command = f"iconv -f {code} -t UTF-8 {shlex.quote(path.name)} > {shlex.quote('utf8-' + path.name)}"
    return BadFile(
        "wrong_encoding",
        f"The text is encoded as {found}{where}; UTF-8 is needed. Convert it with `{excerpt(command)}`, or choose "
        "“CSV UTF-8” where it is saved.",
        None,
        start,
    )
