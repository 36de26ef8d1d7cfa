"""The smallest detectable difference, found again by simulation and by its defining equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import nct, t, ttest_1samp

from scorer.statistics.power import from_deviation, from_discordance


def power_of(effect, n, alpha=0.05):
    """Two-sided power of the paired t from the noncentral t distribution."""
    critical, shift = t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n)
    return nct.sf(critical, n - 1, shift) + nct.cdf(-critical, n - 1, shift)


@pytest.mark.parametrize("n", [2, 10, 300, 3610])
def test_has_the_power_it_claims(n):
    found = from_deviation(n, 0.5)
    assert power_of(found.difference / 0.5, n) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize("discordance", [0.02, 0.2, 0.6])
def test_discordance_gives_the_deviation_of_the_differences(discordance):
    found = from_discordance(1000, discordance)
    deviation = math.sqrt(discordance - found.difference**2)
    assert found.difference == pytest.approx(from_deviation(1000, deviation).difference, rel=1e-6)


def test_a_simulation_finds_the_difference_four_times_in_five():
    n, discordance = 400, 0.3
    gap = from_discordance(n, discordance).difference
    rng = np.random.default_rng(0)
    up, down = (discordance + gap) / 2, (discordance - gap) / 2
    drawn = rng.choice([1.0, -1.0, 0.0], p=[up, down, 1 - discordance], size=(n, 4_000))
    assert np.mean(ttest_1samp(drawn, 0).pvalue < 0.05) == pytest.approx(0.8, abs=0.025)


def test_what_cannot_be_detected_has_a_reason():
    assert from_deviation(1, 0.5).difference is None
    assert from_discordance(1, 0.5).reason == "fewer than 2 questions"
    for n, discordance in ((100, 0.0), (10, 0.05)):
        found = from_discordance(n, discordance)
        assert found.difference is None
        assert "too few questions" in found.reason
    assert from_deviation(100, 0.0).difference == 0


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
def test_impossible_spreads_are_refused(bad):
    with pytest.raises(ValueError):
        from_deviation(100, bad)
    with pytest.raises(ValueError):
        from_discordance(100, bad)
