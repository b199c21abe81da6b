"""Octaves: rows in public cells of magnitude, and draws from them that hide a row."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.statistics.regression.octaves import (
    BROAD,
    CELLS,
    CERTAIN,
    NARROW,
    cells_of,
    count_cells,
    draw_cell,
    draw_magnitude,
    hill,
    magnitude_of,
    rank_slopes,
    steep_hill,
)
from dpstats.statistics.universal.draw import CLIP
from dpstats.testing import seeded
from tests.statistics.regression.row_oracle import cell_by_hand

ONE = int(cells_of(np.array([1.0]))[0])
Weights = NDArray[np.float64]


def law(counts: list[int], masses: Weights, target: Fraction, slope: float, slope_under: float | None = None) -> Weights:
    """The probabilities of cells, from the definition of a draw by rank."""
    below = np.concatenate([[0], np.cumsum(counts)])
    over, under = np.maximum(0.0, below[:-1] - float(target)), np.maximum(0.0, float(target) - below[1:])
    loss = slope * over + (slope if slope_under is None else slope_under) * under
    weights = masses * np.exp(-np.minimum(float(CLIP), loss))
    probabilities: Weights = weights / weights.sum()
    return probabilities


def magnitude_law(counts: list[int], epsilon: float, top: int = ONE, half_width: int = BROAD, certain: bool = False) -> Weights:
    masses = np.diff(np.array(hill(top, half_width, certain), dtype=object)).astype(np.float64)
    return law(counts, masses, Fraction(sum(counts), 2), epsilon)


def counted(magnitudes: list[float]) -> list[int]:
    counts: list[int] = count_cells(np.array(magnitudes)).tolist()
    return counts


@given(st.floats(0, allow_nan=False))
def test_a_magnitude_is_in_the_last_cell_that_begins_at_or_below_it(magnitude: float) -> None:
    counts = count_cells(np.array([magnitude]))
    cell = cell_by_hand(magnitude)
    assert counts.sum() == (magnitude > 0)
    assert cell is None or counts[cell] == 1


def test_cells_begin_where_they_say() -> None:
    starts = np.array([magnitude_of(cell) for cell in range(CELLS)])
    assert np.array_equal(cells_of(starts), np.arange(CELLS))
    assert np.array_equal(cells_of(np.nextafter(starts, 0))[1:], np.arange(CELLS - 1))
    assert np.diff(np.log2(starts)) == pytest.approx(0.25)
    assert magnitude_of(ONE) == 1.0


def test_magnitudes_beyond_the_line_count_at_its_ends_and_zeros_nowhere() -> None:
    counts = count_cells(np.array([0.0, 5e-324, 1e-125, math.inf, 1e308, 0.0]))
    assert (counts[0], counts[-1], counts.sum()) == (2, 2, 4)
    assert counts.dtype == np.int64


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_a_row_more_moves_no_probability_by_more_than_epsilon(seed: int, epsilon: float) -> None:
    generator = np.random.default_rng(seed)
    magnitudes = (generator.lognormal(0, 3, seed) * generator.integers(0, 2, seed)).tolist()
    added = float(generator.choice([0.0, 1.0, 1e-300, 1e300, *magnitudes[:1]]))
    hills = [(ONE, BROAD, False), (ONE, BROAD, True), (100, NARROW, False)]
    for top, half_width, certain in hills:
        tables = counted(magnitudes), counted([*magnitudes, added])
        one, other = (magnitude_law(counts, epsilon, top, half_width, certain) for counts in tables)
        assert float(np.max(np.abs(np.log(one / other)))) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("quantile", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_a_row_more_moves_no_probability_of_a_place_by_more_than_epsilon(quantile: Fraction) -> None:
    generator = np.random.default_rng(3)
    epsilon, largest = 1.0, 0.0
    slope = epsilon / (2 * float(max(quantile, 1 - quantile)))
    for _ in range(60):
        counts = generator.integers(0, 3, 8).tolist()
        more = counts.copy()
        more[int(generator.integers(8))] += 1
        one, other = (law(each, np.ones(8), quantile * sum(each), slope) for each in (counts, more))
        largest = max(largest, float(np.max(np.abs(np.log(one / other)))))
    assert 0.5 * epsilon < largest <= epsilon * (1 + 1e-9)


UNEVEN = [(Fraction(9, 10), Fraction(1, 10)), (Fraction(3, 4), Fraction(1, 4)), (Fraction(99, 100), Fraction(3, 10))]


def largest_move(quantile: Fraction, slopes: tuple[Fraction, Fraction]) -> float:
    """By how much one row more moves a log probability at most, over many tables and lines of very unlike masses."""
    generator, largest = np.random.default_rng(3), 0.0
    for _ in range(400):
        counts = generator.integers(0, 40, 8).tolist()
        more, masses = counts.copy(), np.exp(generator.uniform(-60, 60, 8))
        more[int(generator.integers(8))] += 1
        one, other = (law(each, masses, quantile * sum(each), *map(float, slopes)) for each in (counts, more))
        largest = max(largest, float(np.max(np.abs(np.log(one / other)))))
    return largest


@pytest.mark.parametrize(("quantile", "under"), UNEVEN)
def test_uneven_slopes_hide_a_row_within_epsilon_and_no_steeper_ones_do(quantile: Fraction, under: Fraction) -> None:
    over, short = rank_slopes(quantile, Fraction(1), under)
    assert short / (over + short) == under
    assert 0.5 < largest_move(quantile, (over, short)) <= 1 + 1e-9
    twin = (Fraction(1), Fraction(1))  # mistake: epsilon for each rank on either side
    assert largest_move(quantile, twin) > 1.05


def test_slopes_are_alike_unless_something_else_is_said() -> None:
    for quantile in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        slope = Fraction(1) / (2 * max(quantile, 1 - quantile))
        assert rank_slopes(quantile, Fraction(1), Fraction(1, 2)) == (slope, slope)


def test_draws_with_uneven_slopes_have_the_law_that_they_say() -> None:
    counts, quantile, under, rng, runs = counted([0.5] * 40 + [8.0] * 5), Fraction(3, 4), Fraction(1, 4), seeded(14), 900
    masses = np.diff(np.array(steep_hill(ONE), dtype=object)).astype(np.float64)
    probabilities = law(counts, masses, quantile * 45, *map(float, rank_slopes(quantile, Fraction(1, 10), under)))
    drawn = [
        draw_magnitude(counts, Fraction(1, 10), rng, quantile=quantile, likely=1.0, known=True, under=under) for _ in range(runs)
    ]
    cells = cells_of(np.array(drawn))
    for start, stop in ((0, ONE - 4), (ONE - 4, ONE - 3), (ONE - 3, ONE + 12), (ONE + 12, CELLS)):
        expected = float(probabilities[start:stop].sum())
        found = float(np.mean((cells >= start) & (cells < stop)))
        assert abs(found - expected) < 4.5 * math.sqrt(expected * (1 - expected) / runs) + 1e-9


def test_a_steep_hill_halves_with_every_half_of_an_octave_beyond_the_first() -> None:
    masses = np.diff(np.array(steep_hill(ONE), dtype=object))
    assert masses[ONE - 5] == masses[ONE + 5] == masses[ONE]
    assert masses[ONE + 6] * 2 == masses[ONE + 4 + 1]
    assert masses[0] == masses[-1] == 1


def test_draws_have_the_law_that_they_say() -> None:
    counts, epsilon, rng, runs = counted([0.5] * 4 + [8.0] * 5 + [0.0] * 50), Fraction(1, 2), seeded(4), 900
    for certain in (False, True):
        probabilities = magnitude_law(counts, float(epsilon), certain=certain)
        drawn = Counter(int(cells_of(np.array([draw_magnitude(counts, epsilon, rng, certain=certain)]))[0]) for _ in range(runs))
        halves = [slice(0, ONE - 4), slice(ONE - 4, ONE), slice(ONE, ONE + 1), slice(ONE + 1, ONE + 13), slice(ONE + 13, CELLS)]
        for part in halves:
            expected = float(probabilities[part].sum())
            found = sum(count for cell, count in drawn.items() if part.start <= cell < part.stop) / runs
            assert abs(found - expected) < 4.5 * math.sqrt(expected * (1 - expected) / runs) + 1e-9


def test_draws_of_places_have_the_law_that_they_say() -> None:
    counts, quantile, rng, runs = [3, 0, 4, 9, 1], Fraction(3, 4), seeded(5), 2000
    probabilities = law(counts, np.ones(5), quantile * 17, 1 / 1.5)
    drawn = Counter(draw_cell(counts, quantile, Fraction(1), rng) for _ in range(runs))
    for cell, expected in enumerate(probabilities.tolist()):
        assert abs(drawn[cell] / runs - expected) < 4.5 * math.sqrt(expected * (1 - expected) / runs)


def test_a_median_of_many_magnitudes_is_found_to_a_quarter_of_an_octave() -> None:
    magnitudes = np.abs(np.random.default_rng(6).normal(0, 300.0, 4000))
    middle = float(np.median(magnitudes))
    counts = count_cells(magnitudes).tolist()
    for likely in (None, 250.0, 1e-9):
        found = draw_magnitude(counts, Fraction(1), seeded(7), likely=likely)
        assert middle / 2**0.3 < found <= middle * 2**0.05


def test_no_rows_at_all_are_drawn_from_too() -> None:
    rng = seeded(8)
    assert all(magnitude_of(0) <= draw_magnitude([0] * CELLS, Fraction(1), rng) <= magnitude_of(CELLS - 1) for _ in range(20))
    certain = [draw_magnitude([0] * CELLS, Fraction(1), rng, certain=True) for _ in range(300)]
    assert certain.count(1.0) / 300 == pytest.approx(CERTAIN / (CERTAIN + 1), abs=0.07)
