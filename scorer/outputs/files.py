"""Writing scored outputs as JSON Lines, CSV and Parquet, with a manifest that lets another party replay them."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from core.folders import appearing_together
from core.tabular import CSV_ESCAPE, csv_writer, escape_formula
from core.tracks import EDITING, QA
from scorer.outputs import revisions
from scorer.outputs.examples import Example, examples
from scorer.outputs.manifest import Source, manifest
from scorer.outputs.record import Outputs
from scorer.outputs.scores import scores_document


@dataclass(frozen=True)
class Layout:
    """One track's rows: their dataclass, how they are made, and what is not text in them, in Arrow's words."""

    row: type[Any]
    rows: Callable[[Outputs], Iterable[Any]]
    arrow: Callable[[], dict[str, Any]]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names in order."""
        return tuple(field.name for field in fields(self.row))


def _qa_arrow() -> dict[str, Any]:
    import pyarrow as pa

    texts, numbers = pa.list_(pa.string()), pa.float64()
    return {"references": texts, "reasons": texts} | dict.fromkeys(("em", "f1", "autoais", "autoais_p"), numbers)


LAYOUTS: dict[str, Layout] = {
    QA: Layout(Example, examples, _qa_arrow),
    EDITING: Layout(revisions.RevisedPassage, revisions.revised_passages, revisions.arrow),
}


def write_jsonl(layout: Layout, rows: Iterable[Any], stream: BinaryIO) -> None:
    """One JSON object a line, nothing escaped beyond JSON's own rules."""
    for row in rows:
        stream.write(json.dumps(asdict(row), ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass"))
        stream.write(b"\n")


def write_csv(layout: Layout, rows: Iterable[Any], stream: BinaryIO) -> None:
    """RFC 4180 with LF; lists as JSON; formulas escaped (see `CSV_ESCAPE`)."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv_writer(text)
    writer.writerow(layout.columns)
    writer.writerows([_cell(value) for value in asdict(row).values()] for row in rows)
    text.detach()


def write_parquet(layout: Layout, rows: Iterable[Any], stream: BinaryIO) -> None:
    """Typed columns: text, float64 and lists; zstd."""
    import pyarrow as pa
    from pyarrow import parquet

    kinds = layout.arrow()
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in layout.columns])
    parquet.write_table(pa.Table.from_pylist([asdict(row) for row in rows], schema), stream, compression="zstd")


KINDS: dict[str, Callable[[Layout, Iterable[Any], BinaryIO], None]] = {
    "jsonl": write_jsonl,
    "csv": write_csv,
    "parquet": write_parquet,
}


def write_examples(outputs: Outputs, kind: str, stream: BinaryIO) -> None:
    """The rows of the benchmark's track in one of `KINDS`."""
    layout = LAYOUTS[outputs.benchmark.track]
    KINDS[kind](layout, layout.rows(outputs), stream)


def write_all(outputs: Outputs, folder: Path, source: Source, kinds: Sequence[str] = ("jsonl",)) -> dict[str, Any]:
    """Write `scores.json`, `examples.KIND` and `manifest.json`; returns the scores document.

    They are written aside and appear together, by rename: on a full disk none does, and what was there stays. The same
    evaluation gives the same bytes.
    """
    document = scores_document(outputs)
    with appearing_together(folder) as at:
        written = [_write(at / "scores.json", lambda stream: stream.write(_pretty(document)))]
        for kind in kinds:
            written.append(_write(at / f"examples.{kind}", partial(write_examples, outputs, kind)))
        about = manifest(outputs, source, written, CSV_ESCAPE if "csv" in kinds else None)
        _write(at / "manifest.json", lambda stream: stream.write(_pretty(about)))
    return document


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        return escape_formula(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, tuple | list) else value


def _pretty(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False).encode("utf-8", "surrogatepass") + b"\n"


def _write(path: Path, fill: Callable[[BinaryIO], object]) -> Path:
    with path.open("wb") as stream:
        fill(stream)
    return path
