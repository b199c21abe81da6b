"""How rows thin out: laws that noisy numbers of rows tell, and intervals of heavy tails that hold by them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.statistics.clipped.clips import cut_at
from dpstats.statistics.clipped.shells import widen_cut
from dpstats.statistics.clipped.thinning import ENDS, OCTAVES, place_of, thinning_of
from dpstats.statistics.universal.limits import Limits, Side
from dpstats.testing import seeded

Survival = Callable[[float], float]
TAILS: dict[str, Survival] = {
    "the power 1.5": lambda place: 40 * place**-1.5,
    "the power 3": lambda place: 40 * place**-3,
    "exponential": lambda place: 40 * math.exp(-3 * (place - 1)),
    "normal": lambda place: 40 * math.exp(-2 * (place**2 - 1)),
}


def counts(survival: Survival) -> list[float]:
    return [survival(2.0**octave) - survival(2.0 ** (octave + 1)) for octave in OCTAVES]


def lost_at(survival: Survival, end: int, power: int) -> float:
    """What rows lose of a power of their distance, out to where the laws are followed."""
    places = np.geomspace(place_of(end), 64, 20_001)
    beyond = np.array([survival(float(place)) for place in places])
    return float(np.sum((beyond[:-1] + beyond[1:]) / 2 * np.diff(places**power)))


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("name", TAILS)
def test_numbers_with_little_noise_tell_what_is_lost_to_within_a_factor(name: str, power: int) -> None:
    survival = TAILS[name]
    thinning = thinning_of(counts(survival), 0.5)
    for end in (0, 2):
        truth = lost_at(survival, end, power)
        low, high = (thinning.lost(end, power, quantile) for quantile in (0.03, 0.97))
        assert 0.8 * low <= truth <= 1.25 * high
        assert high <= 8 * truth + 2


def test_the_more_noise_the_more_is_allowed_for() -> None:
    allowed = [thinning_of(counts(TAILS["exponential"]), scale).lost(2, 1, 0.95) for scale in (0.5, 5.0, 50.0)]
    assert allowed == sorted(allowed)


def test_a_cut_further_out_loses_less_and_a_larger_part_of_the_laws_more() -> None:
    thinning = thinning_of(counts(TAILS["the power 1.5"]), 5.0)
    by_end = [thinning.lost(end, 1, 0.9) for end in ENDS]
    assert by_end == sorted(by_end, reverse=True)
    by_quantile = [thinning.lost(0, 1, quantile) for quantile in (0.1, 0.5, 0.9)]
    assert by_quantile == sorted(by_quantile)


def test_octaves_without_rows_inside_say_nothing_of_a_column_of_whole_numbers() -> None:
    few = [0.0, 0.0, 1400.0, 260.0, 60.0, 25.0, 10.0]
    filled = [9000.0, 4000.0, *few[2:]]
    assert thinning_of(few, 5.0).lost(2, 1, 0.5) > 20
    assert thinning_of(filled, 5.0).lost(2, 1, 0.5) > 20


@pytest.mark.parametrize("noisy", [[0.0] * 7, [-500.0] * 7, [1e18] * 7, [0.0, 0.0, 0.0, 1e15, 0.0, 0.0, 1e15]])
def test_any_numbers_have_laws(noisy: list[float]) -> None:
    for scale in (1e-6, 1.0, 1e6):
        assert 0 <= thinning_of(noisy, scale).lost(0, 2, 0.97) < math.inf


# Cuts


def heavy_and_light() -> tuple[np.ndarray, np.ndarray]:
    chance = np.random.default_rng(3)
    return chance.pareto(1.5, 20_000), np.minimum(chance.exponential(1, 20_000), 12)


def test_a_cut_moves_outward_for_a_heavy_tail_and_inward_for_a_light_one() -> None:
    side = Side(10_000, Fraction(1), Fraction(8), Fraction(47))
    guess = cut_at(Limits(Fraction(1), Side(0, Fraction(0), Fraction(0), Fraction(0)), side, 20_000, Fraction(0)))
    moved = [widen_cut(as_column(data), guess, Fraction(1, 5), Fraction(5, 9), seeded(1)).cut for data in heavy_and_light()]
    assert moved[1].high < guess.high < moved[0].high
    assert moved[0].lost[1] > moved[1].lost[1]


# Intervals

HEAVY: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], float, float]] = {
    "lognormal": (lambda chance: chance.lognormal(0, 2, 5000), math.exp(2), math.exp(2) * math.sqrt(math.exp(4) - 1)),
    "Pareto": (lambda chance: 1 + chance.pareto(2.2, 5000), 2.2 / 1.2, math.sqrt(2.2 / (1.2**2 * 0.2))),
}


@pytest.mark.parametrize("statistic", [dp.mean, dp.std])
@pytest.mark.parametrize("name", HEAVY)
def test_intervals_of_heavy_tails_hold(name: str, statistic: Callable[..., Any]) -> None:
    draw, mean, deviation = HEAVY[name]
    truth = mean if statistic is dp.mean else deviation
    chance = np.random.default_rng(8)
    held = 0
    for seed in range(20):
        low, high = statistic(draw(chance), epsilon=1, rng=seeded(seed)).interval
        held += low <= truth <= high
    has_fourth_moment = name == "lognormal" or statistic is dp.mean
    assert held >= (17 if has_fourth_moment else 14)  # at 95% the chance of fewer than 17 is 2 in 100; such deviations: 80%


@pytest.mark.parametrize("statistic", [dp.mean, dp.std, dp.sum])
def test_an_interval_has_room_for_a_clump_far_out_that_noise_nearly_hides(statistic: Callable[..., Any]) -> None:
    """Without the second look's verdict on shells that it does not believe, 20 or 21 of 40 hold."""
    held = 0
    for seed in range(40):
        rows = np.random.default_rng(seed).gamma(2, 10, 3000)
        rows[:30] = 400.0
        release = statistic(rows, epsilon=1, rng=dp.testing.seeded(seed))
        exact = {dp.mean: np.mean, dp.std: np.std, dp.sum: np.sum}[statistic](rows)
        held += release.interval.low <= exact <= release.interval.high
    assert held >= 28
