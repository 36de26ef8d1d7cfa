"""Any file of rows, read as text: the layer that predictions and human ratings share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO

from core.records import Report
from submissions.formats.columns import Columns, listed
from submissions.formats.csv_rows import delimited_kind, read_csv
from submissions.formats.decode import read_bytes, unpack, utf8
from submissions.formats.detect import KIND_NAMES, PARQUET, name_disagrees, refuse_foreign, text_kind
from submissions.formats.findings import BadFile, Findings, excerpt
from submissions.formats.json_rows import read_json, read_jsonl
from submissions.formats.limits import Limits
from submissions.formats.parquet_rows import read_parquet
from submissions.formats.rows import TableRow


@dataclass(frozen=True)
class Table:
    """A file's rows as text. `kind` is csv, tsv, jsonl, json, parquet, or "" if it could not be told.

    `header` holds the names as found; `rows` only the sound rows, so take them only if the report is accepted. Where
    reading could not go on or columns are ambiguous, `legible` is False, and rows can not even be counted.
    """

    kind: str
    header: tuple[str, ...]
    rows: list[TableRow]
    report: Report
    legible: bool = True


def read_table(
    stream: BinaryIO, name: str, limits: Limits, columns: Sequence[str] | None = None, nested: Sequence[str] = ()
) -> Table:
    """Read CSV, TSV, JSON Lines, a JSON array or Parquet, gzipped or not; never raises for a bad file.

    `columns` names those to keep (blanks around a name and its case do not matter); None keeps all. Values come out
    as typed: nothing is taken for a number, a date or a missing value. Columns in `nested` may hold lists and objects
    in JSON; they come out as JSON text. `name` serves messages only.
    """
    findings = Findings()
    found = Columns(columns, nested)
    kind = ""
    rows: list[TableRow] = []
    legible = True
    try:
        data = unpack(read_bytes(stream, limits), limits)
        kind, data = _tell(data, name, limits)
        rows = _read(kind, data, found, limits, findings)
    except BadFile as error:
        findings.bad_file(error)
        legible = False
    found.check(findings)
    if kind and name_disagrees(name, kind):
        findings.note(f"Read as {KIND_NAMES[kind]}, which is what the content is; the name says otherwise.")
    report = findings.report()
    if legible:
        report = replace(report, counts={"rows": len(rows)} | report.counts)
    return Table(kind, found.header, rows, report, legible and "wrong_header" not in report.counts)


def begin(table: Table, counts: Sequence[str], go_on: bool = False) -> tuple[Findings, Report | None]:
    """Findings that go on from a table's own, with these counts at least; and the report where it cannot be used.

    That report counts only what reading the table found. With `go_on` the sound rows of a table are looked at although
    others refuse it, so that one report names everything.
    """
    findings = Findings.resumed(table.report, counts)
    usable = table.report.accepted or (go_on and table.legible)
    return findings, None if usable else table.report


def whole_rows(
    table: Table, lacking: Callable[[Collection[str]], Sequence[str]], mend: str, findings: Findings
) -> Iterator[TableRow]:
    """Rows with all their fields, of which `lacking` names those that are not there; reports the others.

    Rows without any text are left out with a note. `mend` says what to write for a value that there is not.
    """
    blank = 0
    for row in table.rows:
        if not any(text and not text.isspace() for text in row.cells.values()):
            blank += 1
        elif names := lacking(row.cells.keys()):
            start = next((text for text in row.cells.values() if text), "")
            findings.problem("missing_field", f"This row lacks {listed(names)}. {mend}", row.row, excerpt(start))
        else:
            yield row
    if blank:
        findings.note(f"Rows without any text were left out: {blank:,}.")


def _tell(data: bytes, name: str, limits: Limits) -> tuple[str, bytes]:
    """The kind of file and the bytes to read it from. Raises `BadFile` for a kind or an encoding that is not read."""
    if data.startswith(PARQUET):
        return "parquet", data
    refuse_foreign(data)
    text = utf8(data, name)
    kind = text_kind(text)
    return (delimited_kind(text, limits) if kind == "delimited" else kind), text


def _read(kind: str, data: bytes, columns: Columns, limits: Limits, findings: Findings) -> list[TableRow]:
    if kind == "parquet":
        return read_parquet(data, columns, limits, findings)
    if kind == "json":
        return read_json(data, columns, limits, findings)
    if kind == "jsonl":
        return read_jsonl(data, columns, limits, findings)
    return read_csv(data, kind, columns, limits, findings)
