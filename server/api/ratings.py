"""Human ratings: batches, raters and sheets; for maintainers."""

from __future__ import annotations

import io
from typing import Any

from apiflask import APIBlueprint
from flask import Response

from core.tables import RatingBatch, RatingSheet
from scorer.agreement_report import batch_agreement
from server import ratings as documents
from server.access import only
from server.addresses import number
from server.api.documents import answers
from server.api.rating_schemas import (
    AgreementOut,
    ApplyIn,
    BatchesOut,
    BatchOut,
    BenchmarkQuery,
    ExportQuery,
    LeaveOutIn,
    PreviewOut,
    RaterOut,
    RatersOut,
    RatersQuery,
    RatingFileIn,
    RevisionsQuery,
    SheetIn,
    SheetOut,
    SheetQuery,
)
from server.context import services, signed_in
from server.downloads import TYPES, attachment

bp = APIBlueprint("ratings", __name__, url_prefix="/ratings", tag="Human ratings")
_FILES = {TYPES[kind]: kind for kind in ("csv", "jsonl", "parquet")}


@bp.post("/preview")
@only("maintainer")
@bp.input(RatingFileIn, location="form_and_files")
@bp.output(PreviewOut)
@answers(bp, 400, 403, 404, 413)
def preview(form_and_files_data: dict[str, Any]) -> dict[str, Any]:
    """Say what applying a file of ratings would change; nothing is stored"""
    sent = dict(form_and_files_data)
    file, benchmark = sent.pop("file"), sent.pop("benchmark")
    return documents.preview_document(services().ratings.preview(benchmark, file.stream, file.filename or "", **sent))


@bp.post("")
@only("maintainer")
@bp.input(ApplyIn, location="form_and_files")
@bp.output(BatchOut, status_code=201)
@answers(bp, 400, 403, 404, 409, 413, 422)
def apply(form_and_files_data: dict[str, Any]) -> dict[str, Any]:
    """Apply a file as one batch; the submissions whose labels change are evaluated again"""
    sent = dict(form_and_files_data)
    file, benchmark = sent.pop("file"), sent.pop("benchmark")
    author = signed_in().team
    return _shown(services().ratings.apply(benchmark, file.stream, file.filename or "", author=author, **sent))


@bp.get("")
@only("maintainer")
@bp.input(BenchmarkQuery, location="query")
@bp.output(BatchesOut)
@answers(bp, 400, 403, 404)
def batches(query_data: dict[str, Any]) -> dict[str, Any]:
    """The batches, oldest first"""
    found = services().ratings.batches(query_data["benchmark"])
    with services().database.reading() as session:
        return {"batches": documents.batch_documents(session, found)}


@bp.get("/export")
@only("maintainer")
@bp.input(ExportQuery, location="query")
@answers(bp, 400, 403, 404, files=_FILES)
def export(query_data: dict[str, str]) -> Response:
    """The label cache, or every rating of every batch, as a file"""
    return attachment(*documents.exported(services(), **query_data))


@bp.post("/<batch_id>/revoke")
@only("maintainer")
@bp.output(BatchOut)
@answers(bp, 403, 404, 409)
def revoke(batch_id: str) -> dict[str, Any]:
    """Take a batch out of every label; its rows stay"""
    return _shown(services().ratings.revoke(number(batch_id, "rating batch"), signed_in().team))


@bp.post("/<batch_id>/close")
@only("maintainer")
@bp.output(BatchOut)
@answers(bp, 403, 404, 409)
def close(batch_id: str) -> dict[str, Any]:
    """Let a batch that raters work on count as it is"""
    return _shown(services().assignments.close(number(batch_id, "rating batch")))


@bp.get("/<batch_id>/agreement")
@only("maintainer")
@bp.output(AgreementOut)
@answers(bp, 403, 404)
def agreement(batch_id: str) -> dict[str, Any]:
    """Krippendorff's alpha, ties, and each rater against the majority or the known answers"""
    with services().database.reading() as session:
        found = batch_agreement(session, number(batch_id, "rating batch"))
        return documents.agreement_document(found)


@bp.get("/raters")
@only("maintainer")
@bp.input(RatersQuery, location="query")
@bp.output(RatersOut)
@answers(bp, 400, 403, 404)
def raters(query_data: dict[str, str]) -> dict[str, Any]:
    """Who was ever left out of a benchmark's labels"""
    return {"raters": [documents.exclusion_document(row) for row in services().raters.history(query_data["benchmark"])]}


@bp.post("/raters/leave-out")
@only("maintainer")
@bp.input(LeaveOutIn, location="json")
@bp.output(RaterOut)
@answers(bp, 400, 403, 404, 409)
def leave_out(json_data: dict[str, str]) -> dict[str, Any]:
    """Take a rater's ratings out of every label of a benchmark, past and to come"""
    row = services().raters.leave_out(json_data["benchmark"], json_data["rater"], signed_in().team, json_data["reason"])
    return documents.exclusion_document(row)


@bp.post("/raters/take-back")
@only("maintainer")
@bp.input(LeaveOutIn(only=("benchmark", "rater")), location="json", schema_name="TakeBackIn")
@bp.output(RaterOut)
@answers(bp, 400, 403, 404)
def take_back(json_data: dict[str, str]) -> dict[str, Any]:
    """Let a rater's ratings count again"""
    row = services().raters.take_back(json_data["benchmark"], json_data["rater"], signed_in().team)
    return documents.exclusion_document(row)


@bp.post("/sheets")
@only("maintainer")
@bp.input(SheetIn, location="json")
@bp.output(SheetOut, status_code=201)
@answers(bp, 400, 403, 404)
def sheet(json_data: dict[str, Any]) -> RatingSheet:
    """Draw the next unrated triples, with the probability of each; in the editing track, revisions"""
    return documents.drawn(services(), signed_in().team, **json_data)


@bp.get("/sheets/<sheet_id>/download")
@only("maintainer")
@bp.input(SheetQuery, location="query")
@answers(bp, 400, 403, 404, files=_FILES)
def sheet_download(sheet_id: str, query_data: dict[str, str]) -> Response:
    """A sheet for raters to fill in"""
    data = io.BytesIO()
    services().sheets.write(number(sheet_id, "rating sheet"), query_data["kind"], data)
    return attachment(data.getvalue(), f"sheet-{sheet_id}.{query_data['kind']}")


@bp.get("/revisions")
@only("maintainer")
@bp.input(RevisionsQuery, location="query")
@answers(bp, 400, 403, 404, files=_FILES)
def revisions(query_data: dict[str, Any]) -> Response:
    """A sheet of the editing track for raters to fill in: the sentences and intents that nobody has rated"""
    asked = dict(query_data)
    submissions = asked.pop("submission")
    data, _ = documents.revision_sheet(services(), submissions=submissions, **asked)
    return attachment(data, f"{asked['benchmark']}-revisions.{asked['kind']}")


@bp.post("/sheets/<sheet_id>/open")
@only("maintainer")
@bp.output(BatchOut, status_code=201)
@answers(bp, 403, 404, 409)
def sheet_open(sheet_id: str) -> dict[str, Any]:
    """Give a sheet to the raters on the rater page"""
    return _shown(services().assignments.open(number(sheet_id, "rating sheet"), signed_in().team))


def _shown(batch: RatingBatch) -> dict[str, Any]:
    with services().database.reading() as session:
        return documents.batch_documents(session, [batch])[0]
