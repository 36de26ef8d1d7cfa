"""The workers of a rescore: one that dies, one of another version, and many that share large entries."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from core.settings import Settings
from core.tables import EvaluationRow, Job
from core.tables.base import utc_now
from scorer import metrics
from server import evaluations, job_desk, rescores, rescoring
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.kinds import RESCORE
from tests.rescoring import asked, board_of, board_value, count, state, work


def test_a_worker_that_dies_in_the_middle_costs_nothing(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    evaluated = count(services, EvaluationRow)
    Worker(services).run_one()
    lost = services.queue.claim(["cpu"], "dies")
    assert lost is not None
    with services.database.transaction() as session:
        session.execute(update(Job).where(Job.id == lost.id).values(lease_until=utc_now() - timedelta(seconds=1)))
    work(services)
    assert state(services, made)["ready"]
    assert count(services, EvaluationRow) == evaluated + 4, "nothing is scored twice"
    with services.database.reading() as session:
        assert session.get_one(Job, lost.id).attempt == 2


def test_new_metric_versions_are_scored_anew_by_workers_that_have_them(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = type(metrics.load("em"))
    before = board_of(services)
    with monkeypatch.context() as patch:
        patch.setattr(exact, "version", "99")
        made = rescores.start(services, "small")
    work(services)  # by a worker of the version before
    assert len(state(services, made)["lacking"]) == 4
    assert "another recipe" in state(services, made)["lacking"][0]["why"]
    with monkeypatch.context() as patch:
        patch.setattr(exact, "version", "99")
        assert job_desk.retry_all(services, job_desk.Chosen(RESCORE)) == 4
        work(services)
        assert asked == []
        rescores.promote(services, made.id)
    after = board_of(services)
    assert [c["recipe"].endswith("v:99") for c in after["columns"] if c["metric"] == "em"] == [True]
    assert [c["recipe"] for c in after["columns"] if c["metric"] == "autoais"] == [
        c["recipe"] for c in before["columns"] if c["metric"] == "autoais"
    ]


def test_large_entries_are_judged_in_parts_by_who_has_the_judge(services: Services, settings: Settings) -> None:
    split = build(dataclasses.replace(settings, fanout_pairs=1, judge_queue="gpu"))
    made = rescores.start(split, "small", "strict")
    assert Worker(split, ["cpu"]).run_until_idle() == 4
    assert asked == [], "the cpu workers leave it to others"
    Worker(split, ["gpu"]).run_until_idle()
    Worker(split, ["cpu"]).run_until_idle()
    assert state(split, made)["ready"]
    with split.database.reading() as session:
        kinds = dict(session.execute(select(Job.kind, func.count()).group_by(Job.kind)).all())
    assert kinds[rescoring.FINISH] == 4
    assert evaluations.CHUNK not in kinds
    rescores.promote(split, made.id)
    whole = {system: board_value(split, system) for system in ("A", "B")}
    assert whole == {"A": 0.2, "B": 0.0}
    split.database.engine.dispose()
