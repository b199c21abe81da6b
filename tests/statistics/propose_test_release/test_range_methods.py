"""Interquantile ranges with a test first: who replies when, how near, and what is refused as a question."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask
from dpstats.statistics.propose_test_release.range_methods import BASE_TWO
from dpstats.statistics.propose_test_release.scales import (
    RangeStatistic,
    fitting_grid,
    printed_grid,
    printed_threshold,
    scale_cascade,
)
from dpstats.statistics.propose_test_release.setting import Setting, take_setting
from dpstats.testing import seeded

METHODS = ["dwork-lei", "dwork-roth", "ptr", "quartiles"]
RELATIONS = ["add_remove", "change_one"]
SEEDS = range(8)
FACTOR = {"dwork-lei": 4, "dwork-roth": 1e5, "ptr": 1.5, "quartiles": 2}
"""By what factor a range of 10,000 normal rows may be wrong at epsilon 1."""


def normal(rows: int) -> np.ndarray:
    return np.random.default_rng(21).normal(10, 3, rows)


def ranges(data: object, method: str, **options: Any) -> list[float | None]:
    """What several runs release; None for a refusal."""
    settings = {"epsilon": 1, "delta": 1e-6, "method": method, **options}
    outcomes = [dp.iqr(data, **settings, rng=seeded(seed)) for seed in SEEDS]
    return [outcome.value if isinstance(outcome, dp.Release) else None for outcome in outcomes]


def test_algorithm_s_costs_three_by_the_printed_theorem_and_two_by_the_sharper_rule() -> None:
    prices = scale_cascade(RangeStatistic(Fraction(1, 4), Fraction(3, 4)), BASE_TWO).prices(Fraction(1), Fraction(1, 10))
    assert (prices.printed.epsilon, prices.printed.delta) == (Fraction(3), Fraction(1, 5))
    assert (prices.sharp.epsilon, prices.sharp.delta) == (Fraction(2), 1 - Fraction(9, 10) ** 2)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_ten_thousand_normal_rows_get_a_reply_of_the_right_size(method: str, neighbors: str) -> None:
    data = normal(10_000)
    truth = float(np.subtract(*np.quantile(data, [0.75, 0.25])))
    for value in ranges(data, method, neighbors=neighbors):
        assert value is not None
        assert truth / FACTOR[method] < value < truth * FACTOR[method]


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("method", ["dwork-roth", "ptr"])
def test_a_thousand_normal_rows_get_a_reply(method: str, neighbors: str) -> None:
    replies = ranges(normal(1000), method, neighbors=neighbors)
    assert sum(value is not None for value in replies) >= len(SEEDS) - 1


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_algorithm_s_does_not_reply_for_a_thousand_normal_rows(neighbors: str) -> None:
    assert ranges(normal(1000), "dwork-lei", neighbors=neighbors) == [None] * len(SEEDS)


def test_the_bins_of_algorithm_s_are_the_printed_ones() -> None:
    assert float(printed_grid(1000).base) == pytest.approx(1 + 1 / np.log(1000), abs=1e-6)
    assert printed_threshold(1000) == 49  # above (ln 1000)**2 + 1 = 48.7
    assert printed_threshold(3) == 3  # above 2.2
    assert BASE_TWO.base == 2


def setting_of(rows: int, epsilon: Fraction) -> Setting:
    return Setting(as_column([1.0]), rows, epsilon, Fraction(1, 10**6), Neighbors.CHANGE_ONE, seeded(1))


def test_bins_are_finer_with_more_rows_and_never_wider_than_a_factor_of_2() -> None:
    bases = [fitting_grid(setting_of(rows, Fraction(1))).base for rows in (3, 300, 3000, 30_000, 10**8)]
    assert bases == sorted(bases, reverse=True)
    assert bases[0] == 2
    assert 1 < bases[-1] < 1 + Fraction(1, 1024)


@pytest.mark.parametrize("method", METHODS)
def test_a_range_moves_with_the_scale_of_the_rows_and_not_with_their_place(method: str) -> None:
    data = np.round(normal(10_000), 3)
    here, moved, stretched = (ranges(rows, method) for rows in (data, data + 1000, data * 8))
    if method == "quartiles":  # a difference of two floats
        assert here == pytest.approx(moved, rel=1e-6)
    else:
        assert here == moved
    if method in ("dwork-roth", "quartiles"):  # bins of base 2 move onto each other
        assert [8 * value for value in here if value] == pytest.approx([value for value in stretched if value], rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_iqr_is_the_interquantile_range_of_the_quartiles(method: str) -> None:
    data = normal(10_000)
    options: dict[str, Any] = {"epsilon": 1, "delta": 1e-6, "method": method}
    for asked in ((), ([0.25, 0.75],), ((Fraction(1, 4), "3/4"),)):
        other = dp.interquantile_range(data, *asked, **options, rng=seeded(4))
        assert other.value == dp.iqr(data, **options, rng=seeded(4)).value


@pytest.mark.parametrize(
    "pair", [0.5, [0.5], [0.75, 0.25], [0.5, 0.5], [0, 0.5], [0.5, 1], [0.1, 0.5, 0.9], [-0.1, 0.5], [], "x"]
)
@pytest.mark.parametrize("method", ["auto", "ptr"])
def test_a_pair_that_is_none_is_an_error_before_any_row_is_read(pair: object, method: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=r"^q must"):
        ask("interquantile_range", pair, epsilon=1, delta=1e-6 if method == "ptr" else 0, method=method)


@pytest.mark.parametrize("method", METHODS)
def test_a_tested_range_needs_delta(method: str) -> None:
    with pytest.raises(dp.MissingParameterError, match=f"iqr by method '{method}' needs delta"):
        ask("iqr", epsilon=1, method=method)


def test_delta_is_allowed_but_not_spent_where_the_choice_is_ours() -> None:
    release = dp.iqr(normal(1000), epsilon=1, delta=1e-6, rng=seeded(1))
    assert release.method == "universal"
    assert release.cost.delta == 0
    assert "needs no delta" in dict(release.notes)["chosen because"]
    assert "chosen because" not in dict(dp.iqr(normal(1000), epsilon=1, method="universal", rng=seeded(1)).notes)


def test_a_pure_method_by_name_refuses_delta() -> None:
    with pytest.raises(dp.InvalidParameterError, match="spends no delta"):
        ask("iqr", epsilon=1, delta=1e-6, method="universal")


def test_the_card_says_what_was_proposed_and_what_is_public() -> None:
    data = normal(10_000)
    released = {method: dp.iqr(data, epsilon=1, delta=1e-6, method=method, rng=seeded(1)) for method in METHODS}
    notes = {method: dict(release.notes) for method, release in released.items()}
    assert notes["dwork-roth"]["bins"] == "a factor of 2 wide on the logarithmic scale"
    assert "proposed factor" in notes["ptr"]
    assert all(note["no reply"] == "would have cost the same" for note in notes.values())
    assert "rows" not in notes["dwork-roth"]
    assert notes["ptr"]["rows"].startswith("about ")
    public = dp.iqr(data, epsilon=1, delta=1e-6, method="ptr", neighbors="change_one", rng=seeded(1))
    assert dict(public.notes)["rows"].startswith("10,000,")


def test_the_noisy_count_is_paid_for_and_the_public_one_is_free() -> None:
    column = as_column(normal(500))
    costs = {}
    for neighbors in RELATIONS:
        question = ask("iqr", epsilon=1, delta=1e-6, method="ptr", neighbors=neighbors)
        costs[neighbors] = take_setting(column, question, seeded(1), counted=True).epsilon
    assert costs == {"add_remove": Fraction(19, 20), "change_one": 1}


def test_rows_that_are_missing_count_as_public_rows_but_not_as_values() -> None:
    data = normal(10_000)
    holes = np.concatenate([data, np.full(2000, np.nan)])
    release = dp.iqr(holes, epsilon=1, delta=1e-6, method="ptr", neighbors="change_one", rng=seeded(1))
    assert dict(release.notes)["rows"].startswith("12,000,")
    assert release.value == pytest.approx(float(np.subtract(*np.quantile(data, [0.75, 0.25]))), rel=0.2)
