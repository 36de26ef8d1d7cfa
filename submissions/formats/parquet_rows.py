"""Parquet: texts as they are, whole numbers as digits, lists as JSON where they may stand; other types are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from submissions.formats.cells import check_cell
from submissions.formats.columns import Columns
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.limits import Limits, readable_size
from submissions.formats.parquet_values import check_type, check_values, is_nested, nested_texts, texts
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
        paths = [path for name in names for path in _paths(source, name, limits)]
        source = pq.ParquetFile(pa.BufferReader(data), read_dictionary=paths, page_checksum_verification=True)
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
            check_type(name, schema.field(name).type, columns.nested.get(target), findings)
    return [name for name in schema.names if columns.kept[name] is not None]


def _paths(source: Any, name: str, limits: Limits) -> list[str]:
    """Where the values of a column are stored. Raises `BadFile` for a column of too many values."""
    kind = source.schema_arrow.field(name).type
    return check_values(source, name, limits.rows) if is_nested(kind) else [name]


def _rows(source: Any, names: list[str], columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    rows: list[TableRow] = []
    size = 0
    for row, cells in enumerate(_records(source, names, columns, limits), 1):
        size += sum(len(text) for text in cells if text is not None)
        if size > limits.unpacked_bytes:
            largest = readable_size(limits.unpacked_bytes)
            raise BadFile("too_large", f"The values of the file unpack to more than the {largest} allowed.")
        start = next((text for text in cells if text), "")
        sound = [
            text is None or check_cell(row, name, text, start, limits, findings)
            for name, text in zip(names, cells, strict=True)
        ]
        if all(sound):
            kept = zip(names, cells, strict=True)
            rows.append(TableRow(row, {columns.kept[name] or name: text for name, text in kept}))
    return rows


def _records(source: Any, names: list[str], columns: Columns, limits: Limits) -> Iterator[tuple[str | None, ...]]:
    if not names:
        yield from ((),) * source.metadata.num_rows
        return
    for group in range(source.metadata.num_row_groups):
        for batch in source.read_row_group(group, columns=names, use_threads=False).to_batches():
            batch.validate(full=True)  # a damaged file may hold indices beyond its dictionary
            yield from zip(*(_column(batch.column(name), name, columns, limits) for name in names), strict=True)


def _column(array: Any, name: str, columns: Columns, limits: Limits) -> Iterable[str | None]:
    if not is_nested(array.type):
        return texts(array, name)
    return nested_texts(array, name, columns.nested[columns.kept[name] or name], limits.field_bytes)
