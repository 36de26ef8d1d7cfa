"""The judge against the raters on single questions: values by scikit-learn, intervals by SciPy."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap, pearsonr
from sklearn.metrics import confusion_matrix, matthews_corrcoef, roc_auc_score

from scorer.statistics import roc
from scorer.statistics.clustered import pearson_clustered
from scorer.statistics.instances import Instances, instances, pooled
from scorer.statistics.measured import ALIKE, BIASED, OFTEN, Measured, measured
from scorer.statistics.resamples import Floats, Resamples
from scorer.statistics.roc import Series, auc, auc_drawn, auc_without


def judged(n: int, seed: int = 0, places: int = 1) -> tuple[Floats, Floats, Floats]:
    """Decisions, p with ties, and labels."""
    rng = np.random.default_rng(seed)
    human = (rng.random(n) < 0.6).astype(float)
    p = np.round(np.clip(0.3 * human + 0.7 * rng.random(n), 0, 1), places)
    return (p >= 0.5).astype(float), p, human


def drawn_by_hand(statistic: Callable[[Any], float], resamples: Resamples, of: Any = None) -> Floats:
    """The statistic of the pairs drawn, one resample after the other."""
    place = np.arange(resamples.n) if of is None else of
    every = (counts for _, block in resamples.blocks() for counts in block)
    return np.array([statistic(np.repeat(np.arange(len(place)), counts[place])) for counts in every])


def scipys(statistic: Callable[[Any], float], n: int, drawn: Floats) -> Any:
    """SciPy's BCa ends for a bootstrap distribution that is given; the data are the places of the questions."""
    given: Any = SimpleNamespace(bootstrap_distribution=drawn)
    return bootstrap(
        (np.arange(n),), lambda index: statistic(np.asarray(index)), n_resamples=0, vectorized=False, method="BCa",
        bootstrap_result=given,
    )  # fmt: skip


def test_values_equal_scikit_learns() -> None:
    decisions, p, human = judged(300)
    [found] = instances([(decisions, p, human)], Resamples.draw(300, 100, 0))
    assert [found.neither, found.judge_only, found.raters_only, found.both] == confusion_matrix(
        human, decisions
    ).ravel().tolist()
    assert found.phi.value == pytest.approx(matthews_corrcoef(human, decisions))
    assert found.phi.value == pytest.approx(pearsonr(human, decisions).statistic)
    assert found.auc.value == pytest.approx(roc_auc_score(human, p))
    assert found.n == found.questions == found.phi.n == found.auc.n == 300


@pytest.mark.parametrize("places", [1, 6])
def test_intervals_are_scipys_on_the_same_resamples(places: int) -> None:
    """With ties in p and without; SciPy does the jackknife and the BCa ends, scikit-learn the statistics."""
    decisions, p, human = judged(80, 3, places)
    resamples = Resamples.draw(80, 999, 7)
    [found] = instances([(decisions, p, human)], resamples)
    statistics: list[tuple[Measured, Callable[[Any], float]]] = [
        (found.phi, lambda at: float(matthews_corrcoef(human[at], decisions[at]))),
        (found.auc, lambda at: float(roc_auc_score(human[at], p[at]))),
    ]
    for each, statistic in statistics:
        drawn = drawn_by_hand(statistic, resamples)
        assert each.value is not None
        # Equal values may differ in the last digit by hand, and BCa counts how many resamples equal the estimate.
        drawn[np.isclose(drawn, each.value, atol=1e-12)] = statistic(np.arange(80))
        expected = scipys(statistic, 80, drawn)
        ends = expected.confidence_interval
        assert (each.interval.low, each.interval.high) == pytest.approx((ends.low, ends.high), abs=1e-9)
        assert each.interval.se == pytest.approx(expected.standard_error)
        assert (each.interval.method, each.undefined, each.reason) == ("bca", 0, None)


def test_a_system_comes_out_alike_whatever_stands_beside_it() -> None:
    parts = [judged(60, seed) for seed in range(4)]
    resamples = Resamples.draw(60, 200, 0)
    assert instances(parts, resamples)[2] == instances([parts[2]], resamples)[0]


def test_together_a_question_is_drawn_with_all_its_answers() -> None:
    parts = [judged(40, seed, 2) for seed in range(3)]
    questions = [np.arange(40)[: len(parts[0][0])], np.arange(40), np.arange(40)[::-1]]
    resamples = Resamples.draw(40, 300, 1)
    found = pooled(parts, questions, resamples)
    decisions, p, human = (np.concatenate([each[at] for each in parts]) for at in range(3))
    of = np.concatenate(questions)
    assert (found.n, found.questions) == (120, 40)
    assert found.auc.value == pytest.approx(roc_auc_score(human, p))
    for each, statistic in (
        (found.phi, lambda at: float(matthews_corrcoef(human[at], decisions[at]))),
        (found.auc, lambda at: float(roc_auc_score(human[at], p[at]))),
    ):
        drawn = drawn_by_hand(statistic, resamples, of)
        assert each.interval.se == pytest.approx(np.std(drawn, ddof=1))
        assert min(drawn) <= each.interval.low < each.value < each.interval.high <= max(drawn)
    one = Resamples.draw(120, 300, 1)
    [apart] = instances([(decisions, p, human)], one)
    assert apart.auc.value == found.auc.value
    assert apart.auc.interval != found.auc.interval


@pytest.mark.parametrize("pays_from", [1e-9, 1e9])
def test_both_ways_to_the_auc_are_exact(pays_from: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pass in the order of scores and the table of questions, with ties and several answers a question."""
    monkeypatch.setattr(roc, "_PAYS_FROM", pays_from)
    monkeypatch.setattr(roc, "_CELLS", 700)  # several blocks
    monkeypatch.setattr(roc, "_MANY", 3)
    rng = np.random.default_rng(1)
    of, scores, labels = rng.integers(0, 12, 60), rng.integers(0, 6, 60) / 5, (rng.random(60) < 0.5) * 1.0
    series, resamples = Series(scores, labels, of), Resamples.draw(12, 300, 3)
    by_hand = drawn_by_hand(lambda at: float(roc_auc_score(labels[at], scores[at])), resamples, of)
    np.testing.assert_allclose(auc_drawn([series, series], resamples), np.column_stack([by_hand] * 2), atol=1e-12)
    assert auc(series) == pytest.approx(roc_auc_score(labels, scores))
    without = [roc_auc_score(labels[of != at], scores[of != at]) for at in range(12)]
    np.testing.assert_allclose(auc_without(series, 12), without, atol=1e-12)


def test_wide_sums_are_added_in_wide_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    _, scores, labels = judged(50, 2)
    series, resamples = Series(scores, labels, np.arange(50)), Resamples.draw(50, 100, 0)
    narrow = auc_drawn([series], resamples)
    monkeypatch.setattr(roc, "_EXACT_HALVES", 1)
    np.testing.assert_array_equal(narrow, auc_drawn([series], resamples))


def test_resamples_without_both_labels_are_left_out_and_counted() -> None:
    decisions, p, human = np.array([[1.0, 0, 1, 1], [0.9, 0.3, 0.6, 0.8], [1, 0, 0, 1]])
    resamples = Resamples.draw(4, 2_000, 0)
    [found] = instances([(decisions, p, human)], resamples)
    counts = np.concatenate([block for _, block in resamples.blocks()])
    one_label = (counts[:, [0, 3]].sum(axis=1) == 0) | (counts[:, [1, 2]].sum(axis=1) == 0)
    assert found.auc.undefined == int(one_label.sum()) > 0
    assert found.phi.undefined == int((one_label | (counts[:, 1] == 0)).sum())


def one(decisions: Any, p: Any, human: Any) -> Instances:
    return instances([(decisions, p, human)], Resamples.draw(len(human), 50, 0))[0]


@pytest.mark.parametrize(
    ("decisions", "human", "phi", "auc_reason"),
    [
        ([1, 1, 1], [0, 1, 1], "the judge decides every question alike", ALIKE),
        ([0, 1, 1], [1, 1, 1], "every question has the same human label", "every question has the same human label"),
        ([], [], "no rated questions", "no rated questions"),
    ],
)
def test_undefined_numbers_have_reasons(decisions: Any, human: Any, phi: str, auc_reason: str) -> None:
    found = one(decisions, decisions, human)
    assert (found.phi.value, found.phi.reason, found.auc.reason) == (None, phi, auc_reason)
    assert (found.auc.value is None) == (auc_reason != ALIKE)
    assert found.phi.interval.method == found.auc.interval.method == "none"


def test_where_the_judge_is_always_right_there_is_no_interval_but_the_reason() -> None:
    found = one([1, 0, 1, 0], [0.9, 0.1, 0.8, 0.2], [1, 0, 1, 0])
    for each in (found.phi, found.auc):
        assert (each.value, each.interval.low, each.reason) == (1.0, None, ALIKE)


@pytest.mark.parametrize(
    ("decisions", "p", "human"), [([2.0], [0.5], [1.0]), ([1.0], [np.nan], [1.0]), ([1.0, 0.0], [0.5], [1.0])]
)
def test_what_is_no_decision_is_refused(decisions: Any, p: Any, human: Any) -> None:
    with pytest.raises(ValueError):
        one(decisions, p, human)


def test_labels_and_questions_must_fit_the_resamples() -> None:
    with pytest.raises(ValueError):
        instances([judged(5)], Resamples.draw(6, 50, 0))
    with pytest.raises(ValueError):
        pooled([judged(5)], [[0, 1, 2, 3, 6]], Resamples.draw(6, 50, 0))


def test_pearson_over_clusters_is_that_of_the_pairs_drawn() -> None:
    rng = np.random.default_rng(0)
    of = rng.integers(0, 30, 90)
    x = rng.random(90)
    y = np.where(rng.random(90) < 0.5, x, rng.random(90))
    resamples = Resamples.draw(30, 400, 5)
    found = pearson_clustered(x, y, of, resamples)
    assert found.value == pytest.approx(pearsonr(x, y).statistic)
    assert (found.n, found.undefined, found.reason) == (90, 0, None)
    drawn = drawn_by_hand(lambda at: float(pearsonr(x[at], y[at]).statistic), resamples, of)
    expected = scipys(
        lambda clusters: float(pearsonr(*(side[np.isin(of, clusters)] for side in (x, y))).statistic), 30, drawn
    )
    ends = expected.confidence_interval
    assert (found.interval.low, found.interval.high) == pytest.approx((ends.low, ends.high), abs=1e-9)


def test_copies_of_pairs_tell_no_more_than_one() -> None:
    x, y, _ = judged(40, 5, 6)
    alone = pearson_clustered(x, y, np.arange(40), Resamples.draw(40, 500, 0))
    copied = pearson_clustered(np.tile(x, 3), np.tile(y, 3), np.tile(np.arange(40), 3), Resamples.draw(40, 500, 0))
    assert copied.n == 3 * alone.n
    assert (copied.interval.low, copied.interval.high) == pytest.approx((alone.interval.low, alone.interval.high))


@pytest.mark.parametrize(
    ("x", "y", "of", "value", "reason"),
    [
        ([0.1, 0.2], [0.3, 0.4], [0, 1], None, "2 pairs; 3 are needed"),
        ([0.1, 0.1, 0.1], [0.3, 0.4, 0.5], [0, 1, 2], None, "one of the two numbers is the same everywhere"),
        ([0.1, 0.2, 0.4], [0.3, 0.4, 0.5], [0, 0, 0], pytest.approx(0.982, abs=1e-3), ALIKE),
        ([0.1, 0.1, 0.1, 0.1, 0.7], [0.2] * 4 + [0.3], [0, 0, 0, 0, 1], 1.0, ALIKE),
    ],
)
def test_pearson_that_is_undefined_has_the_reason(x: Any, y: Any, of: Any, value: Any, reason: str) -> None:
    found = pearson_clustered(x, y, of, Resamples.draw(max(of) + 1, 200, 0))
    assert (found.value, found.reason, found.interval.low) == (value, reason, None)


def test_a_constant_resample_is_undefined_though_its_sums_are_rounded() -> None:
    x, y = [0.1, 0.1, 0.1, 0.7], [0.2, 0.3, 0.4, 0.9]
    resamples = Resamples.draw(4, 1_000, 0)
    found = pearson_clustered(x, y, range(4), resamples)
    counts = np.concatenate([block for _, block in resamples.blocks()])
    alike = (counts[:, 3] == 0) | (counts[:, 3] == 4)
    assert found.undefined == int(alike.sum())


def test_pearson_refuses_what_does_not_fit() -> None:
    drawn = Resamples.draw(3, 50, 0)
    for x, of in (([0.1, np.nan, 1], [0, 1, 2]), ([0.1, 0.2, 1], [0, 1, 3]), ([0.1, 0.2], [0, 1, 2])):
        with pytest.raises(ValueError):
            pearson_clustered(x, [0.1, 0.2, 0.3], of, drawn)


@pytest.mark.parametrize(("lost", "reason"), [(0, None), (5, None), (6, OFTEN), (99, ALIKE), (100, OFTEN)])
def test_there_is_no_interval_where_too_many_resamples_are_undefined(lost: int, reason: str | None) -> None:
    drawn = np.linspace(0.3, 0.7, 100)
    drawn[:lost] = np.nan
    found = measured(0.5, 9, drawn, np.array([0.4, 0.5, 0.6]))
    assert (found.value, found.n, found.undefined, found.reason) == (0.5, 9, lost, reason)
    assert (found.interval.low is None) == (reason is not None)


@pytest.mark.parametrize(("value", "told"), [(0.02, BIASED), (0.03, None), (0.97, None), (0.98, BIASED)])
def test_a_value_in_a_tail_of_its_resamples_has_no_interval(value: float, told: str | None) -> None:
    found = measured(value, 9, np.arange(0.0005, 1, 0.001), np.array([0.4, 0.5, 0.6]))
    assert (found.reason, found.interval.low is None) == (told, told is not None)
