"""Correlations at system level and gaps against SciPy and direct loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau, pearsonr, spearmanr

from scorer.statistics.coefficients import COEFFICIENTS, kendall, pearson, spearman
from scorer.statistics.comparisons import paired_differences
from scorer.statistics.correlations import correlate
from scorer.statistics.gaps import gaps
from scorer.statistics.measured import BIASED
from scorer.statistics.resamples import Resamples
from scorer.statistics.system_scores import system_scores

SCIPY = {"pearson": pearsonr, "spearman": spearmanr, "kendall": kendalltau}


def benchmark(n=200, k=8, seed=0):
    rng = np.random.default_rng(seed)
    quality = np.linspace(0.2, 0.8, k)
    ais = (rng.random((n, k)) < quality).astype(float)
    other = np.where(rng.random((n, k)) < 0.7, ais, rng.random((n, k)) < 0.5).astype(float)
    return ais, other, rng.random(n) < 0.4


@settings(max_examples=80, deadline=None)
@given(rows=arrays(np.float64, st.tuples(st.just(2), st.integers(3, 12)), elements=st.sampled_from([0, 0.1, 0.3, 0.7])))
def test_coefficients_equal_scipys_and_constants_are_undefined(rows):
    x, y = rows
    for name, coefficient in COEFFICIENTS.items():
        found = coefficient(np.array([x, y]), np.array([y, x]))
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            assert np.isnan(found).all()
        else:
            assert found == pytest.approx(SCIPY[name](x, y).statistic, abs=1e-9)


@pytest.mark.parametrize("coefficient", [pearson, spearman, kendall])
def test_a_row_with_nan_is_undefined_and_spoils_no_other(coefficient):
    x = np.array([[1.0, 2, 3], [1, np.nan, 3], [3, 2, 1]])
    found = coefficient(x, np.array([[1.0, 2, 3]] * 3))
    assert np.isnan(found).tolist() == [False, True, False]
    assert found[[0, 2]] == pytest.approx([1, -1])


def test_values_are_scipys_on_the_published_scores():
    ais, other, rated = benchmark()
    found = correlate(ais, other, rated, ["RTR"] * 8, Resamples.draw(200, 300, 0)).fit
    for name in COEFFICIENTS:
        direct = SCIPY[name](ais[rated].mean(axis=0), other.mean(axis=0)).statistic
        each = getattr(found, name)
        assert each.value == pytest.approx(direct)
        assert each.systems == 8
        assert each.over_questions.low < each.value
        assert each.over_questions.se > 0
        assert each.over_systems.low < each.value


def test_questions_are_resampled_jointly():
    """A direct loop: draw questions of the whole benchmark, average AIS over those of them that are rated."""
    ais, other, rated = benchmark(seed=2)
    resamples = Resamples.draw(200, 400, 5)
    drawn = []
    for _, block in resamples.blocks():
        for counts in block:
            index = np.repeat(np.arange(200), counts)
            drawn.append(pearsonr(ais[index][rated[index]].mean(axis=0), other[index].mean(axis=0)).statistic)
    found = correlate(ais, other, rated, ["RTR"] * 8, resamples).fit.pearson
    assert found.over_questions.se == pytest.approx(np.std(drawn, ddof=1))
    assert min(drawn) <= found.over_questions.low < found.over_questions.high <= max(drawn)


def test_the_bca_ends_are_those_of_a_direct_jackknife():
    from scorer.statistics.bca import acceleration, ends

    ais, other, rated = benchmark(60, 5, seed=1)
    resamples = Resamples.draw(60, 500, 5)
    drawn = []
    for _, block in resamples.blocks():
        for counts in block:
            index = np.repeat(np.arange(60), counts)
            drawn.append(spearmanr(ais[index][rated[index]].mean(axis=0), other[index].mean(axis=0)).statistic)
    jackknife = []
    for at in range(60):
        keep = np.arange(60) != at
        jackknife.append(spearmanr(ais[keep & rated].mean(axis=0), other[keep].mean(axis=0)).statistic)
    value = spearmanr(ais[rated].mean(axis=0), other.mean(axis=0)).statistic
    # Rounded alike on both sides, so that ties with the estimate are ties here too.
    expected = ends(
        np.round(drawn, 9)[:, None],
        np.round([value], 9),
        acceleration((np.mean(jackknife) - jackknife)[:, None]),
    )
    found = correlate(ais, other, rated, ["RTR"] * 5, resamples).fit.spearman.over_questions
    assert (found.low, found.high) == pytest.approx((expected.low[0], expected.high[0]), abs=0.02)
    assert found.se == pytest.approx(expected.se[0], rel=1e-6)


def test_systems_that_use_autoais_are_left_out_of_the_fit_only():
    ais, other, rated = benchmark()
    resamples = Resamples.draw(200, 100, 0)
    names = ["RTR", "RTR", "RTR", "Post", "Post", "LLM", "LLM", "LLM"]
    found = correlate(ais, other, rated, names, resamples, leave_out=[False] * 6 + [True] * 2)
    fitted = correlate(ais[:, :6], other[:, :6], rated, names[:6], resamples)
    everyone = correlate(ais, other, rated, names, resamples)
    assert found.left_out == (6, 7)
    assert found.fit == fitted.fit
    assert found.everyone == everyone.fit == everyone.everyone
    assert list(found.without_architecture) == ["RTR", "Post", "LLM"]
    scores = ais[rated].mean(axis=0), other.mean(axis=0)
    keep = [0, 1, 2, 5]
    assert found.without_architecture["Post"].kendall.value == pytest.approx(
        kendalltau(scores[0][keep], scores[1][keep]).statistic
    )
    assert found.without_architecture["RTR"].pearson.systems == 3


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda a, o, r: (a[:, :2], o[:, :2], r), "2 systems; 3 are needed"),
        (lambda a, o, r: (np.zeros_like(a), o, r), "AIS is the same for every system"),
        (lambda a, o, r: (a, np.full_like(o, 0.1), r), "the other metric is the same for every system"),
        (lambda a, o, r: (a, o, np.zeros_like(r)), "a system has no rated question"),
    ],
)
def test_undefined_correlations_have_reasons(change, reason):
    ais, other, rated = change(*benchmark())
    found = correlate(ais, other, rated, ["RTR"] * ais.shape[1], Resamples.draw(200, 50, 0)).fit
    for each in (found.pearson, found.spearman, found.kendall):
        assert (each.value, each.reason) == (None, reason)
        assert each.over_questions.method == each.over_systems.method == "none"


def test_undefined_resamples_are_counted_and_where_they_are_many_there_is_no_interval():
    """One rated question of three: about 30 % of resamples miss it; three systems often collapse to one."""
    ais = np.array([[1.0, 0.0, 0.5], [0, 0, 0], [0, 0, 0]])
    other = np.array([[1.0, 0.0, 1.0], [0, 1, 0], [1, 0, 0]])
    resamples = Resamples.draw(3, 2_000, 1)
    counts = np.concatenate([block for _, block in resamples.blocks()]).astype(float)
    constant = np.ptp(counts @ other, axis=1) == 0
    found = correlate(ais, other, [True, False, False], ["RTR"] * 3, resamples).fit.pearson
    assert found.undefined_over_questions == int(((counts[:, 0] == 0) | constant).sum()) > 400
    assert found.undefined_over_systems >= 2_000 * 0.08
    assert found.value is not None
    assert found.over_questions.low is found.over_systems.low is None


def test_where_resampling_only_adds_noise_there_is_no_interval_over_questions() -> None:
    """Of many systems that lie on one line, each resample scatters the points, so that all say less than the value."""
    rng = np.random.default_rng(0)
    quality = np.linspace(0.3, 0.7, 150)
    ais = (rng.random((300, 150)) < quality).astype(float)
    other = np.where(rng.random((300, 150)) < 0.9, ais, rng.random((300, 150)) < 0.5).astype(float)
    found = correlate(ais, other, np.ones(300, dtype=bool), ["RTR"] * 150, Resamples.draw(300, 200, 0)).fit
    for each in (found.pearson, found.spearman, found.kendall):
        assert (each.over_questions.low, each.reason_over_questions) == (None, BIASED)
        assert each.over_systems.low < each.value < each.over_systems.high
        assert each.reason_over_systems is None


def test_each_system_may_have_its_own_rated_questions():
    ais, other, _ = benchmark()
    rated = np.random.default_rng(3).random(ais.shape) < 0.5
    spoiled = np.where(rated, ais, np.nan)
    found = correlate(spoiled, other, rated, ["RTR"] * 8, Resamples.draw(200, 50, 0)).fit.pearson
    scores = [ais[rated[:, at], at].mean() for at in range(8)]
    assert found.value == pytest.approx(pearsonr(scores, other.mean(axis=0)).statistic)


@pytest.mark.parametrize("bad", ["nan", "shape", "names"])
def test_what_does_not_fit_is_refused(bad):
    ais, other, rated = benchmark()
    if bad == "nan":
        other[0, 0] = np.nan
    with pytest.raises(ValueError):
        correlate(
            ais[:, :-1] if bad == "shape" else ais,
            other,
            rated,
            ["RTR"] * (7 if bad == "names" else 8),
            Resamples.draw(200, 9, 0),
        )


def test_without_an_architecture_pearson_has_the_intervals_of_the_others_alone():
    ais, other, rated = benchmark()
    names = ["RTR", "RTR", "Post", "Post", "Post", "LLM", "LLM", "LLM"]
    resamples = Resamples.draw(200, 100, 0)
    found = correlate(ais, other, rated, names, resamples).without_architecture["RTR"]
    alone = correlate(ais[:, 2:], other[:, 2:], rated, names[2:], resamples).fit
    assert found.pearson == alone.pearson
    assert found.pearson.over_questions.low < found.pearson.value
    assert found.kendall.value == alone.kendall.value
    assert found.kendall.over_questions.method == "none"


def test_gaps_per_architecture():
    """The gap and its resamples by hand: 60 questions, every third one rated."""
    ais, other, _ = benchmark(60, 3, seed=4)
    rated = np.arange(60) % 3 == 0
    resamples = Resamples.draw(60, 300, 2)
    post, rtr = gaps(system_scores(ais, other, rated, resamples), ["Post", "RTR", "Post"])
    assert [(each.architecture, each.systems) for each in (post, rtr)] == [("Post", 2), ("RTR", 1)]
    own = [0, 2]
    assert post.gap.value == pytest.approx(other[:, own].mean() - ais[rated][:, own].mean())
    assert post.gap.value == pytest.approx(post.autoais.value - post.ais.value)
    drawn = []
    for _, block in resamples.blocks():
        for counts in block:
            index = np.repeat(np.arange(60), counts)
            drawn.append(other[index][:, own].mean() - ais[index][rated[index]][:, own].mean())
    assert post.gap.interval.se == pytest.approx(np.std(drawn, ddof=1))
    assert min(drawn) <= post.gap.interval.low < post.gap.value < post.gap.interval.high <= max(drawn)
    with pytest.raises(ValueError):
        gaps(system_scores(ais, other, rated, resamples), ["Post"])


@pytest.mark.parametrize("n", [30, 100])
def test_the_gap_of_one_system_has_the_interval_of_its_paired_difference(n: int) -> None:
    """In small benchmarks many resamples equal the gap; rounding must not hide that from BCa."""
    ais, other, _ = benchmark(n, 12, seed=7)
    resamples = Resamples.draw(n, 999, 1)
    scores = system_scores(ais, other, np.ones(n, dtype=bool), resamples)
    found = gaps(scores, [f"A{at}" for at in range(12)])
    paired = paired_differences(other, ais, resamples)
    for each, (difference, interval) in zip(found, paired, strict=True):
        assert each.gap.value == pytest.approx(difference, abs=1e-12)
        ends = (each.gap.interval.low, each.gap.interval.high)
        assert ends == pytest.approx((interval.low, interval.high), abs=1e-9)


def test_a_gap_without_a_rated_question_has_the_reason():
    ais, other, _ = benchmark(30, 3)
    rated = np.ones((30, 3), dtype=bool)
    rated[:, 1] = False
    _, rtr = gaps(system_scores(ais, other, rated, Resamples.draw(30, 50, 0)), ["Post", "RTR", "Post"])
    assert (rtr.gap.value, rtr.gap.reason) == (None, "a system has no rated question")
    assert rtr.autoais.value == pytest.approx(other[:, 1].mean())


def test_kendall_of_long_rows_is_scipys() -> None:
    """Of more than 256 systems, so that a byte does not hold a system's discordant pairs; tied and not."""
    draws = np.random.default_rng(5)
    for decimals in (1, 9):
        x = np.round(draws.random((30, 300)), decimals)
        y = np.round(x + draws.random((30, 300)), decimals)
        y[0] = -x[0]
        x[3], y[7, 2] = 1, np.nan
        expected = [kendalltau(*rows).statistic for rows in zip(x, y, strict=True)]
        np.testing.assert_allclose(kendall(x, y), expected, atol=1e-12)
        assert np.isnan(expected).nonzero()[0].tolist() == [3, 7]


def test_kendall_counts_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    from scorer.statistics import coefficients

    x, y = np.random.default_rng(6).integers(0, 5, (2, 50, 9)).astype(float)
    whole = kendall(x, y)
    monkeypatch.setattr(coefficients, "_ROWS_AT_ONCE", 7)
    np.testing.assert_array_equal(kendall(x, y), whole)
