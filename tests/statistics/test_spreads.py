"""Variance and standard deviation: the exact privacy loss of courses, oracles, and columns with everything to stumble over."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask, find_statistic
from dpstats.foundations.summaries import Column
from dpstats.statistics.means import CLIPPED_LOSS, WHOLE_ERROR
from dpstats.statistics.spreads import variance_clipped
from dpstats.testing import seeded
from tests.replays.limits import privacy_loss
from tests.statistics.tables import ugly_columns

SLACK = 1e-9
WAVE = [float(value) for value in np.random.default_rng(3).normal(0, 10, 40).round(1)]
PAIRS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "nothing or one row": (np.array([]), np.array([1e9])),
    "all alike": (np.full(30, 12.99), np.full(31, 12.99)),
    "an outlier": (np.array(WAVE), np.array([*WAVE, -1e300])),
    "an infinite row": (np.array(WAVE), np.array([*WAVE, math.inf])),
    "a row at the middle": (np.array(WAVE), np.array([*WAVE, float(np.median(WAVE))])),
}
EXTREME: dict[str, np.ndarray] = {
    "large": np.random.default_rng(1).normal(0, 1e200, 1000),
    "near the largest float": np.linspace(-1.0, 1.0, 301) * 1.7e308,
    "all infinite": np.repeat([-math.inf, math.inf], [40, 40]),
    "tiny": np.random.default_rng(1).normal(0, 1e-300, 1000),
    "64-bit ends": np.array([2**63 - 1, -(2**63)] * 40),
    "all missing": np.full(9, math.nan),
}


def variance(epsilon: Fraction, neighbors: Neighbors, seed: int) -> Callable[[Column], Any]:
    """Everything that the variance reads and spends."""
    question = ask("variance", epsilon=epsilon, neighbors=neighbors)
    return lambda column: variance_clipped(column, question, seeded(seed))


def pushing(seed: int) -> Callable[[Fraction], int]:
    """Noise of a few scales."""
    chooser = random.Random(seed)
    return lambda scale: round(chooser.choice((-3.0, -0.3, 1.0, 3.0)) * scale)


# Privacy


@pytest.mark.parametrize("name", PAIRS)
def test_no_course_tells_an_added_row_by_more_than_epsilon(name: str) -> None:
    table, neighbour = (as_column(data) for data in PAIRS[name])
    losses = [
        privacy_loss(variance(Fraction(2), Neighbors.ADD_REMOVE, seed), *pair, pushing(seed))
        for seed in range(3)
        for pair in ((table, neighbour), (neighbour, table))
    ]
    assert 0.1 < max(map(abs, losses)) <= 2 + SLACK


@pytest.mark.parametrize("value", [1e300, math.inf, 0.0, math.nan])
def test_no_course_tells_a_changed_row_by_more_than_epsilon(value: float) -> None:
    table, changed = as_column(np.array(WAVE)), as_column(np.array([value, *WAVE[1:]]))
    for seed in range(3):
        loss = privacy_loss(variance(Fraction(2), Neighbors.CHANGE_ONE, seed), table, changed, pushing(seed))
        assert abs(loss) <= 2 + SLACK


def test_the_loss_is_that_of_limits_and_cells() -> None:
    assert find_statistic("variance").methods["clipped"].loss == CLIPPED_LOSS
    assert find_statistic("std").methods["clipped"].loss == CLIPPED_LOSS


# What comes out


@pytest.mark.parametrize("shape", ["normal", "uniform", "exponential", "whole numbers"])
def test_at_a_huge_epsilon_the_variance_is_numpys(shape: str) -> None:
    generator = np.random.default_rng(6)
    data = {
        "normal": generator.normal(50, 15, 2000),
        "uniform": generator.uniform(-3, 5, 2000),
        "exponential": generator.exponential(4, 2000),
        "whole numbers": generator.integers(0, 30, 2000).astype(float),
    }[shape]
    found = dp.variance(data, epsilon=1e6, rng=seeded(7))
    assert found.value == pytest.approx(np.var(data, ddof=1), rel=1e-3)
    assert dp.std(data, epsilon=1e6, rng=seeded(7)).value == pytest.approx(np.std(data, ddof=1), rel=1e-3)


def test_the_standard_deviation_is_the_root_of_the_variance() -> None:
    data = np.random.default_rng(6).normal(50, 15, 500)
    squared, root = (asked(data, epsilon=1, rng=seeded(7)) for asked in (dp.variance, dp.std))
    assert squared.interval is not None
    assert root.interval is not None
    assert root.value == pytest.approx(math.sqrt(squared.value))
    assert root.interval.low == pytest.approx(math.sqrt(squared.interval.low))
    assert root.interval.high == pytest.approx(math.sqrt(squared.interval.high))


def test_a_constant_column_does_not_vary() -> None:
    found = dp.variance(np.full(2000, 12.99), epsilon=1, rng=seeded(1))
    assert (found.value, found.interval) == (0.0, None)
    assert "all rows seem alike" in str(found)


def test_two_numbers_of_many_digits_vary_as_much_as_others() -> None:
    apart, held = 1 / 3 - 1 / 7, 0
    for seed in range(12):
        data = np.where(np.random.default_rng(seed).random(5000) < 0.8, 1 / 3, 1 / 7)
        found = dp.std(data, epsilon=1, rng=seeded(seed))
        assert found.interval.high < 10 * apart
        held += found.interval.low <= 0.4 * apart <= found.interval.high
    assert held >= 10


@pytest.mark.parametrize("name", [*ugly_columns(), *EXTREME])
@pytest.mark.parametrize("epsilon", [1e-9, 1e9])
def test_every_column_gets_a_finite_value_inside_its_interval(name: str, epsilon: float) -> None:
    for neighbors, asked in zip(Neighbors, (dp.variance, dp.std), strict=True):
        found = asked((ugly_columns() | EXTREME)[name], epsilon=epsilon, neighbors=neighbors, rng=seeded(5))
        assert 0 <= found.value <= sys.float_info.max
        if found.interval is None:  # all rows seem alike
            assert found.value == 0
            assert found.unknown
        else:
            assert 0 <= found.interval.low <= found.value <= found.interval.high


def test_large_numbers_have_a_standard_deviation_though_no_float_holds_their_variance() -> None:
    data = EXTREME["large"]
    assert dp.std(data, epsilon=1e6, rng=seeded(7)).value == pytest.approx(np.std(data / 1e200) * 1e200, rel=1e-2)
    assert dp.variance(data, epsilon=1e6, rng=seeded(7)).value == sys.float_info.max


def median_ratio(data: np.ndarray, **named: Any) -> float:
    """How many times as large as its lower end an interval's upper one typically is."""
    found = [dp.variance(data, rng=seeded(seed), **named).interval for seed in range(5)]
    return float(np.median([interval.high / interval.low for interval in found]))


def test_intervals_are_shorter_for_a_larger_epsilon_and_a_lower_level() -> None:
    data = np.random.default_rng(9).normal(50, 15, 2000)
    usual, sure, bold = (median_ratio(data, epsilon=1, interval=level) for level in (0.95, 0.99, 0.5))
    assert bold < usual < sure
    assert median_ratio(data, epsilon=20) < usual


def test_no_interval_is_made_where_none_is_asked_for() -> None:
    assert dp.std(np.arange(100.0), epsilon=1, interval=None, rng=seeded(1)).interval is None


def test_a_card_says_what_an_interval_covers() -> None:
    assert WHOLE_ERROR in str(dp.std(np.arange(100.0), epsilon=1, rng=seeded(1)).card())


@pytest.mark.long
def test_intervals_of_a_thousand_rows_hold_the_populations_variance_often_enough() -> None:
    generator = np.random.default_rng(10)
    found = [dp.variance(generator.normal(0, 1, 1000), epsilon=1, rng=seeded(seed)).interval for seed in range(60)]
    assert sum(interval.low <= 1 <= interval.high for interval in found) >= 52
