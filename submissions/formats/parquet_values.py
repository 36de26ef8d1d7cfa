"""Values of a Parquet column as text: those of lists and structs as the JSON text that other kinds of file hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from submissions.formats.findings import BadFile, Findings, excerpt

_PER_ROW = 40
"""Values of a column of lists, per row that a file may have: a few bytes of a file can stand for millions of nulls."""


def check_type(name: str, kind: Any, keys: Sequence[str] | None, findings: Findings) -> None:
    """Report a type in which what was typed is not known any more.

    Where `keys` are given, lists and structs are taken: of a struct in a list, the fields of those names.
    """
    from pyarrow import types

    if keys is None or not is_nested(kind):
        _check_single(f"Column “{excerpt(name)}”", kind, findings)
        return
    value = kind.value_type if _is_list(kind) else kind
    if not types.is_struct(value):
        if not _is_list(value):
            _check_single(f"A value in column “{excerpt(name)}”", value, findings)
        return
    for key in keys if _is_list(kind) else ():
        found = value.get_all_field_indices(key)
        if len(found) > 1:
            message = f"The key “{key}” stands twice in column “{excerpt(name)}”. Keep one."
            findings.problem("wrong_header", message)
        elif found and not is_nested(value.field(found[0]).type):
            _check_single(f"“{key}” in column “{excerpt(name)}”", value.field(found[0]).type, findings)


def check_values(source: Any, name: str, rows: int) -> list[str]:
    """The paths of all that is in a column of lists or structs. Raises `BadFile` for more values than are read."""
    paths = [column.path for column in map(source.schema.column, range(len(source.schema)))]
    places = [at for at, path in enumerate(paths) if path == name or path.startswith(f"{name}.")]
    groups = [source.metadata.row_group(at) for at in range(source.metadata.num_row_groups)]
    values = max((sum(group.column(at).num_values for group in groups) for at in places), default=0)
    if values > (most := rows * _PER_ROW):
        raise BadFile("too_large", f"Column “{excerpt(name)}” holds {values:,} values; the most allowed is {most:,}.")
    return [paths[at] for at in places]


def is_nested(kind: Any) -> bool:
    """True for lists and structs."""
    from pyarrow import types

    return _is_list(kind) or bool(types.is_struct(kind))


def texts(array: Any, name: str) -> list[str | None]:
    """A column's values as text; raises `BadFile` for bytes that are not UTF-8."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        values = texts(array.dictionary, name)
        return [None if index is None else values[index] for index in array.indices.to_pylist()]
    try:
        if pa.types.is_integer(array.type):
            return [None if value is None else str(value) for value in array.to_pylist()]
        return [value.decode("utf-8") if isinstance(value, bytes) else value for value in array.to_pylist()]
    except UnicodeDecodeError:
        message = f"Column “{excerpt(name)}” holds bytes that are not UTF-8. Store it as text (string)."
        raise BadFile("wrong_encoding", message) from None


def nested_texts(array: Any, name: str, keys: Sequence[str], longest: int) -> Iterator[str | None]:
    """Each list or struct of a column as JSON text, row by row; one that grows beyond `longest` is cut behind that.

    Structs in a list have the fields in `keys`; what is nested deeper is only told to be a list or an object.
    """
    import pyarrow.compute as pc

    if not _is_list(array.type):
        yield from (None if missing else "{}" for missing in array.is_null().to_pylist())
        return
    values = _elements(array.flatten(), name, keys)
    for length in pc.list_value_length(array).to_pylist():
        if length is None:
            yield None
            continue
        parts: list[str] = []
        size = 0
        for _ in range(length):
            part = next(values) if size <= longest else _skipped(values)
            size += len(part)
            parts += [part] * bool(part)
        yield f"[{', '.join(parts)}]"


def _skipped(values: Iterator[str]) -> str:
    next(values)
    return ""


def _elements(array: Any, name: str, keys: Sequence[str]) -> Iterator[str]:
    """The values of all lists, one after the other; texts that stand in many are kept once."""
    from pyarrow import types

    if not types.is_struct(array.type):
        yield from map(_json, _told(array, name))
        return
    known = [(key, at) for key in keys if (at := array.type.get_field_index(key)) >= 0]
    fields = array.flatten()
    columns = [_told(fields[at], name) for _, at in known]
    for at, missing in enumerate(array.is_null().to_pylist()):
        held = (f"{_json(key)}: {_json(column[at])}" for (key, _), column in zip(known, columns, strict=True))
        yield "null" if missing else f"{{{', '.join(held)}}}"


class _Kind(str):
    """JSON itself, in place of a value."""


def _told(array: Any, name: str) -> list[str | None]:
    if not is_nested(array.type):
        return texts(array, name)
    shown = _Kind("[]" if _is_list(array.type) else "{}")
    return [None if missing else shown for missing in array.is_null().to_pylist()]


def _json(value: str | None) -> str:
    return value if isinstance(value, _Kind) else json.dumps(value, ensure_ascii=False)


def _check_single(where: str, kind: Any, findings: Findings) -> None:
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    if types.is_integer(value):
        findings.note(f"{where} holds whole numbers; their digits were taken as text.")
    elif not (_is_text(value) or types.is_null(value)):
        findings.problem(
            "column_type",
            f"{where} has the type {excerpt(str(kind))}, so what was typed is not known any more. "
            "Store it as text (string).",
        )


def _is_list(kind: Any) -> bool:
    from pyarrow import types

    return any(check(kind) for check in (types.is_list, types.is_large_list, types.is_fixed_size_list))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    checks = (types.is_string, types.is_large_string, types.is_string_view)
    binary = (types.is_binary, types.is_large_binary, types.is_binary_view)
    return any(check(kind) for check in checks + binary)
