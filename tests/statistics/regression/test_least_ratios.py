"""The solver: as low as an exact linear programme, on random and degenerate rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from dpstats.statistics.regression.least_ratios import minimiser, weighted_median
from dpstats.statistics.regression.ratios import Floats


def least_total(normals: Floats, offsets: Floats) -> float:
    """The least sum of distances, by a linear programme."""
    rows, size = normals.shape
    costs = np.concatenate([np.zeros(size), np.ones(rows)])
    upper = np.block([[normals, -np.eye(rows)], [-normals, -np.eye(rows)]])
    bounds = [(None, None)] * size + [(0, None)] * rows
    return float(linprog(costs, A_ub=upper, b_ub=np.concatenate([offsets, -offsets]), bounds=bounds, method="highs").fun)


@pytest.mark.parametrize("degenerate", [False, True])
def test_it_is_as_low_as_a_linear_programme(degenerate: bool) -> None:
    generator = np.random.default_rng(degenerate)
    for _ in range(60):
        size = int(generator.integers(1, 5))
        rows = int(generator.integers(size, 40))
        if degenerate:  # parallel, repeated and empty rows, and many through one place
            normals = generator.integers(-1, 2, (rows, size)).astype(float)
            offsets = generator.integers(-2, 3, rows).astype(float)
        else:
            normals, offsets = generator.normal(size=(rows, size)), generator.standard_t(1, rows)
        least = least_total(normals, offsets)
        place = minimiser(normals, offsets, np.zeros(size))
        assert np.abs(normals @ place - offsets).sum() <= least + 1e-7 * max(1.0, least)


def test_without_rows_it_stays_where_it_was() -> None:
    for size in (1, 2, 3):
        start = np.arange(size, dtype=np.float64) + 0.5
        assert minimiser(np.empty((0, size)), np.empty(0), start).tolist() == start.tolist()
        assert minimiser(np.zeros((4, size)), np.zeros(4), start) == pytest.approx(start)


def test_a_weighted_median_has_half_of_the_weight_on_either_side() -> None:
    values, weights = np.array([3.0, 1.0, 2.0, 9.0]), np.array([1.0, 1.0, 5.0, 2.0])
    assert values[weighted_median(values, weights)] == 2.0
    assert values[weighted_median(values, np.array([0.0, 0.0, 1.0, 7.0]))] == 9.0
