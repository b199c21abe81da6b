"""Quantiles far out in a tail."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.statistics.universal import tails
from dpstats.statistics.universal.decimals import float_of
from dpstats.statistics.universal.order import LINE, Draw, Order, Place
from dpstats.testing import seeded
from tests.statistics.tables import ugly_columns

QUANTILES = [Fraction(0), Fraction(1, 100), Fraction(99, 100), Fraction(1)]


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> list[Fraction]:
    """What each step of a tail draw pays, from the slopes and scales that it really uses."""
    paid: list[Fraction] = []
    count, draw, single = tails.noisy_count, tails.draw_in_parts, tails.draw_with_measure

    def watched_count(raw_count: int, epsilon: Fraction, rng: RandomSource) -> int:
        paid.append(epsilon)
        return count(raw_count, epsilon, rng)

    def watched_draw(order: Order, draws: Sequence[Draw]) -> list[Place]:
        ((_, loss, shells),) = draws
        at_one_half = shells is None  # there the slope is epsilon itself
        paid.append(loss.slope_over if at_one_half else loss.slope_over + loss.slope_under)
        return draw(order, draws)

    def watched_single(column: object, quantile: Fraction, epsilon: Fraction, *others: object) -> object:
        paid.append(epsilon)
        return single(column, quantile, epsilon, *others)  # type: ignore[arg-type]

    monkeypatch.setattr(tails, "noisy_count", watched_count)
    monkeypatch.setattr(tails, "draw_in_parts", watched_draw)
    monkeypatch.setattr(tails, "draw_with_measure", watched_single)
    return paid


@pytest.mark.parametrize("neighbors", Neighbors)
@pytest.mark.parametrize("quantile", QUANTILES)
@pytest.mark.parametrize("rows", [300, 50_000])
def test_the_steps_together_pay_exactly_epsilon(
    spent: list[Fraction], rows: int, quantile: Fraction, neighbors: Neighbors
) -> None:
    data = np.random.default_rng(1).normal(50, 15, rows)
    tails.draw_tail_quantile(as_column(data), quantile, Fraction(1), neighbors, seeded(2))
    assert sum(spent) * (2 if neighbors is Neighbors.CHANGE_ONE else 1) == 1


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("quantile", QUANTILES)
def test_ugly_columns_get_a_finite_answer(name: str, quantile: Fraction) -> None:
    ordinal = tails.draw_tail_quantile(as_column(ugly_columns()[name]), quantile, Fraction(1, 2), Neighbors.ADD_REMOVE, seeded(3))
    assert np.isfinite(float_of(ordinal))


def drawn_value(data: np.ndarray, quantile: Fraction, seed: int) -> float:
    """A tail quantile at epsilon 1."""
    return float_of(tails.draw_tail_quantile(as_column(data), quantile, Fraction(1), Neighbors.ADD_REMOVE, seeded(seed)))


def test_a_thousand_rows_give_a_sensible_99th_percentile() -> None:
    generator = np.random.default_rng(4)
    errors = []
    for seed in range(40):
        data = generator.normal(50, 15, 1000)
        errors.append(abs(drawn_value(data, Fraction(99, 100), seed) - np.quantile(data, 0.99)))
    assert np.median(errors) < 3
    assert max(errors) < 30


def test_upper_and_lower_tails_mirror_each_other() -> None:
    generator = np.random.default_rng(5)
    high, low = [], []
    for seed in range(40):
        data = generator.lognormal(3, 1, 800)
        high.append(drawn_value(data, Fraction(19, 20), seed))
        low.append(-drawn_value(-data, Fraction(1, 20), seed))
    assert np.median(high) == pytest.approx(np.median(low), rel=0.1)


def test_ties_in_the_tail_are_found_exactly() -> None:
    assert drawn_value(np.repeat([0.0, 7.0], [1000, 400]), Fraction(99, 100), 6) == 7.0


@pytest.mark.parametrize("upward", [True, False])
def test_the_target_of_the_tail_draw_moves_by_at_most_one_rank_per_row(monkeypatch: pytest.MonkeyPatch, upward: bool) -> None:
    targets: list[Fraction] = []

    def record(order: object, draws: Sequence[Draw]) -> list[Place]:
        targets.extend(draw.loss.target - draw.part.raw_first for draw in draws)
        return [Place(0, 0, 0)]

    monkeypatch.setattr(tails, "draw_in_parts", record)
    quantile = Fraction(97, 100) if upward else Fraction(3, 100)
    for rows in range(200):
        order = Order(as_column(np.zeros(rows)), seeded(1))
        raw_below = 0 if upward else rows
        middle = Place(5 if upward else LINE, 0, raw_below)
        tails._draw_beyond(order, middle, Fraction(1), quantile, upward, Fraction(1, 4))
    moves = np.diff([float(target) for target in targets])
    assert moves.min() >= 0
    assert moves.max() <= 1
