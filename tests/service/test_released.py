"""The released ratings, a small file checked by hand, on both databases."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from pathlib import Path

import pytest
from sqlalchemy import select

from core.benchmark import NewBenchmark
from core.errors import NotFound, Refused
from core.records import Score
from core.tables import BenchmarkRow, Job, JudgmentRow, RatingRow, Submission, System
from scorer.stored import read_scores
from server.bootstrap import Services
from server.released import Imported, import_released
from server.worker import Worker
from submissions.released import COLUMNS
from tests.released_file import ITALY, LENGTH, NILE_TEXT, NORWAY, OSLO_TEXT, ROME_TEXT, ROWS, write
from tests.small_benchmark import NILE, OSLO, ROME, add_benchmark


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write(tmp_path / "ratings.csv", ROWS)


def scored(services: Services, done: Imported, name: str) -> dict[str, Score]:
    Worker(services).run_until_idle()
    with services.database.reading() as session:
        row = session.get_one(Submission, done.systems[name])
        assert (row.state, row.reason) == ("scored", None)
        assert row.published_at is not None
        return read_scores(session, row.evaluation_id or 0)


def test_the_release_becomes_systems_labels_judgments_and_scores(
    services: Services, release: Path, tmp_path: Path
) -> None:
    add_benchmark(services, tmp_path / "files")
    done = import_released(services, release, "small")
    assert list(done.systems) == ["RTR-10", "Post-6 AutoAIS reranked", "Mystery"]
    assert (done.labels, done.judgments) == (2, 3)
    counts = done.report.counts
    assert (counts["rows"], counts["matched"], counts["empty_attribution"], counts["rating_differs"]) == (6, 6, 1, 1)
    scores = scored(services, done, "RTR-10")
    assert {key: scores[key].value for key in ("em", "autoais", "ais")} == {
        "em": 0.6,
        "autoais": 0.4,
        "ais": pytest.approx(1 / 3),
    }
    assert scores["autoais"].signature.split("|")[2] == "judge:released@aqa-ratings"


def test_the_figures_by_hand(services: Services, release: Path, tmp_path: Path) -> None:
    """AIS of RTR-10: of q0 to q3, q0 is Y; q1 a tie of Y and N, so not; q2 unrated; q3 unanswered, so not: 1 of 3."""
    add_benchmark(services, tmp_path / "files")
    done = import_released(services, release, "small")
    ais = scored(services, done, "RTR-10")["ais"]
    assert (ais.value, ais.n, ais.details["pre_aggregated"]) == (pytest.approx(1 / 3), 3, 2)
    assert ais.details["bounds"] == [0.25, 0.5]
    reranked = scored(services, done, "Post-6 AutoAIS reranked")
    assert (reranked["ais"].value, reranked["ais"].n) == (0.25, 4)
    assert (reranked["em"].value, reranked["autoais"].value) == (0.2, 0.2)


def test_cards_tell_what_the_names_tell(services: Services, release: Path, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    import_released(services, release, "small")
    with services.database.reading() as session:
        cards = {
            s.name: (s.architecture, s.supervision, s.uses_autoais, s.reference)
            for s in session.scalars(select(System))
        }
    assert cards == {
        "RTR-10": ("retrieve-then-read", "NQ-full", False, True),
        "Post-6 AutoAIS reranked": ("post-hoc-retrieval", "", True, True),
        "Mystery": ("unknown", "", False, True),
    }


@pytest.mark.parametrize("packed", ["zip", "gz"])
def test_packed_and_twice(services: Services, release: Path, tmp_path: Path, packed: str) -> None:
    add_benchmark(services, tmp_path / "files")
    path = tmp_path / f"ratings.{packed}"
    if packed == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(release, "folder/ratings.csv")
    else:
        path.write_bytes(gzip.compress(release.read_bytes()))
    first = import_released(services, path, "small")
    Worker(services).run_until_idle()
    again = import_released(services, path, "small")
    assert again.systems == dict.fromkeys(first.systems)
    assert (first.batch, again.batch) == (1, None)
    with services.database.reading() as session:
        assert list(session.scalars(select(Job.state))) == ["done"] * 3
        assert len(session.scalars(select(RatingRow.row)).all()) == 2


def test_without_a_benchmark_the_passages_become_the_corpus(services: Services, release: Path, tmp_path: Path) -> None:
    questions = tmp_path / "nq.jsonl"
    entries = [(NORWAY, "Oslo"), (ITALY, "Rome"), (LENGTH, "6,650 km"), ("who", "me")]
    questions.write_text("".join(json.dumps({"question": q, "answer": [a]}) + "\n" for q, a in entries))
    with pytest.raises(NotFound) as raised:
        import_released(services, release, "nq")
    assert "--questions" in raised.value.hint
    done = import_released(services, release, "nq", questions=questions)
    assert (len(done.benchmark.questions), done.benchmark.rated_positions) == (4, [0, 1])
    assert services.benchmarks.corpus(done.benchmark).passages([ROME])[ROME].headings == "Rome, History"
    with services.database.reading() as session:
        assert "from release" in session.get_one(BenchmarkRow, "nq").description
    scores = scored(services, done, "RTR-10")
    assert (scores["em"].value, scores["ais"].value, scores["ais"].n) == (0.5, 0.5, 2)
    assert scores["autoais"].value == 0.5


def test_labels_that_change_later_keep_the_released_judgments(
    services: Services, release: Path, tmp_path: Path
) -> None:
    add_benchmark(services, tmp_path / "files")
    done = import_released(services, release, "small")
    before = scored(services, done, "RTR-10")
    services.ratings.revoke(done.batch or 0, "m")
    after = scored(services, done, "RTR-10")
    assert after["autoais"] == before["autoais"]
    assert (after["ais"].details["labelled"], before["ais"].details["labelled"]) == (0, 2)


def test_oddities_are_reported_and_do_not_stop_it(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    rows = [
        ("A", NORWAY, "Oslo", OSLO, 'Title: Oslo\n\nAnother ""text"".', "Y", "Y", "0.9"),
        ("A", NORWAY, "Bergen", OSLO, OSLO_TEXT, "N", "N", "0.1"),
        ("A", ITALY, "Rome", "nowhere", ROME_TEXT, "Y", "Y", "0.7"),
        ("A", "who is it", "me", OSLO, OSLO_TEXT, "Y", "Y", "0.9"),
        ("A", LENGTH, "long", NILE, NILE_TEXT, "maybe", "Y", "nan"),
        ("B", ITALY, "Rome", ROME, ROME_TEXT, "", "Y", "0.4"),
        ("B", NORWAY, "Oslo", OSLO, OSLO_TEXT, "", "", "7"),
        ("B",),
    ]
    done = import_released(services, write(tmp_path / "odd.csv", rows), "small")
    counts = {kind: n for kind, n in done.report.counts.items() if n}
    assert counts == {
        "rows": 8, "matched": 5, "passage_differs": 1, "duplicate_question": 1, "unknown_attribution": 1,
        "unknown_question": 1, "bad_answer": 1, "bad_score": 2, "decision_only": 1, "decision_differs": 1,
        "field_count": 1, "no_score": 1, "score_differs": 1,
    }  # fmt: skip
    assert {place.row for place in done.report.places if place.kind == "duplicate_question"} == {2}
    with services.database.reading() as session:
        flags = sorted((p, flags) for p, flags in session.execute(select(JudgmentRow.p, JudgmentRow.flags)))
    assert flags == [(0.4, []), (0.9, ["released_on_other_text"]), (1.0, ["released_decision_only"])]
    assert scored(services, done, "A")["autoais"].value == 0.4


def test_doubled_quotes_are_seen_through(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "q"
    folder.mkdir()
    (folder / "q.jsonl").write_text(json.dumps({"question": "who", "answer": ["me"]}) + "\n")
    (folder / "c.jsonl").write_text(json.dumps({"id": "a", "contents": '« T » « T » He said "me".'}) + "\n")
    services.benchmarks.add(NewBenchmark("quotes", folder / "q.jsonl", [folder / "c.jsonl"]))
    rows = [("A", "who", "me", "a", 'Title: T\n\nHe said ""me"".', "Y", "Y", "0.9")]
    done = import_released(services, write(tmp_path / "d.csv", rows), "quotes")
    assert done.report.counts["doubled_quotes"] == 1
    with services.database.reading() as session:
        assert session.execute(select(JudgmentRow.p, JudgmentRow.flags)).all() == [(0.9, [])]


def test_what_is_not_the_release_is_refused_in_words(services: Services, tmp_path: Path) -> None:
    add_benchmark(services, tmp_path / "files")
    for name, data, said in [
        ("a.csv", b"question,answer\nx,y\n", "lacks the columns"),
        ("b.csv", ",".join(COLUMNS).encode() + "\nA,caf\u00e9".encode("latin-1"), "not UTF-8"),
        ("c.zip", b"PK\x03\x04 broken", "damaged"),
    ]:
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(Refused, match=said):
            import_released(services, path, "small")
    with pytest.raises(NotFound, match="no file"):
        import_released(services, tmp_path / "none.csv", "small")
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as archive:
        archive.writestr("readme.txt", "x")
    (tmp_path / "d.zip").write_bytes(empty.getvalue())
    with pytest.raises(Refused, match="0 CSV files"):
        import_released(services, tmp_path / "d.zip", "small")
