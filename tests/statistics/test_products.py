"""Product cells: a row weighs exactly one row in them, they hold the mixed moments, and noise hides a row."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpstats.engines.tables.given import as_table
from dpstats.foundations.summaries import Clip, Table
from dpstats.statistics.paired.products import ProductCells, centred_weights, release_products
from dpstats.testing import seeded
from tests.laws.pairs import Rows, cells_at, cells_law, raw_cells_by_hand
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.pairs import unclipped_cells

CLIPS = Clip(-3, 8, Fraction(1, 2)), Clip(10, 5, Fraction(2))
DEGREES = [1, 2, 3]
ROWS: Rows = [(0.0, 21.0), (1.5, 28.0), (-9.0, 1e300), (math.inf, -math.inf), (0.3, 25.0)]


def table_of(rows: Rows) -> Table:
    columns = np.array(rows, dtype=float).reshape(-1, 2).T
    return as_table([columns[0].copy(), columns[1].copy()])


@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.sampled_from(DEGREES))
def test_a_row_weighs_exactly_one_row_wherever_it_lies(x: float, y: float, degree: int) -> None:
    cells = raw_cells_by_hand([(x, y)], CLIPS, degree)
    assert min(cells) >= 0
    assert sum(cells) == (CLIPS[0].steps * CLIPS[1].steps) ** degree


@given(st.integers(0, 2**26), st.integers(0, 2**26), st.integers(1, 2**26), st.integers(1, 2**26), st.sampled_from(DEGREES))
def test_and_so_it_does_in_clips_of_any_length(a: int, b: int, x_steps: int, y_steps: int, degree: int) -> None:
    clips = Clip(0, x_steps, Fraction(1)), Clip(0, y_steps, Fraction(1))
    cells = cells_at([(min(a, x_steps), min(b, y_steps))], clips, degree)
    assert min(cells) >= 0
    assert sum(cells) == (x_steps * y_steps) ** degree


@pytest.mark.parametrize("degree", DEGREES)
def test_cells_are_products_of_bernsteins_polynomials(degree: int) -> None:
    def weights(place: int, steps: int) -> list[int]:
        return [math.comb(degree, j) * place**j * (steps - place) ** (degree - j) for j in range(degree + 1)]

    by_hand = np.zeros((degree + 1, degree + 1), dtype=object)
    for x, y in ROWS:
        first, second = (weights(clip.place(value), clip.steps) for clip, value in zip(CLIPS, (x, y), strict=True))
        by_hand += np.outer(first, second)
    assert raw_cells_by_hand(ROWS, CLIPS, degree) == by_hand.ravel().tolist()


@pytest.mark.parametrize("degree", DEGREES)
def test_the_moments_of_the_rows_can_be_read(degree: int) -> None:
    whole = (CLIPS[0].steps * CLIPS[1].steps) ** degree
    exact = np.array([cell / whole for cell in raw_cells_by_hand(ROWS, CLIPS, degree)]).reshape(degree + 1, -1)
    cells = ProductCells(exact, 1.0)
    u, v = (np.array([2 * clip.place(row[side]) / clip.steps - 1 for row in ROWS]) for side, clip in enumerate(CLIPS))
    for i, j in itertools.product(range(degree + 1), repeat=2):
        weights = np.outer(centred_weights(degree, i, 0.25), centred_weights(degree, j, -0.5))
        assert cells.total(weights) == pytest.approx(float(np.sum((u - 0.25) ** i * (v + 0.5) ** j)), abs=1e-9)


def outside(table: list[int], more: list[int]) -> list[list[Fraction]]:
    """For each cell a cut beyond both tables in the direction in which it moves, in rows."""
    whole = (CLIPS[0].steps * CLIPS[1].steps) ** 2
    return [[Fraction(after, whole) + (3 if after >= before else -3)] for before, after in zip(table, more, strict=True)]


@pytest.mark.parametrize("row", [(0.0, 21.0), (1e300, -1e300), (math.inf, 25.0), (-1.5, 20.0)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(2)])
def test_the_exact_law_on_neighbours_loses_epsilon_and_no_more(row: tuple[float, float], epsilon: Fraction) -> None:
    tables = raw_cells_by_hand(ROWS, CLIPS, 2), raw_cells_by_hand([*ROWS, row], CLIPS, 2)
    one, other = (cells_law(cells, CLIPS, 2, epsilon, outside(*tables)) for cells in tables)
    assert largest_log_ratio(one, other) == pytest.approx(float(epsilon), rel=1e-9)


def test_cells_that_forget_the_clip_are_refuted() -> None:
    rows: Rows = [(0.0, 21.0), (1.0, 24.0)]
    tables = unclipped_cells(rows, CLIPS, 2), unclipped_cells([*rows, (4.0, 34.0)], CLIPS, 2)
    one, other = (cells_law(cells, CLIPS, 2, Fraction(1), outside(*tables)) for cells in tables)
    assert largest_log_ratio(one, other) > 2


def test_released_cells_are_the_exact_ones_with_noise_of_the_declared_scale() -> None:
    degree, epsilon, rng = 2, Fraction(1, 2), seeded(5)
    whole = (CLIPS[0].steps * CLIPS[1].steps) ** degree
    exact = np.array([cell / whole for cell in raw_cells_by_hand(ROWS, CLIPS, degree)])
    table = table_of(ROWS)
    drawn = np.ravel([release_products(table, CLIPS, degree, epsilon, rng).noisy.ravel() - exact for _ in range(1500)])
    assert stats.kstest(drawn, stats.laplace(scale=2).cdf).pvalue > 1e-3
    for wrong in (0.9, 1.1):
        assert stats.kstest(drawn, stats.laplace(scale=2 * wrong).cdf).pvalue < 1e-3
