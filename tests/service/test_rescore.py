"""Scoring anew under another recipe: beside what is shown, complete before it is promoted, and switched at once."""

from __future__ import annotations

import dataclasses
import io
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, func, select, update

from core.errors import Conflict, InvalidInput, NotFound
from core.ports import Judge
from core.records import Judgment, Pair
from core.settings import Settings
from core.tables import AuditEvent, BenchmarkRow, EvaluationRow, Job, JudgmentRow, Rescore, RescoreItem, Submission
from core.tables.base import utc_now
from leaderboard import board
from leaderboard.history import board_on, days
from scorer import judges, metrics
from scorer.judges.options import Options
from server import evaluations, job_desk, rescores, rescoring, web
from server import rescore_reading as reading
from server.bootstrap import Services, build
from server.worker import Worker
from submissions.kinds import RESCORE
from tests.command_line import Aqa, runner
from tests.ratings_files import ratings_csv
from tests.small_benchmark import GOOD, add_benchmark, add_team, submit
from tests.web_client import API, bearer, csrf, sign_in, token

asked: list[Pair] = []


class Strict:
    """Supports Oslo and nothing else."""

    key, title, help, score_name = "strict", "Strict", "For tests.", "Strict score"
    signature = "judge:strict@1"

    def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
        asked.extend(pairs)
        return [Judgment(0.9 if pair.answer == "Oslo" else 0.1, "1") for pair in pairs]


def load_strict(source: str, options: Options) -> Judge:
    if source == "broken":
        raise InvalidInput("The judge is broken.")
    return Strict()


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(judges.REGISTRY, "strict", f"{__name__}:load_strict")
    asked.clear()


@pytest.fixture
def services(services: Services, tmp_path: Path) -> Services:
    """Two systems on the board, one that is private, one withdrawn, one that failed; all scored."""
    add_benchmark(services, tmp_path / "files")
    team = add_team(services)
    submit(services, team, system="A", publish=True)
    submit(services, team, [*GOOD[1:3], {**GOOD[0], "answer": "Norway"}, GOOD[3]], system="B", publish=True)
    submit(services, team, GOOD[:3], system="Private")
    gone = submit(services, team, GOOD[:2], system="Gone", publish=True)
    submit(services, team, GOOD[:1], system="Failed", publish=True)
    Worker(services).run_until_idle()
    services.intake.withdraw(gone.id, None)
    submit(services, team, GOOD[1:2], system="Gone")
    Worker(services).run_until_idle()
    with services.database.transaction() as session:
        session.execute(
            update(Submission).where(Submission.coverage == 0.2, Submission.version == 1).values(
                state="failed", evaluation_id=None)
        )  # fmt: skip
    return services


def board_of(services: Services) -> dict[str, object]:
    with services.database.reading() as session:
        return board.rows(session, "small").to_dict()


def work(services: Services) -> int:
    return Worker(services, ("cpu", "gpu")).run_until_idle()


def count(services: Services, table: type) -> int:
    with services.database.reading() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def of(services: Services, system: str) -> Submission:
    with services.database.reading() as session:
        rows = session.scalars(
            select(Submission).where(Submission.system.has(name=system)).order_by(Submission.version)
        )
        return rows.all()[-1]


def judge_of(services: Services, system: str) -> str:
    with services.database.reading() as session:
        return session.get_one(EvaluationRow, of(services, system).evaluation_id).judge


def items(services: Services, made: Rescore) -> dict[str, RescoreItem]:
    with services.database.reading() as session:
        query = select(RescoreItem).where(RescoreItem.rescore_id == made.id)
        return {item.submission_id: item for item in session.scalars(query)}


def state(services: Services, made: Rescore) -> dict[str, object]:
    with services.database.reading() as session:
        return reading.document(session, reading.found(session, made.id))


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
        found = reading.compared(session, made)
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
        assert reading.compared(session, reading.found(session, made.id)).to_dict() == found.to_dict(), "told later too"
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


def jobs_of(services: Services) -> list[int]:
    with services.database.reading() as session:
        query = select(Job.id).where(Job.kind == RESCORE, Job.state == "queued").order_by(Job.id)
        return list(session.scalars(query))


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


def board_value(services: Services, system: str) -> float | None:
    rows = board_of(services)["rows"]
    return next(row["metrics"]["autoais"]["value"] for row in rows if row["system"] == system)


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


def test_the_history_shows_what_was_shown(services: Services) -> None:
    made = rescores.start(services, "small", "strict")
    work(services)
    today = utc_now().date()
    with services.database.reading() as session:
        shown = board_on(session, "small", today).to_dict()["rows"]
        assert [row["judge"] for row in shown] == [row["judge"] for row in board_of(services)["rows"]]
        assert {"strict" in row["judge"] for row in shown} == {False}
        assert days(session, "small") == [today]
    rescores.promote(services, made.id)
    with services.database.reading() as session:
        shown = board_on(session, "small", today)
    assert {cell.signature.count("strict") for row in shown.rows for cell in [row.metrics["autoais"]]} == {1}


def test_the_api_and_the_pages(services: Services) -> None:
    client: FlaskClient = web.create(services).test_client()
    house = bearer(services, "house", "maintainer")
    made = rescores.start(services, "small", "strict")
    [told] = client.get(f"{API}/rescores?benchmark=small", headers=house).json["rescores"]
    assert (told["id"], told["entries"], told["done"], told["ready"]) == (made.id, 4, 0, False)
    refused = client.post(f"{API}/rescores/{made.id}/promote", headers=house, json={})
    assert (refused.status_code, refused.json["error"]["code"]) == (409, "conflict")
    sign_in(client, token(services, "house", "maintainer"))
    page = client.get(f"/rescores/{made.id}").text
    assert "waits for a worker" in page
    field = csrf(page)
    assert client.post(f"/rescores/{made.id}/promote", data={"csrf": field}).status_code == 409
    work(services)
    found = client.get(f"{API}/rescores/{made.id}?rank_by=em", headers=house).json
    assert (found["ready"], found["side_by_side"]["rank_by"]) == (True, "em")
    [line] = [each for each in found["side_by_side"]["lines"] if each["system"] == "A"]
    assert line["metrics"]["autoais"]["difference"] == pytest.approx(-0.2)
    assert client.get(f"{API}/rescores/{made.id}?rank_by=x", headers=house).status_code == 400
    assert client.get(f"{API}/rescores/99", headers=house).status_code == 404
    shown = re.sub(r"<[^>]+>|\s+", " ", client.get(f"/rescores/{made.id}/live").text)
    assert re.search(r"40\.0 → +20\.0 +0\.0–80\.0 +-20\.0; 1 of 5 questions", shown)
    assert re.search(r"Nothing changes for any system in EM, F1", shown)
    assert client.post(f"/rescores/{made.id}/promote", data={"csrf": field}).status_code == 303
    assert "the board shows the new scores" in client.get(f"/rescores/{made.id}").text
    assert client.post(f"{API}/rescores/{made.id}/drop", headers=house).status_code == 409
    assert "promoted" in client.get("/rescores").text
    assert client.post(f"/rescores/{made.id}/burn", data={"csrf": field}).status_code == 404


@pytest.fixture
def aqa(services: Services, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Aqa:
    return runner(services.settings, monkeypatch, capsys)


def test_the_command_line(services: Services, aqa: Aqa) -> None:
    told = aqa("rescore", "--benchmark", "small", "--judge", "strict", "--dry-run")
    assert (told.code, "4 to be scored" in told.out, "4 pairs" in told.out) == (0, True, True)
    assert "Nothing was scored anew yet" in aqa("rescore", "status").out
    assert aqa("rescore", "promote").code == 2
    assert "Rescore 1 of small by strict: 4 of 4" in aqa("rescore", "--benchmark", "small", "--judge", "strict").out
    assert "missing: A v1" in aqa("rescore", "status").out
    refused = aqa("rescore", "promote")
    assert (refused.code, "nothing was promoted" in refused.err) == (2, True)
    work(services)
    shown = aqa("rescore", "status").out
    assert "aqa rescore promote" in shown
    assert "-20.0" in shown
    assert "Nothing changes for any system in EM, F1" in shown
    assert "EM, %" not in shown
    found = aqa("rescore", "status", "--json").json
    assert (found["ready"], found["side_by_side"]["lines"][0]["system"]) == (True, "A")
    assert "is promoted" in aqa("rescore", "promote").out
    assert aqa("rescore", "status", "--json").json[0]["state"] == "promoted"
    assert aqa("rescore", "drop", "1").code == 2
    assert "Rescore 1 of small by strict: promoted" in aqa("rescore", "status", "1").out


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
