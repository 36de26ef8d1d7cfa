"""Independent writers of every kind of predictions file, for tests of the readers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from core.records import Question
from submissions.formats import Accepted, Limits, read_predictions

KINDS = ("csv", "tsv", "jsonl", "json", "parquet")
LIMITS = Limits()
PASSAGE = "http://en.wikipedia.org/wiki/Emma#Emma#Plot#2"
OTHER = "http://en.wikipedia.org/wiki/Paris#Paris"


def write(kind: str, rows: Sequence[Mapping[str, str]], header: Sequence[str] | None = None) -> bytes:
    """`rows` as a file; the columns are those of the first row unless `header` names them."""
    names = list(header or rows[0])
    if kind in ("csv", "tsv"):
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, names, delimiter="," if kind == "csv" else "\t")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode("utf-8")
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode("utf-8", "surrogatepass")
    if kind == "json":
        return json.dumps(rows).encode("ascii")
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=pa.schema([(name, pa.string()) for name in names])), sink)
    return sink.getvalue()


def questions(*texts: str) -> list[Question]:
    """A benchmark with ids q1, q2, …"""
    return [Question(position, f"q{position + 1}", text, ("x",)) for position, text in enumerate(texts)]


def accept(data: bytes, benchmark: Sequence[Question], name: str = "answers", limits: Limits = LIMITS) -> Accepted:
    """Read against a corpus that holds `PASSAGE` and `OTHER`."""

    def resolve(attributions: Sequence[str]) -> dict[str, str | None]:
        return {each: each if each in (PASSAGE, OTHER) else None for each in attributions}

    return read_predictions(io.BytesIO(data), name, benchmark, resolve, limits)
