"""Which neighbors are alike, and what their coefficients make of each other."""

from __future__ import annotations

import numpy as np
import pytest

from dpstats.statistics.synthetic.smoothness import Smoothness, alike_share, kernel

BINS = np.arange(12.0)
RISING = 5000 * np.exp(-np.square((BINS[:, None] - BINS) / 4)) / 80
CHECKERED = 30.0 + 20 * (-1.0) ** (BINS[:, None] + BINS)


def noisy(table: np.ndarray, deviation: float, seed: int = 1) -> tuple[np.ndarray, float]:
    return table + np.random.default_rng(seed).normal(0, deviation, table.shape), deviation**2


def test_columns_that_rise_together_have_neighbors_that_are_alike() -> None:
    for deviation in (1e-3, 1.0, 10.0):
        tables = {(0, 1): noisy(RISING, deviation)}
        assert alike_share(0, 12, tables) == alike_share(1, 12, tables) == 0.9


def test_neighbors_that_differ_are_not_alike() -> None:
    for deviation in (1e-3, 1.0, 5.0):
        assert alike_share(0, 12, {(0, 1): noisy(CHECKERED, deviation)}) == 0.0


def test_where_noise_hides_the_rest_neighbors_are_middling_alike() -> None:
    shares = [alike_share(0, 12, {(0, 1): noisy(np.full((12, 12), 30.0), 300.0, seed)}) for seed in range(20)]
    assert 0.2 < np.mean(shares) < 0.7
    assert alike_share(0, 12, {}) == alike_share(0, 12, {(0,): noisy(BINS, 1.0)}) == pytest.approx(0.45)


@pytest.mark.parametrize("counts", [np.zeros((4, 3)), np.full((4, 3), -5.0), np.full((4, 3), 1e12)])
def test_tables_of_any_size_have_a_share(counts: np.ndarray) -> None:
    assert 0.0 <= alike_share(0, 4, {(0, 1): (counts, 1.0)}) <= 0.9
    assert 0.0 <= alike_share(1, 2, {(0, 1): (counts, 1e-12)}) <= 0.9


def test_a_level_apart_counts_for_itself_alone() -> None:
    smoothness = Smoothness({0: kernel(4, 3, 0.9)})
    coefficients = np.zeros((4, 3))
    coefficients[3, 1] = 1.0
    assert np.array_equal(smoothness.spread((0, 1), coefficients), coefficients)
    coefficients[1, 1] = 1.0
    spread = smoothness.spread((0, 1), coefficients)
    assert spread[1, 1] == spread[3, 1] == 1.0
    assert spread[0, 1] == spread[2, 1] == pytest.approx(0.9 * np.exp(-1 / 3))
    assert not spread[:, 0].any()
    assert np.array_equal(smoothness.spread((0,), coefficients[:, 1]), coefficients[:, 1])


def test_what_was_spread_is_gathered_again() -> None:
    smoothness = Smoothness({0: kernel(4, 3, 0.9), 2: kernel(20, 20, 0.7)})
    coefficients = np.random.default_rng(2).normal(size=(4, 5, 20))
    spread = smoothness.spread((0, 1, 2), coefficients)
    np.testing.assert_allclose(smoothness.gathered((0, 1, 2), spread), coefficients, atol=1e-12)


def test_only_columns_with_levels_in_order_are_estimated() -> None:
    smoothness = Smoothness.estimated((12, 12), {1: 12}, {(0, 1): noisy(RISING, 1.0)})
    one = np.zeros((12, 12))
    one[5, 5] = 1.0
    spread = smoothness.spread((0, 1), one)
    assert np.count_nonzero(spread) == 12
    assert spread[5].all()
