"""Benchmarks and the files to start from."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response

from core.tables import BenchmarkRow
from server.access import public
from server.api.documents import answers
from server.api.schemas import BenchmarkOut, BenchmarksOut, TemplateQuery
from server.context import services
from server.downloads import attachment
from submissions import tracks

bp = APIBlueprint("benchmarks", __name__, url_prefix="/benchmarks", tag="Benchmarks")


@bp.get("")
@public
@bp.output(BenchmarksOut)
@answers(bp, token=False)
def benchmarks() -> dict[str, Any]:
    """All benchmarks"""
    return {"benchmarks": services().benchmarks.all()}


@bp.get("/<benchmark_id>")
@public
@bp.output(BenchmarkOut)
@answers(bp, 404, token=False)
def benchmark(benchmark_id: str) -> BenchmarkRow:
    """One benchmark"""
    return services().benchmarks.row(benchmark_id)


@bp.get("/<benchmark_id>/template")
@public
@bp.input(TemplateQuery, location="query")
@answers(
    bp,
    400,
    404,
    token=False,
    files={"text/csv": "the columns of the benchmark's track", "application/x-ndjson": "the same as JSON lines"},
)
def benchmark_template(benchmark_id: str, query_data: dict[str, str]) -> Response:
    """A file with all questions or passages and empty answers or revisions, ready to be filled"""
    kind = query_data["kind"]
    chosen = services().benchmarks.get(benchmark_id)
    data = tracks.of(chosen).template(chosen.questions, kind)
    return attachment(data, f"{benchmark_id}-template.{kind}")
