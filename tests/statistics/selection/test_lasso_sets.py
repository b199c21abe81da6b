"""The features that LASSO finds in a block."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from dpstats.statistics.selection import lasso_sets
from dpstats.statistics.selection.lasso_sets import EXTRA_OF_FEATURES, EXTRA_OF_SETS, Correlations, lasso_set

Floats = NDArray[np.float64]


def sparse_rows(rows: int, features: int, active: int, seed: int, correlation: float = 0.0) -> Floats:
    chance = np.random.default_rng(seed)
    columns = np.sqrt(correlation) * chance.normal(size=(rows, 1)) + np.sqrt(1 - correlation) * chance.normal(
        size=(rows, features)
    )
    return np.column_stack([columns, columns[:, :active].sum(axis=1) + chance.normal(size=rows)])


def correlations_of(raw_rows: Floats) -> Correlations:
    known = lasso_sets._correlations(raw_rows)
    assert known is not None
    return known


def test_the_active_features_are_found_in_nearly_all_blocks() -> None:
    found = [lasso_set(sparse_rows(150, 20, 4, seed, 0.5), None, EXTRA_OF_SETS) for seed in range(40)]
    assert sum(each == (0, 1, 2, 3) for each in found) >= 34


def test_units_and_places_of_columns_do_not_matter() -> None:
    rows = sparse_rows(150, 10, 3, 1)
    other = rows * 10.0 ** np.arange(-5, 6) + 7.0
    assert lasso_set(rows, None, EXTRA_OF_SETS) == lasso_set(other, None, EXTRA_OF_SETS) == (0, 1, 2)
    turned = np.column_stack([rows[:, 9::-1], rows[:, -1]])
    assert lasso_set(turned, None, EXTRA_OF_SETS) == (7, 8, 9)


def test_no_more_than_at_most_features_are_taken() -> None:
    for seed in range(10):
        found = lasso_set(sparse_rows(120, 12, 8, seed), 3, EXTRA_OF_FEATURES)
        assert found is not None
        assert len(found) <= 3


def test_features_that_do_not_vary_are_never_taken() -> None:
    rows = np.insert(sparse_rows(100, 5, 2, 3), 1, 4.2, axis=1)
    assert lasso_set(rows, None, EXTRA_OF_SETS) == (0, 2)


def test_noise_alone_gives_the_empty_set_in_most_blocks() -> None:
    found = [lasso_set(np.random.default_rng(seed).normal(size=(150, 11)), None, EXTRA_OF_SETS) for seed in range(40)]
    assert sum(each == () for each in found) >= 32


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((0, 4)),
        sparse_rows(5, 3, 1, 1),
        np.ones((50, 4)),
        np.column_stack([np.random.default_rng(1).normal(size=(50, 3)), np.ones(50)]),
        np.where(np.arange(200).reshape(50, 4) == 17, np.inf, sparse_rows(50, 3, 1, 1)),
        sparse_rows(50, 3, 1, 1) * 1e300,
    ],
    ids=["empty", "few", "constant", "constant outcome", "infinite", "huge"],
)
def test_blocks_that_determine_nothing_have_no_set(rows: Floats) -> None:
    assert lasso_set(rows, None, EXTRA_OF_SETS) is None


def test_a_single_change_is_the_best_of_all_single_changes() -> None:
    for seed in range(25):
        known, price = correlations_of(sparse_rows(60, 7, 3, seed, 0.4)), 4.0
        chosen = tuple(sorted(np.random.default_rng(seed).choice(7, seed % 5, replace=False).tolist()))
        every = [tuple(sorted({*chosen} ^ {place})) for place in range(7)]
        best = min(lasso_sets._criterion(known, each, price) for each in every)
        changed = lasso_sets._best_change(known, chosen, price, 7)
        assert lasso_sets._criterion(known, changed, price) == pytest.approx(best, abs=1e-8)


def test_what_least_squares_leaves_is_what_numpy_says() -> None:
    rows = sparse_rows(80, 6, 3, 2)
    fitted = np.column_stack([np.ones(80), rows[:, [0, 2, 5]]])
    left = np.linalg.lstsq(fitted, rows[:, -1], rcond=None)[1][0]
    assert correlations_of(rows).unexplained((0, 2, 5)) == pytest.approx(left / (rows[:, -1].var() * 80))


def test_two_equal_features_are_not_both_taken() -> None:
    rows = sparse_rows(150, 6, 2, 5)
    rows = np.insert(rows, 6, rows[:, 0], axis=1)
    found = lasso_set(rows, None, EXTRA_OF_SETS)
    assert found is not None
    assert len({0, 6} & {*found}) == 1
    assert 1 in found
