"""Scoring anew under another recipe: beside what is shown, complete before it is promoted, and switched at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select

from core.errors import Conflict, InvalidInput, NotFound
from core.tables import AuditEvent, BenchmarkRow, EvaluationRow, Job, JudgmentRow, Rescore
from server import job_desk, rescores
from server import rescore_reading as reading
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.kinds import RESCORE
from tests.rescoring import asked, board_of, count, items, jobs_of, judge_of, of, state, work
from tests.small_benchmark import GOOD, add_team, submit


def test_a_rescore_stays_beside_the_board_until_it_is_promoted_whole(services: Services) -> None:
    before, evaluated = board_of(services), count(services, EvaluationRow)
    made = rescores.start(services, "small", "strict")
    assert (made.judge, "judge:strict@1" in made.recipe, "labels" in made.recipe) == ("strict", True, False)
    assert len(items(services, made)) == 4, "A, B, and the latest of Private and Gone; no failed, no withdrawn version"
    assert board_of(services) == before
    assert work(services) == 4
    assert board_of(services) == before, "scored, but not shown"
    assert count(services, EvaluationRow) == evaluated + 4, "the old ones stay"
    assert state(services, made)["ready"]
    with services.database.reading() as session:
        found = reading.compared(session, made, services.differences)
    assert found.rank_by == "autoais"
    line = next(line for line in found.lines if line.system == "A")
    change = line.metrics["autoais"]
    assert (change.before, change.after, change.changed, change.n) == (0.4, 0.2, 1, 5)
    assert change.difference == pytest.approx(-0.2)
    assert ("token-overlap" in change.signature_before, "strict" in change.signature_after) == (True, True)
    assert (line.metrics["em"].difference, line.metrics["em"].changed) == (0.0, 0)
    assert line.metrics["em"].interval_before
    assert line.metrics["em"].interval_before == line.metrics["em"].interval_after
    assert change.interval_after == (0.0, 0.8)
    assert change.interval_difference == pytest.approx((-0.685, 0.0), abs=1e-3), "paired: one of five questions changed"
    assert (change.n_before, change.n_after, change.reason) == (5, 5, None)
    unmoved = line.metrics["em"].interval_difference
    assert unmoved == pytest.approx((-unmoved[1], unmoved[1])), "other questions could differ"
    assert ("autoais" in found.differing, {"em", "f1"} <= set(found.unchanged)) == (True, True)
    assert line.rank_before is not None
    assert line.rank_after is not None
    rescores.promote(services, made.id)
    after = board_of(services)
    judged = [column for column in after["columns"] if column["metric"] == "autoais"]
    assert [column["judge"]["key"] for column in judged] == ["strict"], "one column, one recipe"
    assert {judge_of(services, system) for system in ("A", "B", "Private", "Gone")} == {"judge:strict@1"}
    assert work(services) == 0
    with services.database.reading() as session:
        later = reading.compared(session, reading.found(session, made.id), services.differences)
        assert later.to_dict() == found.to_dict() | {"ended": True}, "told later too"
        told = session.scalars(select(AuditEvent.action).where(AuditEvent.action.like("rescore.%"))).all()
    assert told == ["rescore.started", "rescore.promoted"]


def test_after_a_promotion_everything_is_scored_by_its_judge(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    rescores.promote(services, made.id)
    submit(services, add_team(services, "late"), GOOD[:4], system="Late", publish=True)
    with services.database.transaction() as session:
        services.queue.add(session, "evaluate", of(services, "A").id)
    work(services)
    assert judge_of(services, "Late") == judge_of(services, "A") == "judge:strict@1"
    again = build(services.settings)
    assert rescores.plan(again, "small").judge == "strict", "the benchmark's own judge, in any process"
    again.database.engine.dispose()


def test_promotion_is_refused_while_scores_are_missing_and_tells_which(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    before = board_of(services)
    Worker(services).run_one()
    job_desk.cancel(services, jobs_of(services)[0])
    with pytest.raises(Conflict) as refused:
        rescores.promote(services, made.id)
    told = refused.value.message
    assert told.startswith("3 entries lack their new scores, so nothing was promoted.")
    assert "waits for a worker" in told
    assert "Cancelled by a maintainer." in told
    assert sum(each["submission"] in told for each in state(services, made)["lacking"]) == 3
    assert (board_of(services), state(services, made)["state"]) == (before, "open")
    with pytest.raises(InvalidInput, match="holds no submission"):
        rescores.promote(services, made.id, ["nobody"])


def test_what_is_left_out_stands_in_a_column_apart(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    left = of(services, "B")
    rescores.promote(services, made.id, [left.id])
    columns = [column for column in board_of(services)["columns"] if column["metric"] == "autoais"]
    assert len(columns) == 2
    assert columns[1]["apart"]
    assert "token-overlap" in judge_of(services, "B")
    assert items(services, made)[left.id].left_out
    with services.database.reading() as session:
        found = reading.compared(session, reading.found(session, made.id), services.differences)
    lines = {line.system: line for line in found.lines}
    assert (lines["A"].ready, lines["B"].ready) == (True, False)
    assert lines["B"].metrics["em"].reason == "Left out of it, or entered after it."
    assert ("em" in found.unchanged, "autoais" in found.unchanged) == (True, False), "what was left out says nothing"


def test_nothing_is_said_to_stay_before_it_is_scored_anew(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    with services.database.reading() as session:
        found = reading.compared(session, made, services.differences)
    assert {line.metrics["em"].interval_difference for line in found.lines} == {None}
    assert [line.metrics["em"].reason for line in found.lines] == ["Not scored anew yet."] * len(found.lines)
    assert (found.unchanged, found.differing) == ({}, found.metrics)


def test_a_promotion_that_breaks_off_changes_nothing(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    before = board_of(services)

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("out of order")

    with monkeypatch.context() as patch:
        patch.setattr(rescores, "record", broken)
        with pytest.raises(RuntimeError):
            rescores.promote(services, made.id)
    assert board_of(services) == before
    assert state(services, made)["state"] == "open"
    with services.database.reading() as session:
        assert session.get_one(BenchmarkRow, "small").judge is None
    rescores.promote(services, made.id)
    assert board_of(services) != before


def test_dropping_cancels_the_jobs_and_keeps_what_was_judged(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    Worker(services).run_one()
    before, judged = board_of(services), count(services, JudgmentRow)
    rescores.drop(services, made.id)
    assert work(services) == 0
    assert board_of(services) == before
    with services.database.reading() as session:
        open_ = session.scalars(select(Job.state).where(Job.kind == RESCORE)).all()
    assert sorted(open_) == ["cancelled"] * 3 + ["done"]
    for act in (rescores.drop, rescores.promote):
        with pytest.raises(Conflict, match="dropped already"):
            act(services, made.id)
    with pytest.raises(Conflict, match="over"):
        job_desk.retry(services, job_desk_of(services, "cancelled"))
    assert count(services, JudgmentRow) == judged
    again = rescores.start(services, "small", "strict")
    work(services)
    assert state(services, again)["ready"]


def job_desk_of(services: Services, state: str) -> int:
    with services.database.reading() as session:
        return job_desk.listed(services, session, job_desk.Chosen(RESCORE, state))[0].id


def test_what_cannot_be_started(services: Services) -> None:
    with pytest.raises(Conflict, match="stand under this recipe"):
        rescores.start(services, "small")
    for judge, error in (("nobody", InvalidInput), ("released", InvalidInput), ("strict:broken", InvalidInput)):
        with pytest.raises(error):
            rescores.start(services, "small", judge)
    with pytest.raises(NotFound):
        rescores.start(services, "nowhere", "strict")
    rescores.start(services, "small", "strict")
    with pytest.raises(Conflict, match="open already"):
        rescores.start(services, "small", "strict")
    assert count(services, Rescore) == 1


def test_a_dry_run_counts_and_stores_nothing(services: Services) -> None:
    found = rescores.plan(services, "small", "strict")
    assert (found.entries, found.same, found.released, found.pairs) == (4, 0, 0, 4)
    same = rescores.plan(services, "small")
    assert (same.entries, same.same, same.pairs) == (4, 4, 0)
    assert (count(services, Rescore), asked) == (0, [])


def test_a_judge_that_other_workers_would_not_find_is_refused(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "encoder").mkdir()
    for spec in ("calibrated:maps.json", "t5:./model?dtype=fp32", "nli:~/model", "small:encoder"):
        for act in (rescores.plan, rescores.start):
            with pytest.raises(InvalidInput, match="would not find it"):
                act(services, "small", spec)
    with pytest.raises(InvalidInput) as refused:
        rescores.start(services, "small", "calibrated:maps.json")
    assert f"calibrated:{tmp_path / 'maps.json'}," in refused.value.hint
    made = rescores.start(services, "small", "strict")
    work(services)
    with services.database.transaction() as session:  # as one that was started before such paths were refused
        session.get_one(Rescore, made.id).judge = "calibrated:maps.json"
    with pytest.raises(InvalidInput, match="would not find it"):
        rescores.promote(services, made.id)
    with services.database.reading() as session:
        assert session.get_one(BenchmarkRow, "small").judge is None
