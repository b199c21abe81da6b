"""Cells of clipped rows: every row weighs exactly 1, their exact noisy law is private, and moments can be read off them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import kstest, laplace

from dpstats.engines.tables.given import as_column
from dpstats.foundations.randomness import seeded
from dpstats.foundations.summaries import Clip
from dpstats.statistics.clipped import cells
from dpstats.statistics.clipped.cells import raw_cells_of, release_cells, weights_of
from dpstats.statistics.clipped.clips import clip_between
from tests.laws.cells import cells_and_shell_of_row, cells_of_row, cells_of_rows, noisy_cells_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.statistics.tables import ugly_columns
from tests.twins.cells import bare_limits, cells_and_shells_of_row, radius_scale, unclipped_cells_of_row

DEGREES = [1, 2, 3, 4]
finite = st.fractions(min_value=-(10**9), max_value=10**9)


@given(st.floats(), st.integers(-(2**40), 2**40), st.integers(1, 2**26), st.integers(-80, 80), st.sampled_from(DEGREES))
@example(math.inf, 0, 1, 0, 3)
@example(-math.inf, -5, 7, 3, 4)
@example(1e300, 0, 2**26, 0, 3)
@example(5e-324, 0, 2**26, 60, 4)
def test_every_row_moves_all_cells_together_by_exactly_one(
    value: float, low: int, steps: int, exponent: int, degree: int
) -> None:
    if math.isnan(value):
        return
    clip = Clip(low, steps, Fraction(2) ** exponent)
    place = clip.place(value)
    own = raw_cells_of([place**power for power in range(degree + 1)], steps)
    assert own == cells_of_row(place, steps, degree)
    assert min(own) >= 0
    assert sum(own) == steps**degree


@pytest.mark.parametrize("name", ugly_columns())
@pytest.mark.parametrize("degree", DEGREES)
def test_cells_of_a_column_are_the_sum_of_those_of_its_rows(name: str, degree: int) -> None:
    data = ugly_columns()[name]
    clip = Clip(-40, 90, Fraction(1, 2))
    places = [clip.place(value) for value in data if value == value]
    assert raw_cells_of(as_column(data).power_sums(clip, degree), clip.steps) == cells_of_rows(places, clip.steps, degree)


@pytest.mark.parametrize("values", [np.array([np.nan, np.nan]), np.array([])])
def test_missing_rows_have_no_cells(values: np.ndarray) -> None:
    assert raw_cells_of(as_column(values).power_sums(Clip(0, 9, Fraction(1)), 3), 9) == [0, 0, 0, 0]


# The law


STEPS, DEGREE, EPSILON = 2, 2, Fraction(1)
SCALE = STEPS**DEGREE / EPSILON
WINDOW = range(-1, 9)
PLACES = [(), (1,), (0, 2)]


def worst_ratio(law: Callable[..., dict[object, Fraction]]) -> float:
    """Over all tables and all rows that may be added to them."""
    return max(largest_log_ratio(law(table), law((*table, added))) for table in PLACES for added in (0, 1, 30))


def test_the_joint_law_of_noisy_cells_moves_by_epsilon_when_a_row_is_added_and_by_no_more() -> None:
    worst = worst_ratio(lambda table: noisy_cells_law(table, STEPS, DEGREE, SCALE, WINDOW))
    assert 0.99 < worst <= 1 + 1e-9


def test_changing_a_row_costs_at_most_twice_that() -> None:
    laws = [noisy_cells_law((place, 1), STEPS, DEGREE, SCALE, WINDOW) for place in (0, 1, 2)]
    assert all(largest_log_ratio(one, other) <= 2 + 1e-9 for one in laws for other in laws)


def test_cells_without_the_cut_are_refuted() -> None:
    laws = [noisy_cells_law(t, STEPS, DEGREE, SCALE, range(-6, 10), unclipped_cells_of_row) for t in ((), (STEPS + 1,))]
    assert largest_log_ratio(*laws) > 3.9


def test_a_row_that_is_counted_apart_moves_the_law_by_epsilon_and_by_no_more() -> None:
    row_cells = partial(cells_and_shell_of_row, apart=4)
    worst = worst_ratio(lambda table: noisy_cells_law(table, STEPS, DEGREE, SCALE, WINDOW, row_cells))
    assert 0.99 < worst <= 1 + 1e-9


def test_a_row_in_a_cell_and_counted_apart_as_well_is_refuted() -> None:
    row_cells = partial(cells_and_shells_of_row, apart=4)
    assert worst_ratio(lambda table: noisy_cells_law(table, STEPS, DEGREE, SCALE, WINDOW, row_cells)) > 1.9


def test_noise_for_half_of_the_clip_is_refuted() -> None:
    scale = radius_scale(STEPS, DEGREE, EPSILON)
    assert worst_ratio(lambda table: noisy_cells_law(table, STEPS, DEGREE, scale, WINDOW)) > 1.9


def test_a_clip_at_the_rows_themselves_is_refuted() -> None:
    def law(table: tuple[int, ...]) -> dict[object, Fraction]:
        ends = bare_limits(table)
        return {(ends, outcome): p for outcome, p in noisy_cells_law(table, STEPS, DEGREE, SCALE, WINDOW).items()}

    assert largest_log_ratio(law((1, 2)), law((1, 2, 7))) == math.inf


def test_the_noise_has_the_declared_scale_and_not_another() -> None:
    rows = as_column(np.array([0.25, 0.5, 3.0]))
    clip = clip_between(Fraction(0), Fraction(1))
    assert clip is not None
    epsilon, rng = Fraction(1, 2), seeded(4)
    bare = np.array(raw_cells_of(rows.power_sums(clip, 3), clip.steps), dtype=float) / clip.steps**3
    noise = np.concatenate([release_cells(rows, clip, 3, epsilon, rng).noisy - bare for _ in range(5_000)])
    p_values = {factor: kstest(noise, laplace(scale=factor / float(epsilon)).cdf).pvalue for factor in (0.9, 1.0, 1.1)}
    assert p_values[1.0] > 1e-3
    assert max(p_values[0.9], p_values[1.1]) < 1e-6


def test_epsilon_reaches_the_noise_as_the_scale_of_whole_units(monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[Fraction] = []

    def watched(scale: Fraction, size: int, rng: object) -> np.ndarray:
        scales.append(scale)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(cells, "sample_discrete_laplace", watched)
    release_cells(as_column(np.array([1.0])), Clip(0, 10, Fraction(1)), 3, Fraction(1, 7), seeded(1))
    assert scales == [Fraction(7 * 10**3)]


# What they say


@pytest.mark.parametrize("degree", DEGREES)
def test_sums_of_powers_can_be_read_off_the_cells(degree: int) -> None:
    steps, places = 8, [0, 1, 5, 8, 8, 3]
    bare = np.array([float(Fraction(cell, steps**degree)) for cell in cells_of_rows(places, steps, degree)])
    for power in range(degree + 1):
        expected = sum((2 * place / steps - 1) ** power for place in places)
        assert weights_of(degree, power) @ bare == pytest.approx(expected, abs=1e-12)


@given(finite, finite)
@example(Fraction(10**6), Fraction(10**6) + Fraction(1, 10**9))
@example(Fraction(1, 10**320), Fraction(1, 10**319))
def test_a_clip_holds_its_ends_and_little_more_in_numbers_that_floats_hold(one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    clip = clip_between(low, high)
    if clip is None:
        assert low == high
        return
    first, last = clip.low * clip.unit, (clip.low + clip.steps) * clip.unit
    assert first <= low < high <= last
    assert (last - first) <= (high - low) + 2 * clip.unit
    assert clip.steps <= 2**26
    assert max(abs(clip.low), abs(clip.low + clip.steps)) <= 2**52
