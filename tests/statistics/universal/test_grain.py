"""The noisy look at the grain of a column."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import WindowRequest
from dpstats.statistics.universal import grain, single
from dpstats.statistics.universal.measure import FINE, MIXED, WHOLE, Measure
from dpstats.testing import seeded
from tests.laws.mechanisms import discrete_laplace_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.statistics.tables import random_table, ugly_columns

QUANTILES = [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)]


def grain_of(rows: object, quantile: Fraction, reach: int) -> int:
    """The raw sum from the array engine's window."""
    (window,) = as_column(rows).order_windows([WindowRequest(quantile, reach)])
    return grain.raw_grain(window, quantile, reach)


def grain_by_hand(rows: list[float], quantile: Fraction, reach: int) -> int:
    """The same from a sorted list."""
    middle = math.floor(quantile * len(rows))
    near = sorted(rows)[max(0, middle - reach) : middle + reach]
    return sum((1 if value == round(value) else -1) for value in near if math.isfinite(value))


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("quantile", QUANTILES)
@pytest.mark.parametrize("reach", [1, 7, 5000])
def test_the_sum_over_the_window_is_that_over_the_sorted_rows(name: str, quantile: Fraction, reach: int) -> None:
    data = ugly_columns()[name]
    rows = [float(value) for value in data if value == value]
    assert grain_of(data, quantile, reach) == grain_by_hand(rows, quantile, reach)


def test_one_row_added_or_changed_moves_the_sum_by_at_most_two_and_sometimes_by_two() -> None:
    chooser = random.Random(3)
    worst = 0
    for _ in range(3000):
        table = random_table(chooser, chooser.randint(1, 9)) + random_table(chooser, chooser.randint(0, 5))
        extra = chooser.choice([*table, 0.5, 3.0, math.inf])
        quantile, reach = chooser.choice(QUANTILES), chooser.randint(1, 4)
        before = grain_by_hand(table, quantile, reach)
        worst = max(worst, abs(grain_by_hand([*table, extra], quantile, reach) - before))
        worst = max(worst, abs(grain_by_hand([*table[1:], extra], quantile, reach) - before))
    assert worst == 2


def test_the_noise_hides_a_move_of_two_and_half_of_it_does_not() -> None:
    epsilon = Fraction(1, 10)
    for scale, private in ((2 / epsilon, True), (1 / epsilon, False)):  # the twin takes the sensitivity to be 1
        laws = [discrete_laplace_law(centre, scale, -40, 40) for centre in (0, 2)]
        assert (largest_log_ratio(*laws) <= float(epsilon) + 1e-12) is private


def test_a_single_float_among_whole_numbers_does_not_choose_the_measure() -> None:
    whole, mixed = [5] * 50 + [4, 6] * 20, [5] * 50 + [4, 6] * 20 + [0.5]
    asked = [[dp.median(data, epsilon="0.01", rng=seeded(seed)).value for seed in range(150)] for data in (whole, mixed)]
    fractional = [sum(value != round(value) for value in values) for values in asked]
    assert abs(fractional[0] - fractional[1]) < 30


def test_the_look_uses_noise_of_that_scale_and_spends_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[Fraction] = []
    slopes: list[Fraction] = []
    noise, slope = grain.sample_discrete_laplace, single.symmetric_slope

    def watched_noise(scale: Fraction, size: int, rng: RandomSource) -> object:
        scales.append(scale)
        return noise(scale, size, rng)

    def watched_slope(quantile: Fraction, epsilon: Fraction, neighbors: Neighbors) -> Fraction:
        slopes.append(epsilon)
        return slope(quantile, epsilon, neighbors)

    monkeypatch.setattr(grain, "sample_discrete_laplace", watched_noise)
    monkeypatch.setattr(single, "symmetric_slope", watched_slope)
    for data in (np.arange(500.0), np.arange(500)):
        single.draw_quantile(as_column(data), Fraction(1, 2), Fraction(1), Neighbors.ADD_REMOVE, seeded(1))
    assert [2 / scale for scale in scales] == [grain.GRAIN_SHARE] * 2
    assert slopes == [1 - grain.GRAIN_SHARE] * 2


@pytest.mark.parametrize(
    ("data", "measure"),
    [
        (np.round(np.random.default_rng(1).normal(40, 12, 5000)), WHOLE),
        (np.random.default_rng(2).normal(40, 12, 5000), FINE),
        (np.arange(5000) / 2, MIXED),
        (np.random.default_rng(3).normal(40, 12, 20), MIXED),
        (np.array([]), MIXED),
    ],
)
def test_columns_get_the_measure_that_suits_them(data: np.ndarray, measure: Measure) -> None:
    reach = grain.grain_reach(Fraction(1))
    (window,) = as_column(data).order_windows([WindowRequest(Fraction(1, 2), reach)])
    chosen = [grain.suited_measure(window, Fraction(1, 2), reach, grain.GRAIN_SHARE, seeded(seed)) for seed in range(60)]
    assert chosen.count(measure) >= 45
