"""What happens while a rescore is open, or just then: entries that come in, labels that move, and promotions."""

from __future__ import annotations

import dataclasses
import io
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from sqlalchemy import delete, select, update

from core.errors import Conflict
from core.settings import Settings
from core.tables import BenchmarkRow, EvaluationRow, JudgmentRow, Rescore, RescoreItem, Submission
from server import rescores
from server.bootstrap import Services, build
from server.worker import Worker
from tests.ratings_files import ratings_csv
from tests.rescoring import asked, board_of, items, judge_of, of, state, work
from tests.small_benchmark import GOOD, add_team, submit


def test_what_comes_in_meanwhile_gets_both(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    late = submit(services, add_team(services, "late"), GOOD[:4], system="Late", publish=True)
    work(services)
    assert "token-overlap" in judge_of(services, "Late")
    new = items(services, made)[late.id].evaluation_id
    with services.database.reading() as session:
        assert session.get_one(EvaluationRow, new).judge == "judge:strict@1"
    rescores.promote(services, made.id)
    assert judge_of(services, "Late") == "judge:strict@1"


def test_labels_that_move_meanwhile_are_in_both(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    first = items(services, made)
    services.ratings.apply("small", io.BytesIO(ratings_csv({"oslo": "YYY"})), "r.csv", author="x")
    touched = of(services, "A").id
    assert items(services, made)[touched].evaluation_id is None
    assert not state(services, made)["ready"]
    with pytest.raises(Conflict, match="nothing was promoted"):
        rescores.promote(services, made.id)
    work(services)
    second = items(services, made)
    assert second[touched].evaluation_id not in (None, first[touched].evaluation_id)
    assert second[of(services, "B").id].evaluation_id == first[of(services, "B").id].evaluation_id
    rescores.promote(services, made.id)
    with services.database.reading() as session:
        own = session.get_one(EvaluationRow, of(services, "A").evaluation_id)
    assert "labels:" in own.signature
    assert own.signature.split("labels:")[1] != "none"
    assert own.judge == "judge:strict@1"


def test_an_evaluation_in_flight_when_another_judge_is_promoted_ends_under_that(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    at = of(services, "A").id
    with services.database.transaction() as session:
        services.queue.add(session, "evaluate", at)
    measured = type(services.scorer)._measured
    promoted: list[int] = []

    def slow(self, *args):
        found = measured(self, *args)
        if not promoted:
            promoted.append(rescores.promote(services, made.id).id)
        return found

    with services.database.transaction() as session:  # other labels, so that there is something to measure
        session.execute(update(EvaluationRow).values(signature=EvaluationRow.signature + "|old"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(services.scorer), "_measured", slow)
        work(services)
    assert promoted
    assert judge_of(services, "A") == "judge:strict@1"


def test_pairs_of_a_judge_promoted_meanwhile_are_left_to_who_has_it(services: Services, settings: Settings) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    split = build(dataclasses.replace(settings, fanout_pairs=1, judge_queue="gpu"))
    with split.database.transaction() as session:
        split.queue.add(session, "evaluate", of(split, "A").id)
        session.execute(update(EvaluationRow).values(signature=EvaluationRow.signature + "|old"))
    measured = type(split.scorer)._measured
    promoted: list[int] = []

    def slow(self, *args):
        found = measured(self, *args)
        if not promoted:
            promoted.append(rescores.promote(split, made.id).id)
            with split.database.transaction() as session:
                session.execute(delete(JudgmentRow))
            asked.clear()
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(split.scorer), "_measured", slow)
        Worker(split, ["cpu"]).run_until_idle()
    assert promoted
    assert asked == [], "the cpu workers leave it to others"
    Worker(split, ["gpu"]).run_until_idle()
    assert asked
    Worker(split, ["cpu"]).run_until_idle()
    assert of(split, "A").state == "scored"
    assert judge_of(split, "A") == "judge:strict@1"
    split.database.engine.dispose()


def test_a_version_shown_again_after_a_promotion_is_scored_like_the_others(services: Services) -> None:
    with services.database.reading() as session:
        gone = session.scalars(
            select(Submission).where(Submission.system.has(name="Gone"), Submission.version == 1)
        ).one()
    made = rescores.start(services, "small", "strict")
    work(services)
    rescores.promote(services, made.id)
    services.intake.withdraw(of(services, "Gone").id, None)
    services.intake.publish(gone.id, None)
    assert work(services) == 1
    assert [c["apart"] for c in board_of(services)["columns"] if c["metric"] == "autoais"] == [None]


def test_a_version_that_is_published_while_a_rescore_starts_is_part_of_it(services: Services) -> None:
    private = of(services, "Gone")
    with ThreadPoolExecutor() as pool:
        with services.database.transaction() as session:
            session.get_one(BenchmarkRow, "small", with_for_update=True)
            made = Rescore(benchmark_id="small", judge="strict", recipe="r")
            session.add(made)
            session.flush()
            published = pool.submit(services.intake.publish, private.id, None)
            assert not wait([published], timeout=0.5).done, "publishing waits for the start"
        assert published.result(30).published_at
    with services.database.reading() as session:
        assert session.get(RescoreItem, (made.id, private.id)) is not None
