"""A team's submissions: the list, and each one with its status, report, scores and downloads."""

from __future__ import annotations

from apiflask import APIBlueprint
from flask import Response, redirect, render_template, url_for
from werkzeug.wrappers import Response as Redirect

from core.errors import NotFound
from server import entries, history, results
from server.access import SUBMITTERS, only, public
from server.context import identity, services, signed_in
from server.downloads import attachment, stored
from server.shown import Line, lines

bp = APIBlueprint("submissions", __name__, url_prefix="/submissions", enable_openapi=False)


@bp.get("")
@only()
def mine() -> str:
    """The team's submissions."""
    with services().database.reading() as session:
        found = entries.listed(session, services().queue, signed_in())
    return render_template("submissions.html", entries=found)


@bp.get("/<submission_id>")
@public
def one(submission_id: str) -> str:
    """One submission: the whole page."""
    return _render("submission.html", submission_id)


@bp.get("/<submission_id>/live")
@public
def live(submission_id: str) -> str:
    """The part of the page that changes while it is scored; the page asks for it again and again."""
    return _render("_live.html", submission_id)


@bp.get("/<submission_id>/download.<kind>")
@public
def download(submission_id: str, kind: str) -> Response:
    """The scored outputs or the manifest."""
    if kind not in results.KINDS:
        raise NotFound(f"There is no download of the kind {kind[:20]!r}.", f"Kinds: {', '.join(results.KINDS)}.")
    return attachment(*results.download(services(), identity(), submission_id, kind))


@bp.get("/<submission_id>/file")
@only()
def submitted_file(submission_id: str) -> Redirect:
    """The file as it was submitted, for its team."""
    with services().database.reading() as session:
        entry = entries.own(session, services().queue, signed_in(), submission_id)
    return stored(services(), entry.file_blob, entry.file_name or "predictions")


@bp.post("/<submission_id>/publish")
@only(*SUBMITTERS)
def publish(submission_id: str) -> Redirect:
    """Show it on the board."""
    entries.change(services(), signed_in(), submission_id, services().intake.publish)
    return redirect(url_for(".one", submission_id=submission_id), 303)


@bp.post("/<submission_id>/withdraw")
@only(*SUBMITTERS)
def withdraw(submission_id: str) -> Redirect:
    """Take it off the board."""
    entries.change(services(), signed_in(), submission_id, services().intake.withdraw)
    return redirect(url_for(".one", submission_id=submission_id), 303)


def _render(template: str, submission_id: str) -> str:
    with services().database.reading() as session:
        entry = entries.find(session, services().queue, identity(), submission_id)
        found: list[Line] = []
        judge = None
        versions = history.versions(services(), session, identity(), submission_id)
        if entry.evaluation_id is not None:
            found, judge = lines(session, entry.benchmark, entry.evaluation_id, entry.uses_autoais)
    benchmark = services().benchmarks.row(entry.benchmark)
    return render_template(template, entry=entry, benchmark=benchmark, lines=found, judge=judge, versions=versions)
