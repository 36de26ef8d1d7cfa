"""The word diff: both texts can be put together again from it, and a replaced name reads as one change."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaderboard.word_diff import Piece, word_diff

WORDS = st.lists(st.sampled_from(["the", "a", "Empire", "State", ".", " ", "  ", "\n", "é", "<b>"]), max_size=20).map(
    "".join
)


@given(WORDS, WORDS)
def test_both_texts_are_in_it(x: str, y: str) -> None:
    found = word_diff(x, y)
    assert "".join(piece.text for piece in found if piece.kind != "new") == x
    assert "".join(piece.text for piece in found if piece.kind != "gone") == y
    assert all(piece.text for piece in found)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ("same", "same", [("same", "same")]),
        ("", "new", [("new", "new")]),
        ("gone", "", [("gone", "gone")]),
        ("in 1957 by", "in 1953 by", [("same", "in "), ("gone", "1957"), ("new", "1953"), ("same", " by")]),
        (
            "to the Empire State Building.", "to the Chrysler Building.",
            [("same", "to the "), ("gone", "Empire State"), ("new", "Chrysler"), ("same", " Building.")],
        ),
        ("One. Two.", "One.", [("same", "One."), ("gone", " Two.")]),
    ],
)  # fmt: skip
def test_changes_read_well(x: str, y: str, expected: list[tuple[str, str]]) -> None:
    assert list(word_diff(x, y)) == [Piece(*each) for each in expected]


def test_endless_texts_are_one_change_each() -> None:
    x, y = "word " * 3000, "other " * 3000
    assert word_diff(x, y) == (Piece("gone", x), Piece("new", y))
