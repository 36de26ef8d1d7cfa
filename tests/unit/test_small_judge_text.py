"""How the small judge reads a passage, a question and an answer: windows, parts of texts, kinds of answers."""

from __future__ import annotations

import numpy as np
import pytest

from scorer.judges import small_encoder
from scorer.judges.small_encoder import windows
from scorer.judges.small_features import rarity
from scorer.judges.small_text import LONGEST, Reading, candidates, condense, expected, negated, shape


def test_windows_cover_every_token_once() -> None:
    assert windows(0) == []
    for n in (1, 253, 254, 255, 444, 445, 5000):
        kept = np.zeros(n, dtype=int)
        covered = windows(n)
        for (first, last, start), following in zip(covered, [*covered[1:], (n, n, n)], strict=True):
            assert last - first <= small_encoder.WINDOW
            kept[start : following[2]] += 1
            assert following[2] <= last
        assert (kept == 1).all()


def test_condensed_premise_keeps_the_part_that_matters() -> None:
    text = "word " * 10_000 + "Marta Lindqvist drew it. " + "word " * 10_000
    short, cut = condense(text, "Who drew it? Marta Lindqvist")
    assert cut
    assert "Marta Lindqvist drew it" in short
    assert len(short) <= LONGEST
    assert condense("short", "x") == ("short", False)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [("1931", "date"), ("12 March", "date"), ("412 metres", "number"), ("three", "number"), ("Otto Brandt", "name"),
     ("goat milk", "other"), ("the 9th century", "date")],
)  # fmt: skip
def test_shape(answer: str, kind: str) -> None:
    assert shape(answer) == kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [("who drew it", "name"), ("when did it open", "date"), ("in what year did it open", "date"),
     ("how many towers", "number"), ("where is it", "name"), ("what is it made of", "other")],
)  # fmt: skip
def test_expected(question: str, kind: str) -> None:
    assert expected(question) == kind


def test_reading() -> None:
    reading = Reading("Otto Brandt lived there. Marta's bridge, the long one, opened; Otto left in U.S. days.")
    assert [reading.text[s:e] for s, e in reading.mentions("otto")] == ["Otto", "Otto"]
    assert reading.mentions("") == []
    assert reading.sentence(3) == (0, 25)
    assert reading.capitalised >= {"otto", "brandt", "marta"}
    assert reading.content_within((0, 17)) == ["otto", "brandt", "liv"]
    names = {reading.text[s:e] for s, e in candidates("name", reading.text)}
    assert {"Otto Brandt", "Otto"} <= names
    assert negated("It wasn't built")
    assert not negated("It was built under the hill")


def test_rarity_grows_with_the_vocabulary_id() -> None:
    assert rarity(np.array([1996, 2500, 9000, 30000])).tolist() == sorted(rarity(np.array([1996, 2500, 9000, 30000])))
