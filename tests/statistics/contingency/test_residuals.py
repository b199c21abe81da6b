"""Tables made of residuals: right without noise, in agreement with each other, and with noise as far off as they say."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.coded.budget import (
    ConcentratedTableBudget,
    GaussianLaw,
    LaplaceLaw,
    NoisyTable,
    PureTableBudget,
)
from dpstats.statistics.contingency.reaches import reach_of, variance_of
from dpstats.statistics.contingency.residuals import Columns, TableResiduals
from dpstats.testing import seeded
from tests.twins.tables import residual_price

SIZES = [(2, 2, 2), (2, 3, 4), (5, 3, 2, 1), (1,), (7,)]


def raw_table(codes: np.ndarray, sizes: tuple[int, ...], columns: Columns) -> np.ndarray:
    """Rows by the codes of some columns, one row at a time."""
    table = np.zeros([sizes[column] for column in columns], dtype=np.int64)
    for row in codes:
        table[tuple(row[column] for column in columns)] += 1
    return table


def all_sets(columns: int, ways: int) -> tuple[Columns, ...]:
    return tuple(each for size in range(ways + 1) for each in combinations(range(columns), min(size, columns)))


def some_rows(sizes: tuple[int, ...], rows: int = 60) -> np.ndarray:
    generator = np.random.default_rng(3)
    return np.stack([generator.integers(0, size, rows) for size in sizes], axis=1)


@pytest.mark.parametrize("sizes", SIZES)
def test_without_noise_the_tables_are_those_of_the_rows(sizes: tuple[int, ...]) -> None:
    codes, residuals = some_rows(sizes), TableResiduals(sizes, all_sets(len(sizes), 3))
    measured = {
        part: NoisyTable(residuals.measured(part, raw_table(codes, sizes, part)), LaplaceLaw(1)) for part in residuals.parts
    }
    for columns in residuals.wanted:
        assert residuals.table(columns, measured) == pytest.approx(raw_table(codes, sizes, columns))


@pytest.mark.parametrize("sizes", SIZES)
def test_tables_agree_on_what_they_share_whatever_was_measured(sizes: tuple[int, ...]) -> None:
    residuals, generator = TableResiduals(sizes, all_sets(len(sizes), 2)), np.random.default_rng(1)
    anything = {
        part: NoisyTable(
            generator.integers(-99, 99, residuals.measured(part, raw_table(some_rows(sizes), sizes, part)).shape), LaplaceLaw(1)
        )
        for part in residuals.parts
    }
    for columns in residuals.wanted:
        for axis, column in enumerate(columns):
            smaller = residuals.table(tuple(each for each in columns if each != column), anything)
            assert residuals.table(columns, anything).sum(axis=axis) == pytest.approx(smaller, abs=1e-9)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_a_row_moves_one_cell_of_each_measured_table_by_one(sizes: list[int], data: st.DataObject) -> None:
    row = np.array([[data.draw(st.integers(0, size - 1)) for size in sizes]])
    residuals = TableResiduals(tuple(sizes), all_sets(len(sizes), 2))
    for part in residuals.parts:
        moved = residuals.measured(part, raw_table(row, tuple(sizes), part))
        assert sorted(np.abs(moved).ravel().tolist()) == [0] * (moved.size - 1) + [1]


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (3, 4)])
def test_cells_are_as_far_off_as_they_say(sizes: tuple[int, ...]) -> None:
    residuals = TableResiduals(sizes, all_sets(2, 2))
    zero = {part: residuals.measured(part, raw_table(some_rows(sizes, 0), sizes, part)) for part in residuals.parts}
    shares = PureTableBudget(Fraction(1), seeded(0)).shares_for(residuals.weights)
    errors = []
    for seed in range(300):
        budget = PureTableBudget(Fraction(1), seeded(seed))
        noisy = {part: budget.noisy(zero[part], share) for part, share in zip(residuals.parts, shares, strict=True)}
        errors.append(residuals.table((0, 1), noisy))
    noise = residuals.cell_noise((0, 1), {part: noisy[part].law for part in noisy})
    assert np.var(errors) == pytest.approx(variance_of(noise), rel=0.15)
    assert np.mean(np.abs(errors) <= reach_of(noise, 0.9)) == pytest.approx(0.9, abs=0.03)


def test_the_weights_are_what_the_noise_of_each_part_adds_to_all_cells() -> None:
    residuals = TableResiduals((2, 3, 4), all_sets(3, 2))
    laws = {part: GaussianLaw(1.0 + place) for place, part in enumerate(residuals.parts)}
    cells = [math.prod(residuals.sizes[column] for column in columns) for columns in residuals.wanted]
    total = sum(
        size * variance_of(residuals.cell_noise(columns, laws)) for size, columns in zip(cells, residuals.wanted, strict=True)
    )
    assert total == pytest.approx(sum(w * law.variance for w, law in zip(residuals.weights, laws.values(), strict=True)))


@pytest.mark.parametrize("budget", [PureTableBudget, ConcentratedTableBudget])
def test_shares_make_the_variance_least(budget: type) -> None:
    weights = np.array([5.0, 1.0, 0.1, 0.01])
    purse = budget(Fraction(1, 3), seeded(0))
    shares = purse.shares_for(weights)
    assert sum(shares) <= 1

    def variance(parts: list[Fraction]) -> float:
        return sum(weight * purse.law(part).variance for weight, part in zip(weights.tolist(), parts, strict=True))

    for place in range(4):
        moved = [share * (Fraction(9, 10) if each == place else 1) for each, share in enumerate(shares)]
        assert variance(shares) < variance([part / sum(moved) for part in moved])


@pytest.mark.parametrize(("scale", "level", "reach"), [(1.0, 0.95, 3), (5.0, 0.95, 15), (100.0, 0.5, 69), (0.05, 0.999, 0)])
def test_the_reach_of_one_draw_is_that_of_its_law(scale: float, level: float, reach: int) -> None:
    found = reach_of(((1.0, 1, LaplaceLaw(scale)),), level)
    ratio = math.exp(-1 / scale)
    within = 1 - 2 * ratio ** (reach + 1) / (1 + ratio)
    assert within >= level > (1 - 2 * ratio**reach / (1 + ratio) if reach else 0)
    assert reach <= found <= reach + 2.1


def test_the_price_of_the_residual_alone_is_too_low_for_discrete_laplace_noise() -> None:
    """What a row costs by the law of a difference of two noisy counts, against the price that continuous Gaussians would have."""
    epsilon = 1.0
    far = np.arange(-60, 61)
    single = np.exp(-epsilon * np.abs(far))
    difference = np.convolve(single, single)
    loss = np.abs(np.log(difference[61:180] / difference[60:179])).max()
    assert residual_price(epsilon, levels=2) < loss <= epsilon
