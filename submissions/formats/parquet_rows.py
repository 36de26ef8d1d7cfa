"""Parquet: columns of text as they are, whole numbers as their digits, all other types refused by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from submissions.formats.cells import check_cell
from submissions.formats.columns import Columns
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.limits import Limits, readable_size
from submissions.formats.rows import TableRow


def read_parquet(data: bytes, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    """All rows of a Parquet file. Raises `BadFile` where reading cannot go on."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Dictionaries keep a text that stands in many rows once in memory, however often it is repeated.
        source = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
        names = _check_schema(source, columns, limits, findings)
        if findings.refused:
            return []
        source = pq.ParquetFile(pa.BufferReader(data), read_dictionary=names, page_checksum_verification=True)
        return _rows(source, names, columns, limits, findings)
    except (pa.ArrowException, OSError, ValueError, KeyError, OverflowError, NotImplementedError) as error:
        reason = excerpt(str(error).splitlines()[0] if str(error) else type(error).__name__)
        raise BadFile("unreadable", f"The Parquet file is damaged or of a kind that is not read ({reason}).") from None


def _check_schema(source: Any, columns: Columns, limits: Limits, findings: Findings) -> list[str]:
    """The names of the columns to read, as found; reports columns of the wrong type and files that are too large."""
    metadata = source.metadata
    if metadata.num_rows > limits.rows:
        message = f"The file holds {metadata.num_rows:,} rows; the most allowed is {limits.rows:,}."
        raise BadFile("too_large", message)
    unpacked = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    if unpacked > limits.unpacked_bytes:
        largest = readable_size(limits.unpacked_bytes)
        raise BadFile("too_large", f"The file unpacks to {readable_size(unpacked)}; the most allowed is {largest}.")
    schema = source.schema_arrow
    twice = next((name for name, times in Counter(schema.names).items() if times > 1), None)
    if twice is not None:
        raise BadFile("wrong_header", f"The column “{excerpt(twice)}” stands twice. Keep one of them.")
    for name in schema.names:
        target = columns.add(name)
        if target is not None:
            _check_type(name, schema.field(name).type, target in columns.nested, findings)
    return [name for name in schema.names if columns.kept[name] is not None]


def _check_type(name: str, kind: Any, nested: bool, findings: Findings) -> None:
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(value):
        findings.note(f"Column “{excerpt(name)}” holds whole numbers; their digits were taken as text.")
    elif not (_is_text(value) or types.is_null(value)):
        # Lists are not read: a few bytes of a file can stand for a list of millions, which is told only by reading it.
        why = "which is not read" if nested else "so what was typed is not known any more"
        how = "as JSON text: df[column].map(json.dumps)" if nested else "as text (string)"
        findings.problem(
            "column_type", f"Column “{excerpt(name)}” has the type {excerpt(str(kind))}, {why}. Store it {how}."
        )


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    checks = (types.is_string, types.is_large_string, types.is_string_view)
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(check(kind) for check in checks + binary)


def _rows(source: Any, names: list[str], columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    rows: list[TableRow] = []
    size = 0
    for row, texts in enumerate(_records(source, names), 1):
        size += sum(len(text) for text in texts if text is not None)
        if size > limits.unpacked_bytes:
            largest = readable_size(limits.unpacked_bytes)
            raise BadFile("too_large", f"The values of the file unpack to more than the {largest} allowed.")
        start = next((text for text in texts if text), "")
        sound = [
            text is None or check_cell(row, name, text, start, limits, findings)
            for name, text in zip(names, texts, strict=True)
        ]
        if all(sound):
            kept = zip(names, texts, strict=True)
            rows.append(TableRow(row, {columns.kept[name] or name: text for name, text in kept}))
    return rows


def _records(source: Any, names: list[str]) -> Iterator[tuple[str | None, ...]]:
    if not names:
        yield from ((),) * source.metadata.num_rows
        return
    for group in range(source.metadata.num_row_groups):
        for batch in source.read_row_group(group, columns=names, use_threads=False).to_batches():
            batch.validate(full=True)  # a damaged file may hold indices beyond its dictionary
            yield from zip(*(_texts(batch.column(name), name) for name in names), strict=True)


def _texts(array: Any, name: str) -> list[str | None]:
    """A column's values as text; raises `BadFile` for bytes that are not UTF-8."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        values = _texts(array.dictionary, name)
        return [None if index is None else values[index] for index in array.indices.to_pylist()]
    try:
        if pa.types.is_integer(array.type):
            return [None if value is None else str(value) for value in array.to_pylist()]
        return [value.decode("utf-8") if isinstance(value, bytes) else value for value in array.to_pylist()]
    except UnicodeDecodeError:
        message = f"Column “{excerpt(name)}” holds bytes that are not UTF-8. Store it as text (string)."
        raise BadFile("wrong_encoding", message) from None
