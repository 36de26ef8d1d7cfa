"""Many rows at once: as they were given, in the caller's transaction, with the usual errors."""

from __future__ import annotations

import pytest
from sqlalchemy.exc import DataError, IntegrityError

from core.bulk import insert_rows
from core.database import Database
from core.tables import PredictionRow, Submission
from server.bootstrap import Services
from tests.small_benchmark import add_benchmark, add_team, submit

COLUMNS = ("submission_id", "position", "answer", "attribution", "passage_id")
ODD = ["tab\tand\nline", "\\N", "\\", '"quoted", 1', "Ærø – “東京” \U0001f600", "", "0012", "NULL", "\x01\r\n"]


@pytest.fixture
def sent(services: Services, tmp_path) -> str:
    add_benchmark(services, tmp_path / "files")
    return submit(services, add_team(services)).id


def rows(database: Database, submission: str) -> list[tuple]:
    with database.reading() as session:
        found = session.query(PredictionRow).filter_by(submission_id=submission).order_by(PredictionRow.position)
        return [(row.position, row.answer, row.attribution, row.passage_id) for row in found]


def test_texts_come_back_as_they_were(services: Services, sent: str) -> None:
    given = [(sent, 100 + n, text, text[::-1], None if n % 2 else text) for n, text in enumerate(ODD)]
    with services.database.transaction() as session:
        insert_rows(session, PredictionRow, COLUMNS, given)
    assert rows(services.database, sent)[-len(ODD) :] == [row[1:] for row in given]


def test_they_belong_to_the_transaction(services: Services, sent: str) -> None:
    before = rows(services.database, sent)
    with pytest.raises(ZeroDivisionError), services.database.transaction() as session:
        insert_rows(session, PredictionRow, COLUMNS, [(sent, 100, "a", "b", None)])
        assert session.query(PredictionRow).filter_by(submission_id=sent).count() == len(before) + 1
        session.get_one(Submission, sent).stage = str(1 / 0)
    assert rows(services.database, sent) == before


def test_errors_are_the_usual_ones(services: Services, sent: str) -> None:
    with pytest.raises(IntegrityError), services.database.transaction() as session:
        insert_rows(session, PredictionRow, COLUMNS, [(sent, 100, "a", "b", None)] * 2)
    with pytest.raises(IntegrityError), services.database.transaction() as session:
        insert_rows(session, PredictionRow, COLUMNS, [(sent, 100, None, "b", None)])
    if not services.database.is_sqlite:
        with pytest.raises(DataError), services.database.transaction() as session:
            insert_rows(session, PredictionRow, COLUMNS, [(sent, 100, "NUL \0", "b", None)])
    assert not [row for row in rows(services.database, sent) if row[0] >= 100]


def test_no_rows_are_no_error(services: Services, sent: str) -> None:
    with services.database.transaction() as session:
        insert_rows(session, PredictionRow, COLUMNS, [])
