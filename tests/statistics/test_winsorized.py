"""Winsorized and trimmed means without bounds: the exact privacy loss of courses, oracles, and ugly columns."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask, find_statistic
from dpstats.foundations.summaries import Column
from dpstats.statistics import winsorized
from dpstats.statistics.universal.draw import RankLoss
from dpstats.statistics.universal.limits import Share
from dpstats.statistics.winsorized import (
    CUT_LOSS,
    MIDDLE,
    QUANTILE,
    ROWS_SHARE,
    SAMPLED_ERROR,
    SCALE,
    winsorize,
)
from dpstats.testing import seeded
from tests.replays.places import place_loss
from tests.statistics.tables import ugly_columns
from tests.twins.ends import overlapping_side

SLACK = 1e-9
EPSILON = Fraction(2)
WAVE = [float(value) for value in np.random.default_rng(3).normal(0, 10, 40).round(1)]
PAIRS: dict[str, tuple[np.ndarray, np.ndarray]] = {
    "nothing or one row": (np.array([]), np.array([1e9])),
    "one row or two": (np.array([3.5]), np.array([3.5, -2.0])),
    "all alike": (np.full(30, 12.99), np.full(31, 12.99)),
    "an outlier": (np.array(WAVE), np.array([*WAVE, -1e300])),
    "infinite rows": (np.array([math.inf] * 9), np.array([math.inf] * 10)),
    "a row at the middle": (np.array(WAVE), np.array([*WAVE, float(np.median(WAVE))])),
    "large whole numbers": (np.arange(2**60, 2**60 + 40), np.arange(2**60, 2**60 + 41)),
}
EXTREME: dict[str, np.ndarray] = {
    "near the largest float": np.linspace(-1.0, 1.0, 301) * 1.7e308,
    "large and positive": np.linspace(1.0, 1.7, 301) * 1e308,
    "all infinite": np.repeat([-math.inf, math.inf], [40, 40]),
    "tiny": np.random.default_rng(1).normal(0, 1e-300, 1000),
    "64-bit ends": np.array([2**63 - 1, -(2**63)] * 40),
    "all missing": np.full(9, math.nan),
}
MEANS = {"winsorized": dp.winsorized_mean, "trimmed": dp.trimmed_mean}


def course(epsilon: Fraction, neighbors: Neighbors, seed: int, trim: float = 0.1) -> Callable[[Column], Any]:
    """Everything that the means read and spend."""
    question = ask("winsorized_mean", trim, epsilon=epsilon, neighbors=neighbors)
    return lambda column: winsorize(column, question, seeded(seed))


def pushing(seed: int) -> Callable[[Fraction], int]:
    """Noise of a few scales."""
    chooser = random.Random(seed)
    return lambda scale: round(chooser.choice((-3.0, -0.3, 1.0, 3.0)) * scale)


# Privacy


@pytest.mark.parametrize("name", PAIRS)
def test_no_course_tells_an_added_row_by_more_than_epsilon(name: str) -> None:
    table, neighbour = (as_column(data) for data in PAIRS[name])
    losses = [
        place_loss(course(EPSILON, Neighbors.ADD_REMOVE, seed, trim), *pair, pushing(seed))
        for seed, trim in enumerate((0.1, 0.0, 0.4))
        for pair in ((table, neighbour), (neighbour, table))
    ]
    assert 0.1 < max(map(abs, losses)) <= EPSILON + SLACK


@pytest.mark.parametrize("value", [1e300, math.inf, 0.0, math.nan])
def test_no_course_tells_a_changed_row_by_more_than_epsilon(value: float) -> None:
    table, changed = as_column(np.array(WAVE)), as_column(np.array([value, *WAVE[1:]]))
    for seed in range(3):
        loss = place_loss(course(EPSILON, Neighbors.CHANGE_ONE, seed), table, changed, pushing(seed))
        assert abs(loss) <= EPSILON + SLACK


def test_some_course_comes_close_to_epsilon() -> None:
    table, neighbour = (as_column(data) for data in PAIRS["an outlier"])
    up = (
        place_loss(course(Fraction(20), Neighbors.ADD_REMOVE, seed), neighbour, table, lambda s: round(3 * s))
        for seed in range(4)
    )
    assert 0.4 * 20 < max(up) <= 20 + SLACK


def test_a_missing_row_makes_no_difference() -> None:
    table, neighbour = as_column(np.array(WAVE)), as_column(np.array([*WAVE, math.nan]))
    assert place_loss(course(EPSILON, Neighbors.ADD_REMOVE, 1), table, neighbour, pushing(1)) == 0


# Spending


@pytest.fixture
def paid(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Fraction]]:
    """What each step is given, and on how many rows a step on one side is taken."""
    given: dict[str, list[Fraction]] = {}

    def watch(name: str, spent: Callable[..., Fraction]) -> None:
        real = getattr(winsorized, name)

        def watched(*positional: Any) -> Any:
            given.setdefault(name, []).append(spent(*positional))
            return real(*positional)

        monkeypatch.setattr(winsorized, name, watched)

    watch("noisy_count", lambda raw_count, epsilon, rng: epsilon)
    watch("draw_share", lambda order, part, share, epsilon: epsilon)
    watch("draw_scales", lambda order, place, sides, epsilon: epsilon)
    watch("_draw_beyond", lambda order, middle, scales, trim, epsilon: epsilon)
    watch("release_cells", lambda column, clip, degree, epsilon, rng: epsilon)
    return given


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("rows", [5, 60, 4000])
def test_the_steps_together_pay_exactly_epsilon(paid: dict[str, list[Fraction]], rows: int, neighbors: Neighbors) -> None:
    course(EPSILON, neighbors, 3)(as_column(np.arange(float(rows))))
    assert all(len(paid[once]) == 1 for once in ("draw_share", "draw_scales", "_draw_beyond", "release_cells"))
    halves = 2 if neighbors is Neighbors.CHANGE_ONE else 1
    assert halves * sum(given[0] for given in paid.values()) == EPSILON


def test_a_quantile_is_drawn_at_the_slopes_that_its_epsilon_affords(monkeypatch: pytest.MonkeyPatch) -> None:
    losses: list[tuple[RankLoss, Fraction]] = []
    real = winsorized.draw_outward

    def watched(order: Any, draws: Any) -> Any:
        for part, loss, *_ in draws:
            losses.append((loss, Fraction(loss.target - part.raw_first, part.raw_last - part.raw_first)))
        return real(order, draws)

    monkeypatch.setattr(winsorized, "draw_outward", watched)
    course(Fraction(100), Neighbors.ADD_REMOVE, 1)(as_column(np.random.default_rng(1).normal(0, 1, 5000)))
    assert [share for _, share in losses] == [Fraction(2, 10), Fraction(8, 10)]
    for loss, share in losses:
        assert loss.slope_over == loss.slope_under
        assert 2 * loss.slope_over * max(share, 1 - share) == 100 * QUANTILE.least


def test_sides_that_share_the_rows_of_a_decimal_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the rows that they hold: a row that is on both sides pays twice."""
    held: list[int] = []
    real = winsorized.draw_outward

    def watched(order: Any, draws: Any) -> Any:
        held.extend(draw.part.raw_last - draw.part.raw_first for draw in draws)
        return real(order, draws)

    monkeypatch.setattr(winsorized, "draw_outward", watched)
    for side in (winsorized.side_of, overlapping_side):
        monkeypatch.setattr(winsorized, "side_of", side)
        course(Fraction(20), Neighbors.ADD_REMOVE, 1)(as_column(np.full(50, 5.0)))
    assert sum(held[:2]) == 50
    assert sum(held[2:]) == 100


def test_the_loss_is_the_largest_over_all_shares() -> None:
    def within(share: Share) -> list[Fraction]:
        return [share.least + (share.most - share.least) * Fraction(step, 10) for step in range(11)]

    losses = []
    for middle, scale, quantile in itertools.product(within(MIDDLE), within(SCALE), within(QUANTILE)):
        rest = 1 - ROWS_SHARE - middle - scale - quantile
        assert rest > 0
        losses.append((ROWS_SHARE**2 + rest**2) / 2 + (middle**2 + scale**2 + quantile**2) / 8)
    assert max(losses) == CUT_LOSS
    for name in ("winsorized_mean", "trimmed_mean"):
        assert find_statistic(name).methods["universal"].loss == CUT_LOSS


# What comes out


@pytest.mark.parametrize("trim", [0.05, 0.1, 0.25, 0.4])
@pytest.mark.parametrize("shape", ["normal", "exponential", "whole numbers", "heavy tails"])
def test_at_a_huge_epsilon_the_means_are_scipys(shape: str, trim: float) -> None:
    generator = np.random.default_rng(6)
    data = {
        "normal": generator.normal(50, 15, 2000),
        "exponential": generator.exponential(4, 2000),
        "whole numbers": generator.integers(0, 30, 2000).astype(float),
        "heavy tails": generator.standard_t(2, 2000),
    }[shape]
    tolerance = 0.01 * float(np.std(data))
    cut = float(np.mean(stats.mstats.winsorize(data, limits=(trim, trim))))
    assert dp.winsorized_mean(data, trim, epsilon=1e6, rng=seeded(7)).value == pytest.approx(cut, abs=tolerance)
    trimmed = dp.trimmed_mean(data, trim, epsilon=1e6, rng=seeded(7))
    assert trimmed.value == pytest.approx(stats.trim_mean(data, trim), abs=3 * tolerance)


def test_a_constant_column_has_its_value_as_the_mean() -> None:
    for asked in MEANS.values():
        found = asked(np.full(2000, 12.99), epsilon=1, rng=seeded(1))
        assert (found.value, found.interval.low, found.interval.high) == (12.99, 12.99, 12.99)


@pytest.mark.parametrize("name", [*ugly_columns(), *EXTREME])
@pytest.mark.parametrize("epsilon", [1e-9, 1e9])
def test_every_column_gets_a_finite_value_inside_its_interval(name: str, epsilon: float) -> None:
    for neighbors, asked in zip(Neighbors, MEANS.values(), strict=True):
        found = asked((ugly_columns() | EXTREME)[name], epsilon=epsilon, neighbors=neighbors, rng=seeded(5))
        assert math.isfinite(found.value)
        assert found.interval.low <= found.value <= found.interval.high


@pytest.mark.parametrize("trim", [0, 1e-300, 0.4999999, Fraction(1, 2) - Fraction(1, 10**30)])
def test_any_trim_below_one_half_has_an_answer(trim: Any) -> None:
    data = np.random.default_rng(2).normal(50, 15, 1000)
    for asked in MEANS.values():
        found = asked(data, trim, epsilon=10, rng=seeded(5))
        assert 45 < found.value < 55
        assert found.interval.low <= found.value <= found.interval.high


def test_a_trim_that_would_leave_too_few_rows_beyond_is_widened_and_the_card_says_so() -> None:
    wide, asked_for = (dp.winsorized_mean(np.arange(rows), 0.01, epsilon=1, rng=seeded(1)) for rows in (300.0, 300_000.0))
    assert "less cannot be hidden" in str(wide.card())
    assert "less cannot be hidden" not in str(asked_for.card())


def median_length(asked: Callable[..., Any], data: np.ndarray, **named: Any) -> float:
    """The typical length of an interval."""
    found = [asked(data, rng=seeded(seed), **named).interval for seed in range(5)]
    return float(np.median([interval.high - interval.low for interval in found]))


@pytest.mark.parametrize("name", MEANS)
def test_intervals_are_shorter_for_a_larger_epsilon_and_a_lower_level(name: str) -> None:
    data = np.random.default_rng(9).normal(50, 15, 1000)
    usual, sure, bold = (median_length(MEANS[name], data, epsilon=1, interval=level) for level in (0.95, 0.99, 0.5))
    assert bold < usual < sure
    assert median_length(MEANS[name], data, epsilon=20) < usual


@pytest.mark.parametrize("name", MEANS)
def test_an_interval_comes_only_where_one_is_asked_for_and_the_card_says_what_it_covers(name: str) -> None:
    data = np.arange(100.0)
    assert MEANS[name](data, epsilon=1, interval=None, rng=seeded(1)).interval is None
    assert SAMPLED_ERROR in str(MEANS[name](data, epsilon=1, rng=seeded(1)).card())


@pytest.mark.long
@pytest.mark.parametrize("name", MEANS)
def test_intervals_of_a_thousand_rows_hold_the_populations_mean_often_enough(name: str) -> None:
    generator = np.random.default_rng(10)
    found = [MEANS[name](generator.normal(0, 1, 1000), epsilon=1, rng=seeded(seed)).interval for seed in range(60)]
    assert sum(interval.low <= 0 <= interval.high for interval in found) >= 52


def test_a_heavy_tail_lengthens_the_interval_of_a_winsorized_mean_and_a_light_one_does_not() -> None:
    chance = np.random.default_rng(4)
    times = []
    for data in (chance.lognormal(0, 2, 4000), chance.normal(0, 1, 4000)):
        found = winsorize(as_column(data), ask("winsorized_mean", epsilon=2), seeded(2))
        blind = replace(found, scales=(0.0, 0.0))
        times.append(found.reach(0.95, trimmed=False) / blind.reach(0.95, trimmed=False))
    assert times[0] > 1.2
    assert 1 <= times[1] < 1.1
