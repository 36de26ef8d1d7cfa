"""The rater's page: one triple, sentence or intent at a time, and nothing that could sway the answer."""

from __future__ import annotations

from dataclasses import replace

from apiflask import APIBlueprint
from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from core.errors import AqaError, Conflict, InvalidInput
from core.tracks import EDITING
from leaderboard.word_diff import Piece, word_diff
from server.access import only
from server.addresses import number
from server.context import services, signed_in
from submissions.ratings import RevisionTask, Task

bp = APIBlueprint("rating", __name__, url_prefix="/rate", enable_openapi=False)
_YES_NO = {"Y": True, "N": False}


@bp.get("")
@only("rater")
def work() -> str:
    """What there is to rate, and how far one is."""
    assignments, rater = services().assignments, signed_in().team
    batches = [(batch, assignments.progress(batch.id, rater)) for batch in assignments.open_batches()]
    rows = services().benchmarks.all()
    editing = {row.id for row in rows if row.track == EDITING}
    passages = any(batch.benchmark_id in editing for batch, _ in batches)
    questions = not batches or any(batch.benchmark_id not in editing for batch, _ in batches)
    return render_template(
        "rate.html", batches=batches, titles={row.id: row.title for row in rows}, editing=editing, passages=passages,
        questions=questions,
    )  # fmt: skip


@bp.get("/<batch_id>")
@only("rater")
def following(batch_id: str) -> str:
    """The next question for this rater, or thanks."""
    at = number(batch_id, "batch for raters")
    return _page(at, services().assignments.next(at, signed_in().team))


@bp.get("/<batch_id>/<row>")
@only("rater")
def again(batch_id: str, row: str) -> str:
    """A question of the sheet with one's own answer."""
    at = number(batch_id, "batch for raters")
    return _page(at, services().assignments.task(at, number(row, "row"), signed_in().team))


@bp.get("/<batch_id>/<row>/previous")
@only("rater")
def previous(batch_id: str, row: str) -> Response:
    """To the last question that one answered before a row; to the same one if there is none."""
    at, before = number(batch_id, "batch for raters"), number(row, "row")
    found = services().assignments.previous(at, signed_in().team, before)
    return redirect(url_for(".again", batch_id=at, row=found.row if found else before), 303)


@bp.post("/<batch_id>/<row>")
@only("rater")
def answer(batch_id: str, row: str) -> tuple[str, int] | Response:
    """Store the answer and go on; what is wrong is shown above the questions."""
    at, place, rater = number(batch_id, "batch for raters"), number(row, "row"), signed_in().team
    task = services().assignments.task(at, place, rater)
    typed = _typed(task)
    try:
        _record(typed, rater)
    except Conflict:
        pass  # others completed this one, or the batch was closed: there is nothing to mend, so go on
    except InvalidInput as error:
        return _page(at, typed, error), error.status
    return redirect(url_for(".following", batch_id=at), 303)


def _typed(task: Task | RevisionTask) -> Task | RevisionTask:
    """The task with what the form holds."""
    note = request.form.get("note", "").strip()[:2_000]
    if isinstance(task, RevisionTask):
        return replace(task, said=_YES_NO.get(request.form.get("said", "")), note=note)
    interpretable = _YES_NO.get(request.form.get("interpretable", ""))
    supported = _YES_NO.get(request.form.get("supported", "")) if interpretable else None
    return replace(task, interpretable=interpretable, supported=supported, note=note)


def _record(task: Task | RevisionTask, rater: str) -> None:
    assignments = services().assignments
    if isinstance(task, RevisionTask):
        if task.said is None:
            raise InvalidInput("The question is not answered.", "Answer it with yes or no.")
        assignments.record_word(task.batch_id, task.row, rater, task.said, task.note)
        return
    if task.interpretable is None:
        raise InvalidInput("The first question is not answered.", "Answer it with yes or no.")
    if task.interpretable and task.supported is None:
        raise InvalidInput("The second question is not answered.", "Answer it with yes or no.")
    assignments.record(task.batch_id, task.row, rater, task.interpretable, task.supported, task.note)


def _page(batch_id: int, task: Task | RevisionTask | None, error: AqaError | None = None) -> str:
    progress = services().assignments.progress(batch_id, signed_in().team)
    template = "rate_task.html"
    pieces: tuple[Piece, ...] = ()
    if isinstance(task, RevisionTask):
        template, pieces = "rate_revision.html", word_diff(task.original, task.text) if task.of_intent else ()
    return render_template(template, task=task, batch_id=batch_id, progress=progress, error=error, pieces=pieces)
