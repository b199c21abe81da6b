"""Quantiles, the interquartile range, the distribution function and the count as a user meets them."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpstats as dp
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.distribution import Distribution
from dpstats.statistics.quantiles import quantile_floor
from dpstats.testing import seeded
from tests.statistics.tables import ugly_columns

ASKED: dict[str, Any] = {
    "median": lambda data, **options: dp.median(data, **options),
    "quantile": lambda data, **options: dp.quantile(data, 0.9, **options),
    "quantiles": lambda data, **options: dp.quantile(data, [0.1, 0.5, 0.9], **options),
    "iqr": lambda data, **options: dp.iqr(data, **options),
    "cdf": lambda data, **options: dp.cdf(data, points=7, **options),
    "count": lambda data, **options: dp.count(data, **options),
}


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("statistic", ASKED)
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_every_column_gets_an_answer_at_the_stated_cost(statistic: str, name: str, neighbors: str) -> None:
    release = ASKED[statistic](ugly_columns()[name], epsilon=0.5, neighbors=neighbors, rng=seeded(1))
    assert isinstance(release, dp.Release)
    assert release.cost == dp.PrivacyCost("0.5", 0, neighbors)
    json.loads(release.to_json())


@pytest.mark.parametrize("statistic", ASKED)
def test_the_same_seed_gives_the_same_answer_and_says_that_it_is_not_private(statistic: str) -> None:
    data = np.random.default_rng(2).normal(50, 15, 400)
    first, second = (ASKED[statistic](data, epsilon=1, rng=seeded(9)) for _ in range(2))
    assert first == second
    assert "NOT PRIVATE" in str(first.card())
    assert "NOT PRIVATE" not in str(ASKED[statistic](data, epsilon=1).card())


@pytest.mark.parametrize("statistic", ASKED)
def test_an_empty_column_answers_like_any_other_and_at_the_same_cost(statistic: str) -> None:
    for data in ([], [None, None], np.array([np.nan, np.nan])):
        release = ASKED[statistic](data, epsilon=1)
        assert isinstance(release, dp.Release)
        assert release.cost.epsilon == 1


def test_whole_number_medians_are_exact() -> None:
    generator = np.random.default_rng(3)
    exact = 0
    for seed in range(50):
        data = np.round(generator.standard_t(3, 2001) * 20 - 5)
        exact += dp.median(data, epsilon=1, rng=seeded(seed)).value == np.median(data)
    assert exact >= 42


@pytest.mark.parametrize("constant", [12.99, 0.0, -7.0, 1_000_000.0, 0.001])
def test_a_constant_column_is_returned_exactly(constant: float) -> None:
    data = np.full(150, constant)
    answers = {dp.median(data, epsilon=1, rng=seeded(seed)).value for seed in range(60)}
    assert answers == {constant}


def test_many_quantiles_beat_splitting_the_budget() -> None:
    generator = np.random.default_rng(4)
    wanted = [index / 20 for index in range(1, 20)]
    together, apart = [], []
    for seed in range(3):
        data = np.sort(generator.normal(50, 15, 3000))
        for index, value in enumerate(dp.quantile(data, wanted, epsilon=1, rng=seeded(seed)).value):
            together.append(abs(np.searchsorted(data, value) - wanted[index] * 3000))
        for q in wanted[::3]:
            value = dp.quantile(data, q, epsilon=Fraction(1, 19), rng=seeded(100 + seed)).value
            apart.append(abs(np.searchsorted(data, value) - q * 3000))
    assert np.mean(together) < 0.5 * np.mean(apart)


def test_quantiles_come_back_in_the_order_asked_with_repeats() -> None:
    data = np.random.default_rng(5).normal(0, 1, 2000)
    value = dp.quantile(data, [0.9, 0.1, 0.9, 0.5], epsilon=5, rng=seeded(1)).value
    assert value[0] == value[2] > value[3] > value[1]


def test_the_iqr_is_the_difference_of_the_quartiles_on_its_card() -> None:
    data = np.random.default_rng(6).normal(50, 15, 5000)
    release = dp.iqr(data, epsilon=1, rng=seeded(2))
    low, high = (float(text) for text in dict(release.notes)["between"].split(" and "))
    assert release.value == pytest.approx(high - low)
    assert release.value == pytest.approx(np.subtract(*np.quantile(data, [0.75, 0.25])), abs=1.0)


def test_the_distribution_function_is_monotone_and_near_the_truth() -> None:
    data = np.random.default_rng(7).normal(50, 15, 5000)
    cdf = dp.cdf(data, epsilon=1, rng=seeded(3)).value
    grid = np.linspace(0, 100, 101)
    released = np.array([cdf(value) for value in grid])
    truth = np.searchsorted(np.sort(data), grid, side="right") / len(data)
    assert np.all(np.diff(released) >= 0)
    assert np.abs(released - truth).max() < 0.05
    assert cdf.quantile(0.5) == pytest.approx(50, abs=2)


def test_the_distribution_function_jumps_where_values_tie() -> None:
    cdf = Distribution((0.25, 0.5, 0.75), (1.0, 1.0, 3.0))
    assert [cdf(0.9), cdf(1.0), cdf(2.0), cdf(3.0), cdf(3.1)] == [0.0, 0.5, 0.625, 0.75, 1.0]
    assert [cdf.quantile(0), cdf.quantile(0.6), cdf.quantile(1)] == [1.0, pytest.approx(1.8), 3.0]


def test_counts_cover_the_truth_as_often_as_they_say() -> None:
    covered = 0
    for seed in range(400):
        release = dp.count(range(1000), epsilon="0.3", rng=seeded(seed))
        covered += release.interval.low <= 1000 <= release.interval.high
    assert covered >= 0.93 * 400
    assert isinstance(release.value, int)


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0, 40.0])
def test_the_reach_of_the_count_is_the_smallest_that_covers(epsilon: float) -> None:
    def outside(reach: int) -> float:
        return 2 * np.exp(-epsilon * (reach + 1)) / (1 + np.exp(-epsilon))

    reach = noise_reach(epsilon, 0.95)
    assert outside(reach) <= 0.05 + 1e-12
    assert reach == 0 or outside(reach - 1) > 0.05


def test_text_can_be_counted() -> None:
    assert dp.count(["a", None, "b"] * 50, epsilon=10).value == pytest.approx(100, abs=10)


def test_every_container_gives_the_same_seeded_answer() -> None:
    values = [12.5, 3.25, 8.0, 99.75, 41.0] * 60
    containers = [values, tuple(values), np.array(values), pd.Series(values), pl.Series(values), pa.array(values)]
    containers += [[Decimal(str(value)) for value in values], pl.Series(values).cast(pl.Decimal(10, 2))]
    containers += [pa.chunked_array([values[:70], values[70:]])]
    assert len({dp.median(data, epsilon=1, rng=seeded(4)).value for data in containers}) == 1


def test_missing_rows_do_not_move_the_answer() -> None:
    data = np.random.default_rng(8).normal(50, 15, 500)
    holes = np.insert(data, [0, 10, 500], np.nan)
    assert dp.median(holes, epsilon=1, rng=seeded(5)).value == dp.median(data, epsilon=1, rng=seeded(5)).value


@pytest.mark.parametrize("q", [-0.1, 1.1, float("nan"), "half", None, [], [0.5, 2], [[0.5]]])
def test_a_q_outside_0_to_1_is_refused(q: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="q must"):
        dp.quantile([1.0, 2.0], q, epsilon=1)


@pytest.mark.parametrize("points", [0, -1, 2.5, True, "7", 10**6])
def test_a_wrong_number_of_points_is_refused(points: object) -> None:
    with pytest.raises(dp.InvalidParameterError, match="points must"):
        dp.cdf([1.0, 2.0], points=points, epsilon=1)


def test_the_card_says_how_many_rows_to_bring() -> None:
    assert quantile_floor([Fraction(1, 2)]).nats == 140
    assert quantile_floor([Fraction(9, 10)]).nats == 990
    assert quantile_floor([Fraction(99, 100)]).nats == quantile_floor([Fraction(95, 100)]).nats == 2090
    assert quantile_floor([Fraction(1, 4), Fraction(3, 4)]).nats == 180
    assert quantile_floor([Fraction(index, 32) for index in range(1, 32)]).nats == 1500
    assert "about 11 rows from the end" in dict(dp.quantile([1.0], 1, epsilon=1).notes)["aims"]
    assert "reliable from" in dict(dp.median([1.0], epsilon=1).notes)
