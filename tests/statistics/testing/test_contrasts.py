"""Contrasts of means: p-values that go with their intervals, Welch's degrees of freedom, laws of noise."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.statistics.clipped.margins import Spread
from dpstats.statistics.testing.contrasts import Contrast, difference_of, welch_df
from dpstats.statistics.testing.noise import difference_tail, laplace_points, laplace_variance, simulated_noise, simulator
from dpstats.testing import seeded
from tests.laws.mechanisms import discrete_laplace_law
from tests.statistics.testing.columns import SHAPES, most_rejections

EXACT = Contrast(Spread(500.0, 1.0, 0.04, 0.0, 0.0, 0.0), True)


@given(
    st.floats(-3, 3),
    st.floats(0.001, 1),
    st.floats(0, 1),
    st.floats(0, 3),
    st.floats(-0.2, 0.2),
    st.floats(-4, 4),
    st.floats(0.5, 0.999),
)
def test_a_p_value_is_small_just_where_the_interval_leaves_the_null_out(
    mean: float, sampling: float, noise: float, kurtosis: float, skew: float, null: float, level: float
) -> None:
    contrast = Contrast(Spread(300.0, mean, sampling, noise, kurtosis, skew), True)
    low, high = contrast.reach(level)
    p_value = contrast.p_value(null, "two-sided")
    if abs(p_value - (1 - level)) > 1e-9:
        assert (low <= null <= high) == (p_value > 1 - level)


def test_without_noise_and_skew_a_p_value_is_students() -> None:
    for null in (0.5, 0.8, 1.3):
        known = 2 * scipy.stats.t(500).sf(abs(1.0 - null) / 0.2)
        assert EXACT.p_value(null, "two-sided") == pytest.approx(known, rel=0.01)
    assert EXACT.p_value(0.5, "greater") == pytest.approx(scipy.stats.t(500).sf(2.5), rel=0.01)
    assert EXACT.p_value(0.5, "less") == pytest.approx(scipy.stats.t(500).cdf(2.5), rel=0.01)


def test_a_difference_adds_variances_and_takes_one_skewness_from_the_other() -> None:
    one, other = Spread(100.0, 3.0, 0.04, 0.01, 3.0, 0.1), Spread(400.0, 1.0, 0.01, 0.02, 1.5, 0.3)
    difference = difference_of(Contrast(one, True), Contrast(other, True)).spread
    assert difference.mean == 2
    assert difference.variance == pytest.approx(0.08)
    assert difference.noise_kurtosis == pytest.approx((3 * 0.01**2 + 1.5 * 0.02**2) / 0.03**2)
    assert difference.skew == pytest.approx((0.1 * 0.04 - 0.3 * 0.01) / 0.05)
    assert difference_of(Contrast(one, True), Contrast(one, True)).spread.skew == pytest.approx(0)
    assert not difference_of(EXACT, replace(EXACT, seen=False)).seen


def test_welchs_degrees_of_freedom_are_scipys() -> None:
    generator = np.random.default_rng(2)
    first, second = generator.normal(0, 1, 40), generator.normal(0, 3, 90)
    spreads = [Spread(len(rows), 0.0, rows.var(ddof=1) / len(rows), 0.0, 0.0, 0.0) for rows in (first, second)]
    assert welch_df(*spreads) == pytest.approx(scipy.stats.ttest_ind(first, second, equal_var=False).df)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_the_law_of_a_difference_of_noise_is_the_convolution(epsilon: float) -> None:
    law = discrete_laplace_law(0, 1 / Fraction(epsilon), -150, 150)
    chances = np.array([float(law[z]) for z in range(-150, 151)])
    both = np.convolve(chances, chances[::-1])
    for least in (-7, -1, 0, 1, 2, 11):
        assert difference_tail(np.array([float(least)]), epsilon)[0] == pytest.approx(both[300 + least :].sum(), abs=1e-9)
    assert laplace_variance(epsilon) == pytest.approx(np.sum(chances * np.arange(-150, 151) ** 2), rel=1e-6)


def test_points_of_noise_have_its_mean_and_nearly_its_spread() -> None:
    points = laplace_points(3.0, 4_000)
    assert points.mean() == pytest.approx(0, abs=1e-9)
    assert np.sqrt(points.var()) == pytest.approx(3 * math.sqrt(2), rel=0.01)


def test_simulated_noise_has_the_law_of_the_noise_and_repeats_itself_with_its_seed() -> None:
    drawn = simulated_noise(simulator(seeded(5)), 0.5, (40_000,))
    assert drawn.mean() == pytest.approx(0, abs=0.06)
    assert drawn.var() == pytest.approx(laplace_variance(0.5), rel=0.05)
    assert np.array_equal(drawn, simulated_noise(simulator(seeded(5)), 0.5, (40_000,)))


def test_a_small_group_is_told_from_a_large_one_by_limits_of_all_rows() -> None:
    """Days in hospital of two groups, one of them small: each found limits of its own before, and hardly any test rejected."""
    rejected = 0
    for seed in range(20):
        generator = np.random.default_rng(seed)
        by = np.where(generator.random(1500) < 0.2, "few", "many")
        days = np.ceil(generator.gamma(1.4, 6.5, 1500) * np.where(by == "few", 0.65, 1.0))
        release = dp.two_sample_t_test(days, by, ["few", "many"], epsilon=1, rng=seeded(seed))
        rejected += release.value.p_value < 0.05
    assert rejected >= 15


def skewed_against_its_mirror_image(generator: np.random.Generator, by: np.ndarray) -> np.ndarray:
    """Groups of the same mean: what a close clip takes from one of them above, it takes from the other one below."""
    rows = generator.exponential(size=len(by)) - 1
    return np.where(by == "a", rows, -rows)


def test_groups_of_the_same_mean_and_opposite_tails_are_not_told_apart() -> None:
    rejected = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        by = np.where(generator.random(4_000) < 0.5, "a", "b")
        values = skewed_against_its_mirror_image(generator, by)
        release = dp.two_sample_t_test(values, by, ["a", "b"], epsilon=Fraction(1, 4), rng=seeded(seed))
        rejected += release.value.p_value < 0.05
    assert rejected <= 60 * most_rejections(60)


@pytest.mark.parametrize("shape", ["normal", "skewed"])
def test_a_thousand_rows_at_epsilon_1_tell_most_of_the_differences_that_the_usual_test_tells(shape: str) -> None:
    """An effect that the usual test finds in 4 of 5 tables: the clip was so wide that noise hid it in most of them."""
    rejected = 0
    for seed in range(60):
        generator = np.random.default_rng(seed)
        by = np.where(generator.random(1_000) < 0.5, "a", "b")
        values = SHAPES[shape][0](generator, 1_000) + 0.178 * (by == "a")
        release = dp.two_sample_t_test(values, by, ["a", "b"], epsilon=1, rng=seeded(seed))
        rejected += release.value.p_value < 0.05
    assert rejected >= 30
