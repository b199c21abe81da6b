"""Columns of zeros and ones, sides of few rows, and rows far out: counted rather than drawn, and looked at twice."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.summaries import Column
from dpstats.statistics.clipped import zeros_and_ones
from dpstats.statistics.clipped.zeros_and_ones import ZERO, look_for_zeros_and_ones
from dpstats.statistics.means import clipped_for
from dpstats.statistics.universal import limits
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, ordinal_of
from dpstats.statistics.universal.octaves import octave_ends, raw_counts_in_octaves, seen_in
from dpstats.testing import seeded
from tests.replays.limits import privacy_loss
from tests.statistics.tables import ugly_columns

SLACK = 1e-9
EPSILON = Fraction(2)


def clipped(seed: int) -> Callable[[Column], Any]:
    return lambda column: clipped_for(column, EPSILON, seeded(seed), 2, 0.0)


def pushing(seed: int, largest: float) -> Callable[[Fraction], int]:
    chooser = random.Random(seed)
    return lambda scale: round(chooser.uniform(-largest, largest) * scale)


def shares(part: float, size: int, seeds: range) -> list[np.ndarray]:
    return [(np.random.default_rng(seed).random(size) < part).astype(float) for seed in seeds]


# Privacy


@pytest.mark.parametrize("added", [0.0, 1.0, 2.0, 0.5, -1e300])
def test_no_course_of_zeros_and_ones_tells_a_row_by_more_than_epsilon(added: float) -> None:
    zeros_ones = np.array([0.0] * 60 + [1.0] * 20)
    table, neighbour = as_column(zeros_ones), as_column(np.array([*zeros_ones, added]))
    seen = []
    for seed in range(6):
        for pair in ((table, neighbour), (neighbour, table)):
            assert abs(privacy_loss(clipped(seed), *pair, pushing(seed, 1.5))) <= EPSILON + SLACK
        seen.append(clipped(seed)(table).counted is not None)
    assert any(seen)


def test_looks_in_which_a_row_counts_more_than_once_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    real = zeros_and_ones.raw_counts_between
    monkeypatch.setattr(zeros_and_ones, "raw_counts_between", lambda *asked: [2 * raw_count for raw_count in real(*asked)])
    table, neighbour = as_column(np.zeros(80)), as_column(np.zeros(81))
    losses = [privacy_loss(clipped(seed), neighbour, table, pushing(seed, 1.5)) for seed in range(6)]
    assert max(map(abs, losses)) > EPSILON + SLACK


def test_octaves_that_overlap_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    table, neighbour = (as_column(np.array([3.0] * 80 + [10.0] * more)) for more in (30, 31))

    def largest_loss() -> float:
        return max(abs(privacy_loss(clipped(seed), neighbour, table, pushing(seed, 1.0))) for seed in range(6))

    assert largest_loss() <= EPSILON + SLACK
    real = limits.raw_counts_in_octaves
    monkeypatch.setattr(limits, "raw_counts_in_octaves", lambda *asked: np.cumsum(real(*asked)).tolist())
    assert largest_loss() > EPSILON + SLACK


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("upward", [False, True])
def test_every_row_of_a_side_is_in_the_octave_of_its_distance(name: str, upward: bool) -> None:
    data = ugly_columns()[name]
    ordinals = sorted(ordinal_of(value) for value in data if value == value)
    middle = ordinals[len(ordinals) // 3] if ordinals else 0
    raw_below, raw_up_to = (sum(each < bound for each in ordinals) for bound in (middle, middle + 1))
    bounds, raw_ranks = ((-HIGHEST_ORDINAL, middle - 1), (0, raw_below))
    if upward:
        bounds, raw_ranks = (middle + 1, HIGHEST_ORDINAL), (raw_up_to, len(ordinals))
    if bounds[0] > bounds[1]:
        return
    ends = octave_ends(middle, upward, Fraction(0), bounds)
    outward = [end if upward else -end for end in ends]
    assert outward == sorted(outward)
    own = [each if upward else -each for each in ordinals if (each > middle if upward else each < middle)]
    expected = [sum(low < each <= high for each in own) for low, high in zip([-(10**19), *outward], outward, strict=False)]
    assert raw_counts_in_octaves(as_column(data), ends, upward, raw_ranks) == expected


# Behaviour


def test_other_columns_are_not_looked_at_for_zeros_and_ones() -> None:
    column = as_column(np.random.default_rng(1).normal(size=3000))
    assert look_for_zeros_and_ones(column, ordinal_of(0.7), Fraction(1), seeded(1)) == (False, Fraction(0))
    is_counted, spent = look_for_zeros_and_ones(column, ZERO, Fraction(1), seeded(1))
    assert not is_counted
    assert spent <= Fraction(2, 100)


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("part", [0.0, 0.015, 0.5, 0.985])
def test_the_mean_of_undeclared_zeros_and_ones_is_a_share(part: float, neighbors: str) -> None:
    held = 0
    for seed, rows in enumerate(shares(part, 3000, range(1, 31))):
        mean = dp.mean(rows, epsilon=2, neighbors=neighbors, rng=seeded(seed))
        assert abs(mean.value - part) < 0.06
        assert -0.01 <= mean.interval.low <= mean.value <= mean.interval.high <= 1.05
        held += mean.interval.low <= part <= mean.interval.high
    assert held >= 25  # at 95% the chance of fewer is below 1 in 1,000


def test_sum_and_deviation_of_zeros_and_ones_are_told_by_their_numbers() -> None:
    for seed, rows in enumerate(shares(0.02, 5000, range(1, 21))):
        total, deviation = (ask(rows, epsilon=1, rng=seeded(seed)) for ask in (dp.sum, dp.std))
        assert abs(total.value - rows.sum()) < 25
        assert abs(deviation.value - rows.std()) < 0.03


def test_a_few_twos_among_zeros_and_ones_are_in_the_interval() -> None:
    held = 0
    for seed in range(30):
        rows = np.random.default_rng(seed).poisson(0.1, 3000)
        interval = dp.mean(rows, epsilon=1, rng=seeded(seed)).interval
        held += interval.low <= 0.1 <= interval.high
    assert held >= 25


def test_rare_amounts_are_found_whatever_their_unit() -> None:
    for unit in (1e-6, 7.4, 1e9):
        for seed, ones in enumerate(shares(0.03, 3000, range(1, 13))):
            mean = dp.mean(ones * unit, epsilon=1, rng=seeded(seed))
            assert abs(mean.value) < unit


def test_deviations_of_light_tails_are_not_carried_away_by_noise_far_out() -> None:
    for seed in range(1001, 1041):
        scores = np.clip(np.random.default_rng(seed).normal(500, 100, 3000).round(), 200, 800)
        assert abs(dp.std(scores, epsilon=1, rng=seeded(seed)).value / 100 - 1) < 0.2


def test_columns_of_small_whole_numbers_are_not_refused() -> None:
    for seed in range(1001, 1041):
        assert isinstance(dp.mean(np.random.default_rng(seed).poisson(3, 3000), epsilon=1, rng=seeded(seed)), dp.Release)


def test_a_heap_beyond_the_cut_is_not_left_out() -> None:
    for seed in range(1011, 1041):
        rows = np.random.default_rng(seed).choice([5.0, 10, 20, 50, 100, 500], 3000, p=[0.3, 0.3, 0.2, 0.1, 0.07, 0.03])
        assert abs(dp.mean(rows, epsilon=1, rng=seeded(seed)).value / 35.5 - 1) < 0.2


def test_rows_that_lie_together_stand_out_of_the_noise_of_octaves() -> None:
    noise = [((-1) ** place) * (place % 4) for place in range(120)]
    assert seen_in(noise, 1.0) is None
    noise[50:53] = [9, 30, 5]
    assert seen_in(noise, 1.0) == (51, 52)
    noise[90] = 40
    seen = seen_in(noise, 1.0)
    assert seen is not None
    assert seen.last == 90


@pytest.mark.parametrize("neighbors", list(Neighbors))
@pytest.mark.parametrize("zeros", [0, 1])
def test_means_of_zeros_or_of_ones_lie_within_0_and_1(zeros: int, neighbors: Neighbors) -> None:
    """A noisy number of zeros below 0 made the mean of ones 1.013, and its interval began at 1.008."""
    rows, hits = np.array([1.0] * (1_500 - zeros) + [0.0] * zeros), 0
    for seed in range(60):
        for column in (rows, 1 - rows):
            answer = dp.mean(column, epsilon=1, neighbors=neighbors, rng=dp.testing.seeded(seed))
            assert 0 <= answer.value <= 1
            assert answer.interval.low <= 1
            assert answer.interval.high >= 0
            hits += answer.interval.low <= column.mean() <= answer.interval.high
    assert hits >= 104  # 88% held before; if 95 in 100 do, fewer of 120 have a chance of 1 in 2,000


@pytest.mark.floors
@pytest.mark.parametrize("statistic", [dp.mean, dp.sum, dp.std])
def test_a_column_of_zeros_and_rare_amounts_that_noise_hides_is_refused(statistic: Callable[..., Any]) -> None:
    """The mean was 0 with an interval that ended at .01 in half of the samples, and is 1.5."""
    refused = 0
    for seed in range(20):
        amounts = np.where(np.random.default_rng(seed).random(3_000) < 0.0154, 100.0, 0.0)
        answer = statistic(amounts, epsilon=0.3, rng=dp.testing.seeded(seed))
        refused += isinstance(answer, dp.NoReply)
    assert refused >= 17
    answer = statistic(np.zeros(3_000), epsilon=0.3, rng=dp.testing.seeded(1))
    assert "Nearly all rows seem to be 0" in answer.reason
    assert "proportion('x != 0')" in answer.advice


@pytest.mark.floors
def test_a_side_of_few_rows_is_not_cut_where_none_can_be() -> None:
    """Its scale had been drawn astray, and nothing looked back: 0, with an interval from -1e10 to 8e10."""
    answer = dp.mean([100] * 46 + [0] * 2_954, epsilon=1, rng=dp.testing.seeded(612))
    assert isinstance(answer, dp.NoReply)
