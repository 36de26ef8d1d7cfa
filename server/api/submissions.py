"""Submitting files and following what becomes of them."""

from __future__ import annotations

from typing import Any

from apiflask import APIBlueprint
from flask import Response
from werkzeug.wrappers import Response as AnyResponse

from server import entries, history
from server.access import SUBMITTERS, only, public
from server.api.documents import answers
from server.api.schemas import (
    DownloadQuery,
    EntriesOut,
    EntriesQuery,
    EntryOut,
    IdempotencyIn,
    ReportOut,
    ScoresOut,
    SubmissionIn,
    ValidationIn,
    ValidationOut,
)
from server.context import identity, services, signed_in
from server.downloads import TYPES, attachment, stored
from server.entries import Entry
from server.idempotency import once
from server.limits import limited
from server.results import download, scores
from submissions.report import report_to_dict
from submissions.tracks import Read

bp = APIBlueprint("submissions", __name__, tag="Submissions")


@bp.post("/validate")
@limited("files")
@only(*SUBMITTERS)
@bp.input(ValidationIn, location="form_and_files")
@bp.output(ValidationOut)
@answers(bp, 400, 403, 404, 413)
def validate(form_and_files_data: dict[str, Any]) -> dict[str, Any]:
    """Read a file and report on it; nothing is stored and no quota is used"""
    file, benchmark = form_and_files_data["file"], form_and_files_data["benchmark"]
    return validation(benchmark, services().intake.validate(benchmark, file.stream, file.filename or ""))


@bp.post("/submissions")
@limited("files")
@only(*SUBMITTERS)
@bp.input(IdempotencyIn, location="headers")
@bp.input(SubmissionIn, location="form_and_files")
@bp.output(EntryOut, status_code=201)
@answers(bp, 400, 403, 404, 409, 413, 422, 429)
def submit(headers_data: dict[str, Any], form_and_files_data: dict[str, Any]) -> Entry:
    """Submit a file of predictions; its evaluation is queued

    A request that is sent again with the same `Idempotency-Key` gets the submission that the first one made.
    """
    sent = form_and_files_data
    made = once(services(), signed_in().team_id, headers_data["key"], sent)
    return _entry(made)


@bp.get("/submissions")
@only()
@bp.input(EntriesQuery, location="query")
@bp.output(EntriesOut)
@answers(bp, 400)
def submissions(query_data: dict[str, Any]) -> dict[str, Any]:
    """The team's own submissions, newest first"""
    with services().database.reading() as session:
        return {"submissions": entries.listed(session, services().queue, signed_in(), query_data["benchmark"])}


@bp.get("/submissions/<submission_id>")
@public
@bp.output(EntryOut)
@answers(bp, 404)
def submission(submission_id: str) -> Entry:
    """Where a submission stands; private ones are seen by their team only"""
    return _entry(submission_id)


@bp.get("/submissions/<submission_id>/versions")
@public
@bp.output(EntriesOut)
@answers(bp, 404)
def versions(submission_id: str) -> dict[str, Any]:
    """All versions of the same system on the same benchmark, newest first; others than the team see published ones"""
    with services().database.reading() as session:
        return {"submissions": history.versions(services(), session, identity(), submission_id)}


@bp.get("/submissions/<submission_id>/report")
@only()
@bp.output(ReportOut)
@answers(bp, 404)
def report(submission_id: str) -> dict[str, Any]:
    """What reading the file found"""
    with services().database.reading() as session:
        return entries.own(session, services().queue, signed_in(), submission_id).report


@bp.get("/submissions/<submission_id>/scores")
@public
@bp.output(ScoresOut)
@answers(bp, 404, 409)
def submission_scores(submission_id: str) -> dict[str, Any]:
    """Every metric with its interval, n and signature"""
    with services().database.reading() as session:
        return scores(services(), session, entries.find(session, services().queue, identity(), submission_id))


@bp.get("/submissions/<submission_id>/download")
@public
@bp.input(DownloadQuery, location="query")
@answers(bp, 400, 404, 409, files={TYPES[kind]: kind for kind in ("csv", "jsonl", "parquet", "json")})
def submission_download(submission_id: str, query_data: dict[str, str]) -> Response:
    """The scored outputs, question by question, or the manifest that lets others replay the evaluation"""
    return attachment(*download(services(), identity(), submission_id, query_data["kind"]))


@bp.get("/submissions/<submission_id>/file")
@only()
@answers(bp, 302, 404, files={"application/octet-stream": "the file"})
def submitted_file(submission_id: str) -> AnyResponse:
    """The file as it was submitted, for its team; a large one may be fetched from another address (302)"""
    with services().database.reading() as session:
        entry = entries.own(session, services().queue, signed_in(), submission_id)
    return stored(services(), entry.file_blob, entry.file_name or "predictions")


@bp.post("/submissions/<submission_id>/publish")
@only(*SUBMITTERS)
@bp.output(EntryOut)
@answers(bp, 403, 404, 409)
def publish(submission_id: str) -> Entry:
    """Show this version on the board"""
    return entries.change(services(), signed_in(), submission_id, services().intake.publish)


@bp.post("/submissions/<submission_id>/withdraw")
@only(*SUBMITTERS)
@bp.output(EntryOut)
@answers(bp, 403, 404, 409)
def withdraw(submission_id: str) -> Entry:
    """Take this version off the board; its history stays"""
    return entries.change(services(), signed_in(), submission_id, services().intake.withdraw)


def validation(benchmark: str, found: Read) -> dict[str, Any]:
    """What reading a file without storing it found."""
    return {
        "benchmark": benchmark,
        "coverage": found.coverage if found.report.accepted else None,
        "digest": found.digest or None,
        "report": report_to_dict(found.report),
    }


def _entry(submission_id: str) -> Entry:
    with services().database.reading() as session:
        return entries.find(session, services().queue, identity(), submission_id)
