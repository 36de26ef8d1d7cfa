"""A promotion locks its entries in the order in which everybody locks several: a deletion meanwhile just waits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from core.tables import Submission
from server import rescores
from server.bootstrap import Services
from server.deletion import delete_team
from submissions.rescoring import PROMOTED
from tests.lock_order import EARLIER, LATER, downwards, wait_until_some_wait
from tests.rescoring import work
from tests.small_benchmark import add_team


@pytest.mark.service
@pytest.mark.parametrize("promotion_first", [True, False])
def test_a_team_is_deleted_while_its_entries_are_promoted(
    two: tuple[Services, Services], monkeypatch: pytest.MonkeyPatch, promotion_first: bool
) -> None:
    """Both wait for the entry that is first in order; neither may hold the other one by then."""
    promoting, deleting = two
    team = add_team(promoting)
    downwards(promoting, team, monkeypatch)
    work(promoting)
    made = rescores.start(promoting, "small", "strict").id
    work(promoting)
    with ThreadPoolExecutor(2) as others:
        begin = (
            lambda: others.submit(rescores.promote, promoting, made),
            lambda: others.submit(delete_team, deleting, team),
        )
        with deleting.database.transaction() as session:
            session.get_one(Submission, EARLIER, with_for_update=True)
            ends = []
            for waiting, start in enumerate(begin if promotion_first else reversed(begin), start=1):
                ends.append(start())
                wait_until_some_wait(promoting.database, waiting)
                with promoting.database.transaction() as looking:
                    later = select(Submission.id).where(Submission.id == LATER)
                    assert looking.scalars(later.with_for_update(skip_locked=True)).all() == [LATER]
        found = [end.result(120) for end in ends]
    promoted, deleted = found if promotion_first else reversed(found)
    assert (promoted.state, deleted.submissions) == (PROMOTED, 2)
    with promoting.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Submission)) == 0
