"""The editing track from an entry to stored scores, by hand; and the paper's own figures."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import pytest
from sqlalchemy import select

from core.editing import MOST_SENTENCES, Revision, Snippet, sentence_ends
from core.errors import InvalidInput
from core.records import Judgment, Pair
from core.sentences import split
from core.settings import Settings
from core.tables import Job, Submission
from scorer.editing.items import EditItem, Version, items_of, prepare
from scorer.editing.preservation import preserved
from scorer.editing.sentences import checked, signature, statement
from scorer.judges.token_overlap import TokenOverlap, overlap
from scorer.statistics.harmonic import harmonic
from scorer.stored import read_scores, read_values
from server.bootstrap import Services, build
from submissions.editing.labels import NO_LABELS
from tests.small_benchmark import add_team
from tests.small_editing import GOOD, ITEMS, add_editing, jsonl, send


@pytest.fixture
def editing(services: Services, tmp_path: Path) -> Services:
    add_editing(services, tmp_path / "editing")
    return services


@pytest.mark.parametrize(
    ("attribution", "preservation", "published"), [(43.4, 83.1, 57.0), (31.5, 84.6, 45.9), (28.3, 78.1, 41.5)]
)
def test_the_papers_f1_from_its_components(attribution: float, preservation: float, published: float) -> None:
    assert round(harmonic(attribution, preservation), 1) == published


def test_f1_of_nothing_is_0() -> None:
    assert harmonic(0.0, 0.0) == 0.0
    assert harmonic(0.0, 1.0) == 0.0


@pytest.mark.parametrize(
    ("original", "revised", "value"),
    [
        ("abcd", "abcd", 1.0),
        ("abcd", "abcx", 0.75),
        ("abcd", "", 0.0),
        ("abcd", "abcd" * 9, 0.0),
        ("abcd", "wxyz", 0.0),
        ("ab", "abc", 0.5),
        ("é", "e", 0.0),
    ],
)
def test_preservation_by_edit_distance(original: str, revised: str, value: float) -> None:
    assert preserved(original, revised) == value


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Oslo is in Norway. It lies by a fjord.", ("Oslo is in Norway.", "It lies by a fjord.")),
        ("Dr. Smith went to the U.S. in 1990. He left.", ("Dr. Smith went to the U.S. in 1990.", "He left.")),
        ("no full stop", ("no full stop",)),
        (" \n", ()),
        ("She said &ᓰ& . Then ∯ ȸ.\nNo.", ("She said &ᓰ& . Then ∯ ȸ.", "No.")),
        ("C++ [x] * + ? (y.) $5.00", ("C++ [x] * + ?", "(y.) $5.00")),
    ],
)  # fmt: skip
def test_sentences(text: str, sentences: tuple[str, ...]) -> None:
    assert split(text) == sentences


def test_sentence_forms() -> None:
    assert statement("plain", ["A?"], "B.") == "B."
    assert statement("context", ["A?", "Yes."], "B.") == "A? Yes. B."
    assert signature(checked("context")) == "sent:context|split:pysbd-0.3.4.1"
    with pytest.raises(InvalidInput, match="not decontextualised"):
        checked("decontextualised")
    with pytest.raises(InvalidInput, match="no sentence form"):
        checked("other")


def test_a_sentence_form_that_is_not_made_stops_the_start(settings: Settings) -> None:
    with pytest.raises(InvalidInput, match="not decontextualised"):
        build(replace(settings, sentence_form="decontextualised"))
    assert build(replace(settings, sentence_form="context")).scorer.sentence_form == "context"


def test_scores_of_an_entry_by_hand(editing: Services) -> None:
    sent = send(editing, add_team(editing))
    evaluation = editing.scorer.evaluate(sent.id)
    with editing.database.reading() as session:
        scores = read_scores(session, evaluation)
        values = {key: read_values(session, evaluation, key).tolist() for key in ("attr_auto", "attr_auto_before")}
        lev = read_values(session, evaluation, "pres_lev").tolist()
        assert session.get_one(Submission, sent.id).state == "scored"
    norway, fjord = (snippet["text"] for snippet in GOOD[0]["report"])
    nile = GOOD[1]["report"][0]["text"]

    def best(sentence: str, *snippets: str) -> float:
        return max(overlap(snippet, sentence) for snippet in snippets)

    after = [
        fmean([best("Oslo is the capital of Norway.", norway, fjord), best("It lies by a fjord.", norway, fjord)]),
        best("The Nile flows north.", nile), 0.0, 0.0,
    ]  # fmt: skip
    before = [
        fmean([best("Oslo is the capital of Sweden.", norway, fjord), best("It lies by a fjord.", norway, fjord)]),
        best("The Nile flows south.", nile), 0.0, 0.0,
    ]  # fmt: skip
    assert values == {"attr_auto": after, "attr_auto_before": before}
    assert lev == [1 - 6 / 50, 1 - 2 / 21, 1.0, 0.0]
    assert scores["attr_auto"].value == pytest.approx(fmean(after))
    assert scores["f1_ap_auto"].value == pytest.approx(harmonic(fmean(after), fmean(lev)))
    details = scores["f1_ap_auto"].details
    assert details["parts"] == {"attr_auto": pytest.approx(fmean(after)), "pres_lev": pytest.approx(fmean(lev))}
    assert details["mean_of_passages"] == pytest.approx(fmean(map(harmonic, after, lev)))
    assert scores["f1_ap_auto"].n == 4
    assert scores["attr_auto"].details["counts"] == {"empty_report": 1, "absent_revision": 1, "sentences": 4} | {
        "near_threshold": 0
    }
    assert scores["f1_ap"].value is None
    assert scores["f1_ap"].reason == "No human has rated all sentences of any of this system's revisions yet."
    # The unchanged passage needs no rater; that alone is no number.
    assert (scores["pres_intent"].value, scores["pres_intent"].details["rated"]) == (None, 1)
    assert list(scores) == [
        "f1_ap", "attr_ais", "pres_comb", "pres_intent", "f1_ap_auto", "attr_auto", "pres_lev", "attr_auto_before",
        "attr_ais_before",
    ]  # fmt: skip


def test_signatures_name_judge_sentences_and_labels(editing: Services) -> None:
    sent = send(editing, add_team(editing))
    evaluation = editing.scorer.evaluate(sent.id)
    with editing.database.reading() as session:
        signatures = {key: score.signature for key, score in read_scores(session, evaluation).items()}
    name, judge = editing.benchmarks.get("edit").name, editing.scorer.judge.signature
    cut, end = "sent:plain|split:pysbd-0.3.4.1", "bs:499|seed:20221215|v:1.0"
    assert signatures["attr_auto"] == f"attr_auto|bench:{name}|{judge}|{cut}|{end}"
    assert signatures["pres_lev"] == f"pres_lev|bench:{name}|{end}"
    assert signatures["pres_comb"] == f"pres_comb|bench:{name}|labels:none|raters:5|{end}"
    assert signatures["f1_ap"] == f"f1_ap|bench:{name}|{cut}|labels:none|raters:5|{end}"


def test_scoring_twice_gives_one_evaluation_and_asks_the_judge_once(editing: Services) -> None:
    sent = send(editing, add_team(editing))
    asked: list[Pair] = []

    class Counting(TokenOverlap):
        def judge(self, pairs: Sequence[Pair]) -> list[Judgment]:
            asked.extend(pairs)
            return super().judge(pairs)

    scorer = editing.scorer_with(Counting())
    first = scorer.evaluate(sent.id)
    count = len(asked)
    assert count == len({(pair.premise, pair.hypothesis) for pair in asked}) == 8
    assert scorer.evaluate(sent.id) == first
    assert len(asked) == count
    assert scorer.missing(sent.id) == []


def test_missing_pairs_are_judged_in_chunks(editing: Services) -> None:
    sent = send(editing, add_team(editing))
    missing = editing.scorer.missing(sent.id)
    assert len(missing) == 8
    editing.scorer.judge_between(sent.id, missing[0], missing[3])
    assert editing.scorer.missing(sent.id) == missing[4:]


def test_context_before_the_sentences(editing: Services) -> None:
    revision = Revision(1, "The Nile flows north.", (Snippet("Evidence."),))
    questions = editing.benchmarks.get("edit").questions
    hypotheses = {pair.hypothesis for pair in prepare(questions, [revision], "context").pairs.values()}
    before = "Tell me of the Nile. Gladly."
    assert hypotheses == {f"{before} The Nile flows north.", f"{before} The Nile flows south."}


def test_a_text_of_too_many_sentences_is_not_paired(editing: Services) -> None:
    questions = editing.benchmarks.get("edit").questions
    for more in (0, 1):
        text = "A cat sat. " * (MOST_SENTENCES + more)
        assert sentence_ends(text) == len(split(text)) == MOST_SENTENCES + more
        if more:
            with pytest.raises(InvalidInput, match="201 sentences"):
                prepare(questions, [Revision(3, text, (Snippet("a"),))], "plain")
        else:
            assert len(prepare(questions, [Revision(3, text, (Snippet("a"),))], "plain").pairs) == 2


def test_the_best_snippet_of_each_sentence(editing: Services) -> None:
    revision = Revision(3, "Paris is old.", (Snippet(" "), Snippet("a"), Snippet("b"), Snippet("c")))
    questions = editing.benchmarks.get("edit").questions
    prepared = prepare(questions, [revision], "plain")
    chances = {"a": 0.2, "b": 0.9, "c": 0.9}
    judged = {key: Judgment(chances[pair.premise], "1") for key, pair in prepared.pairs.items()}
    item = items_of(questions, [revision], prepared, judged, NO_LABELS)[3]
    assert [(s.p, s.snippet) for s in item.after.sentences] == [(0.9, 2)]
    assert item.unchanged
    empty = EditItem(questions[0], None, Version(()), Version(()))
    assert empty.reason == "absent_revision"


def test_score_without_storing(editing: Services) -> None:
    found = editing.intake.validate("edit", io.BytesIO(jsonl(GOOD)), "e.jsonl")
    scored = editing.scorer.score(editing.benchmarks.get("edit"), found.revisions)  # type: ignore[attr-defined]
    assert scored.scores["pres_lev"].n == len(ITEMS)
    with editing.database.reading() as session:
        assert session.scalars(select(Job)).all() == []
