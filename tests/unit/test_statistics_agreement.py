"""Agreement of raters against values worked out by hand, and rater noise against a direct loop."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from core.majority import strict_majority
from scorer.statistics import extras
from scorer.statistics.agreement import agreement, agreement_by, qualification
from scorer.statistics.intervals import interval
from scorer.statistics.raters import estimate_with_raters
from scorer.statistics.resamples import Resamples

# item: votes of raters a, b, c; a dot is no rating.
SHEET = {"q1": "YYY", "q2": "YYN", "q3": "NNN", "q4": "YN.", "q5": "Y..", "q6": "NYN"}
ROWS = [(item, "abc"[at], vote == "Y") for item, votes in SHEET.items() for at, vote in enumerate(votes) if vote != "."]
ITEMS, RATERS, POSITIVE = (list(column) for column in zip(*ROWS, strict=True))


@pytest.mark.parametrize(
    ("positive", "raters", "expected"),
    [(3, 5, True), (2, 5, False), (2, 4, False), (3, 4, True), (1, 1, True), (0, 1, False), (1, 2, False)],
)
def test_a_strict_majority_attributes(positive, raters, expected):
    assert strict_majority(positive, raters) is expected


@pytest.mark.parametrize("votes", [(0, 0), (2, 1), (-1, 3)])
def test_impossible_votes_are_refused(votes):
    with pytest.raises(ValueError):
        strict_majority(*votes)


def test_alpha_ties_and_raters_by_hand():
    found = agreement(ITEMS, RATERS, POSITIVE)
    assert (found.items, found.ratings, found.rated_twice) == (6, 15, 5)
    # Observed: unlike ordered pairs over (raters - 1): q2 4/2, q4 2/1, q6 4/2 = 6. Of 14 pairable ratings 7 are Y:
    # expected unlike pairs 2 * 7 * 7 / 13. alpha = 1 - 6 / (98 / 13).
    assert found.alpha == pytest.approx(1 - 6 * 13 / 98)
    assert (found.ties, found.tie_share) == (1, 1 / 5)
    assert [(each.rater, each.n, each.agreed) for each in found.raters] == [("a", 4, 4), ("b", 4, 3), ("c", 4, 3)]
    b = found.raters[1]
    assert b.share == 0.75
    assert (b.low, b.high) == pytest.approx(proportion_confint(3, 4, method="wilson"))


def test_groups_are_apart():
    batches = ["one" if item in ("q1", "q2", "q3") else "two" for item in ITEMS]
    found = agreement_by(batches, ITEMS, RATERS, POSITIVE)
    assert list(found) == ["one", "two"]
    assert found["one"].alpha == agreement(ITEMS[:9], RATERS[:9], POSITIVE[:9]).alpha
    assert (found["one"].tie_share, found["two"].tie_share) == (0, 1 / 2)


def test_single_ratings_and_unanimous_values_have_reasons():
    single = agreement(["q1", "q2"], ["a", "b"], [True, False])
    assert (single.alpha, single.tie_share) == (None, None)
    assert single.alpha_reason == single.tie_reason == "no item has two ratings"
    assert single.raters[0].reason == "no item with a majority"
    alike = agreement(["q1", "q1"], ["a", "b"], [True, True])
    assert alike.alpha is None
    assert alike.alpha_reason.startswith("every rating is the same")
    # The one dissenting rating stands alone on its item: it is not pairable.
    assert agreement(["q1", "q1", "q2"], ["a", "b", "a"], [True, True, False]).alpha is None
    assert agreement([], [], []).items == 0


def test_a_second_rating_by_one_rater_is_refused():
    with pytest.raises(ValueError, match="twice"):
        agreement(["q1", "q1"], ["a", "a"], [True, False])


def test_qualification_measures_raters_against_known_answers():
    found = qualification(ITEMS, RATERS, POSITIVE, {"q2": True, "q4": False})
    assert [(each.rater, each.n, each.share) for each in found] == [("a", 2, 0.5), ("b", 2, 1), ("c", 1, 0)]
    nobody = qualification(["q1"], ["a"], [True], {})
    assert (nobody[0].share, nobody[0].reason) == (None, "no item with a known answer")


def test_a_missing_library_says_what_to_install():
    from core.errors import Unavailable

    with pytest.raises(Unavailable) as caught:
        extras.require("no_such_library_at_all.part")
    assert "no_such_library_at_all" in caught.value.message
    assert "[statistics]" in caught.value.hint


def panels(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return rng.binomial(5, rng.beta(1, 1, n)), np.full(n, 5)


def test_rater_noise_equals_a_direct_two_stage_bootstrap():
    positive, raters = panels()
    resamples = Resamples.draw(150, 3_000, 4)
    found = estimate_with_raters(positive, raters, resamples)
    rng = np.random.default_rng(9)
    direct = []
    for _ in range(3_000):
        questions = rng.integers(0, 150, 150)
        votes = [rng.choice(np.arange(5) < positive[q], 5).sum() for q in questions[:]]
        direct.append(np.mean(2 * np.array(votes) > 5))
    shift = found.value - np.mean(direct)
    assert found.value == np.mean(2 * positive > 5)
    assert found.interval.se == pytest.approx(np.std(direct, ddof=1), rel=0.06)
    assert [found.interval.low, found.interval.high] == pytest.approx(
        np.quantile(direct, [0.025, 0.975]) + shift, abs=0.012
    )


def test_unanimous_panels_add_no_noise():
    rng = np.random.default_rng(1)
    positive = np.where(rng.random(200) < 0.4, 5, 0)
    resamples = Resamples.draw(200, 4_000, 4)
    found = estimate_with_raters(positive, np.full(200, 5), resamples)
    plain = interval((positive == 5).astype(float), resamples)
    assert found.interval.se == pytest.approx(plain.se)
    assert found.interval.method == "percentile"


def test_pre_aggregated_labels_beside_panels_and_divided_ones():
    found = estimate_with_raters([1, 0, 3, 2], [1, 1, 5, 4], Resamples.draw(4, 500, 0))
    assert found.value == 0.5
    assert 0 <= found.interval.low < found.interval.high <= 1
    divided = estimate_with_raters([3] * 50, [5] * 50, Resamples.draw(50, 500, 0))
    assert divided.value == 1
    assert divided.interval.low < 1
    assert divided.interval.high == 1
    assert divided.interval.se > 0


def test_the_ends_of_rater_intervals():
    assert estimate_with_raters([5, 1], [5, 1], Resamples.draw(2, 50, 0)).interval.method == "wilson"
    empty = estimate_with_raters([], [], Resamples.draw(0, 50, 0))
    assert (empty.value, empty.reason) == (None, "no questions")
    for bad in (([6], [5]), ([0], [0]), ([1, 1], [1, 1])):
        with pytest.raises(ValueError):
            estimate_with_raters(*bad, Resamples.draw(1, 50, 0))
