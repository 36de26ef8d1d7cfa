"""The maintainers' page for human ratings: batches, raters and sheets."""

from __future__ import annotations

import hashlib
import io
from typing import Any

from apiflask import APIBlueprint
from flask import Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as Redirect

from core.errors import AqaError, InvalidInput
from core.tracks import EDITING
from scorer.agreement_report import batch_agreement
from server import ratings as documents
from server.access import only
from server.addresses import number
from server.context import services, signed_in
from server.downloads import attachment
from submissions.ratings import Preview
from submissions.ratings.sheets import METHODS

bp = APIBlueprint("ratings", __name__, url_prefix="/ratings", enable_openapi=False)


@bp.get("")
@only("maintainer")
def overview() -> str:
    """Everything of one benchmark, and the form for a file."""
    return _overview()


@bp.post("")
@only("maintainer")
def send() -> tuple[str, int] | str | Redirect:
    """Preview a file, or apply the very one that was previewed."""
    try:
        file = request.files.get("file")
        if file is None or not file.filename:
            raise InvalidInput("No file was chosen.", "Choose a file of ratings; to apply it, the one you looked at.")
        data = file.stream.read(services().settings.max_file_bytes + 1)
        chosen: dict[str, Any] = {
            "synthetic": "synthetic" in request.form, "skip_unknown": "skip_unknown" in request.form,
        }  # fmt: skip
        seen = request.form.get("seen") == _fingerprint(data, chosen)
        if request.form.get("do") != "apply" or not seen:
            found = services().ratings.preview(_benchmark(), io.BytesIO(data), file.filename, **chosen)
            return _overview(preview=found, name=file.filename, seen=_fingerprint(data, chosen))
        note = request.form.get("note", "")[:5_000]
        batch = services().ratings.apply(
            _benchmark(), io.BytesIO(data), file.filename, author=signed_in().team, note=note, **chosen
        )
    except AqaError as error:
        return _overview(error=error), error.status
    return redirect(url_for(".one", batch_id=batch.id), 303)


@bp.get("/<batch_id>")
@only("maintainer")
def one(batch_id: str) -> str:
    """One batch: what it is, how far its raters agree, and who counts."""
    with services().database.reading() as session:
        found = batch_agreement(session, number(batch_id, "rating batch"))
        [batch] = documents.batch_documents(session, [found.batch])
    out = {row.rater for row in services().raters.history(batch["benchmark"]) if row.restored_at is None}
    editing = services().benchmarks.row(batch["benchmark"]).track == EDITING
    agreement = documents.agreement_document(found)
    return render_template("rating_batch.html", batch=batch, agreement=agreement, out=out, editing=editing)


@bp.post("/<batch_id>/revoke")
@only("maintainer")
def revoke(batch_id: str) -> Redirect:
    """Take a batch out of every label."""
    services().ratings.revoke(number(batch_id, "rating batch"), signed_in().team)
    return redirect(url_for(".one", batch_id=batch_id), 303)


@bp.post("/<batch_id>/close")
@only("maintainer")
def close(batch_id: str) -> Redirect:
    """Let a batch that raters work on count as it is."""
    services().assignments.close(number(batch_id, "rating batch"))
    return redirect(url_for(".one", batch_id=batch_id), 303)


@bp.post("/raters")
@only("maintainer")
def rater() -> Redirect:
    """Leave a rater out or take one back."""
    benchmark, name, by = _benchmark(), request.form.get("rater", ""), signed_in().team
    if request.form.get("do") == "take-back":
        services().raters.take_back(benchmark, name, by)
    else:
        services().raters.leave_out(benchmark, name, by, request.form.get("reason", "")[:1_000])
    return redirect(url_for(".overview", benchmark=benchmark), 303)


@bp.post("/sheets")
@only("maintainer")
def draw() -> tuple[str, int] | Response:
    """Draw a sheet and download it, or give it to the raters."""
    try:
        size, method = request.form.get("size", "").strip(), request.form.get("method", "all")
        amount = number(size, "sheet of the size") if size else None
        editing, before = services().benchmarks.get(_benchmark()).track == EDITING, "before" in request.form
        if editing and request.form.get("do") != "open":
            data, _ = documents.revision_sheet(services(), _benchmark(), "csv", [], amount, 0, before)
            return attachment(data, f"{_benchmark()}-revisions.csv")
        if editing:
            method = "random" if amount else "all"
        sheet = documents.drawn(services(), signed_in().team, _benchmark(), method, amount, 0, [], before)
        if request.form.get("do") == "open":
            batch = services().assignments.open(sheet.id, signed_in().team)
            return Response(status=303, headers={"Location": url_for(".one", batch_id=batch.id)})
        stream = io.BytesIO()
        services().sheets.write(sheet.id, "csv", stream)
    except AqaError as error:
        return _overview(error=error), error.status
    return attachment(stream.getvalue(), f"sheet-{sheet.id}.csv")


@bp.get("/export.<kind>")
@only("maintainer")
def export(kind: str) -> Response:
    """The label cache, or the ratings behind it."""
    what = "ratings" if request.args.get("what") == "ratings" else "labels"
    return attachment(*documents.exported(services(), _benchmark(), what, kind))


def _benchmark() -> str:
    named = request.form.get("benchmark") or request.args.get("benchmark", "")
    rows = services().benchmarks.all()
    return named or (rows[0].id if rows else "")


def _overview(preview: Preview | None = None, **shown: Any) -> str:
    benchmarks, chosen = services().benchmarks.all(), _benchmark()
    batches, history = [], []
    if chosen:
        with services().database.reading() as session:
            batches = documents.batch_documents(session, services().ratings.batches(chosen))[::-1]
        history = [documents.exclusion_document(row) for row in services().raters.history(chosen)]
    found = documents.preview_document(preview) if preview else None
    editing = any(row.id == chosen and row.track == EDITING for row in benchmarks)
    return render_template(
        "ratings.html", benchmarks=benchmarks, chosen=chosen, editing=editing, batches=batches, history=history,
        methods=METHODS, preview=found, sent=request.form, settings=services().settings, **shown,
    )  # fmt: skip


def _fingerprint(data: bytes, chosen: dict[str, Any]) -> str:
    return hashlib.sha256(data + repr(sorted(chosen.items())).encode()).hexdigest()
