"""Quantiles with a test first: who replies when, how near, and what is refused as a question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.registry import ask
from dpstats.statistics.propose_test_release.locations import QuantileStatistic, fitting_bound, needed_steps, printed_width
from dpstats.testing import seeded

METHODS = ["dwork-lei", "ptr", "stable"]
RELATIONS = ["add_remove", "change_one"]
SEEDS = range(8)


def normal(rows: int) -> np.ndarray:
    return np.random.default_rng(22).normal(10, 3, rows)


def answers(data: object, method: str, q: object = 0.5, **options: Any) -> list[Any]:
    """What several runs release; None for a refusal."""
    settings = {"epsilon": 1, "delta": 1e-6, "method": method, **options}
    outcomes = [dp.quantile(data, q, **settings, rng=seeded(seed)) for seed in SEEDS]
    return [outcome.value if isinstance(outcome, dp.Release) else None for outcome in outcomes]


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_ten_thousand_normal_rows_get_a_reply_near_the_median(neighbors: str) -> None:
    data = normal(10_000)
    for value in answers(data, "ptr", neighbors=neighbors):
        assert value == pytest.approx(float(np.median(data)), abs=1.5)


def test_algorithm_m_replies_for_ten_thousand_normal_rows_more_often_than_not_and_within_a_few_ranges() -> None:
    """Its bins follow a released scale, so that one drawn too small makes them too narrow."""
    data = normal(10_000)
    replies = [value for value in answers(data, "dwork-lei", neighbors="change_one") if value is not None]
    assert len(replies) > len(SEEDS) / 2
    assert all(abs(value - float(np.median(data))) < 25 for value in replies)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_algorithm_m_does_not_reply_for_a_thousand_normal_rows(neighbors: str) -> None:
    assert answers(normal(1000), "dwork-lei", neighbors=neighbors) == [None] * len(SEEDS)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_thousand_normal_rows_get_a_reply(neighbors: str) -> None:
    replies = answers(normal(1000), "ptr", neighbors=neighbors)
    assert sum(value is not None for value in replies) >= len(SEEDS) - 2


def test_no_continuous_column_is_stable_and_a_column_of_few_numbers_is() -> None:
    data = normal(10_000)
    assert answers(data, "stable") == [None] * len(SEEDS)
    assert answers(np.round(data), "stable") == [float(np.round(np.median(data)))] * len(SEEDS)


def test_the_outermost_quantiles_are_refused_because_one_row_moves_them_anywhere() -> None:
    for method in METHODS:
        for q in (0, 1):
            assert answers(normal(1000), method, q) == [None] * len(SEEDS)


def test_quantiles_of_a_list_come_back_in_its_order_and_share_the_budget() -> None:
    data = np.round(normal(50_000))
    wanted = [0.9, 0.1, 0.5, 0.9]
    release = dp.quantile(data, wanted, epsilon=4, delta=1e-6, method="stable", rng=seeded(1))
    assert release.value == tuple(float(value) for value in np.quantile(data, wanted, method="inverted_cdf"))
    assert release.cost == dp.PrivacyCost(4, 1e-6)


def test_one_refusal_in_a_list_refuses_all_of_it() -> None:
    data = np.repeat([1.0, 2.0, 3.0], [10_000, 500, 501])  # the quantile at 21/22 lies at an edge
    at_edge, inside = Fraction(10_500, 11_001), Fraction(1, 2)
    assert answers(data, "stable", inside) == [1.0] * len(SEEDS)
    assert answers(data, "stable", [inside, at_edge]) == [None] * len(SEEDS)


def test_the_median_is_the_quantile_at_one_half() -> None:
    data = normal(10_000)
    for method in METHODS:
        options: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "method": method}
        median, half = dp.median(data, **options, rng=seeded(3)), dp.quantile(data, 0.5, **options, rng=seeded(3))
        assert type(median) is type(half)
        assert isinstance(median, dp.NoReply) or median.value == half.value


@pytest.mark.parametrize("q", [1.5, -0.1, "half", None, [], [0.5, 2], [[0.5]], True, float("nan")])
@pytest.mark.parametrize("method", ["auto", "ptr"])
def test_a_quantile_that_is_none_is_an_error_before_any_row_is_read(q: object, method: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"^q must"):
        ask("quantile", q, epsilon=1, delta=0 if method == "auto" else 1e-6, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_a_tested_quantile_needs_delta(method: str) -> None:
    for name, positional in (("median", ()), ("quantile", (0.5,))):
        with pytest.raises(dp.MissingParameterError, match=f"{name} by method '{method}' needs delta"):
            ask(name, *positional, epsilon=1, method=method)


def test_delta_is_allowed_but_not_spent_where_the_choice_is_ours() -> None:
    for release in (
        dp.median(normal(500), epsilon=1, delta=1e-6, rng=seeded(1)),
        dp.quantile(normal(500), 0.9, epsilon=1, delta=1e-6, rng=seeded(1)),
    ):
        assert release.method == "universal"
        assert release.cost.delta == 0
        assert dict(release.notes)["chosen because"]
        assert "chosen because" in str(release.card())


def test_a_pure_method_by_name_refuses_delta() -> None:
    with pytest.raises(dp.InvalidParameterError, match="spends no delta"):
        ask("median", epsilon=1, delta=1e-6, method="universal")


def test_the_printed_width_shrinks_with_the_cube_root_of_the_rows() -> None:
    assert float(printed_width(3.0, 1000)) == pytest.approx(0.3)
    assert printed_width(0.0, 1000) == 0


def test_a_proposed_bound_grows_towards_the_ends_and_shrinks_with_the_rows() -> None:
    needed = needed_steps(Fraction(1, 2), Fraction(1, 10**6), 0)
    assert needed_steps(Fraction(1, 4), Fraction(1, 10**6), 0) > needed > 20
    scale = Fraction(3)
    median, outer = (
        fitting_bound(QuantileStatistic(quantile), scale, needed, 10_000) for quantile in (Fraction(1, 2), Fraction(9, 10))
    )
    assert outer > 2 * median
    assert fitting_bound(QuantileStatistic(Fraction(1, 2)), scale, needed, 100_000) * 10 == median
    assert fitting_bound(QuantileStatistic(Fraction(1, 2)), Fraction(0), needed, 10_000) == 0
