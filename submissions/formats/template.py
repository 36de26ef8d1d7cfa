"""Files to fill in, such as predictions: all questions of a benchmark with empty answers and attributions."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

from core.errors import InvalidInput
from core.records import Question
from submissions.formats.csv_rows import DELIMITERS
from submissions.formats.predictions import COLUMNS

KINDS = ("csv", "tsv", "jsonl", "json", "parquet")


def template(questions: Sequence[Question], kind: str) -> bytes:
    """The template as a file of `kind`, one of `KINDS`. Raises `InvalidInput` for another kind."""
    return filled(COLUMNS, [(question.id, question.text, "", "") for question in questions], kind)


def filled(columns: Sequence[str], values: Sequence[Sequence[Any]], kind: str) -> bytes:
    """Rows of text, or other values in JSON, as a file of `kind`, one of `KINDS`; `InvalidInput` for another kind."""
    rows = [dict(zip(columns, row, strict=True)) for row in values]
    if kind in DELIMITERS:
        # CRLF, because the writer quotes only those line ends that it writes itself.
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, columns, delimiter=DELIMITERS[kind], lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode("utf-8")
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8")
    if kind == "json":
        return (json.dumps(rows, ensure_ascii=False, indent=1) + "\n").encode("utf-8")
    if kind == "parquet":
        return _parquet(columns, rows)
    raise InvalidInput(f"There is no template of kind {kind!r}.", f"Choose one of {', '.join(KINDS)}.")


def _parquet(columns: Sequence[str], rows: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in columns])
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), sink)
    return sink.getvalue()
