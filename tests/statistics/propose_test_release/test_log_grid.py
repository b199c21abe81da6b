"""The logarithmic grid: a number's cell is exact at every edge, and bins and centres follow from it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.scales import printed_grid

BASES = [Fraction(2), Fraction(10), Fraction(3, 2), 1 + Fraction(1, 1024), printed_grid(3).base, printed_grid(10**6).base]
SHIFTS = range(0, CELLS, CELLS // 8)
GRIDS = [LogGrid(base) for base in BASES]
JUST_BELOW = 1 - Fraction(1, 10**55)
CELLS_TO_TRY = [-40_000, -CELLS, -1, 0, 1, 2, 1000, CELLS // 2, CELLS - 1, CELLS, CELLS + 1, 3 * CELLS, 123_456]


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"base {float(grid.base):.6g}")
@pytest.mark.parametrize("cell", CELLS_TO_TRY)
def test_an_edge_belongs_to_the_cell_that_begins_there_and_what_is_below_to_the_one_before(grid: LogGrid, cell: int) -> None:
    edge = grid.edge(cell)
    assert grid.cell(edge) == cell
    assert grid.cell(edge * JUST_BELOW) == cell - 1
    assert grid.cell(edge / JUST_BELOW) == cell


@pytest.mark.parametrize("base", [2, 3, 10])
def test_whole_powers_of_a_whole_base_are_exact_edges(base: int) -> None:
    grid = LogGrid(Fraction(base))
    for power in range(-300, 301, 7):
        number = Fraction(base) ** power
        assert grid.edge(power * CELLS) == number
        assert grid.cell(number) == power * CELLS
        assert grid.bin_edges(grid.cell(number), 0) == (number, number * base)


def test_the_logarithm_in_floats_is_wrong_at_some_edges() -> None:
    wrong = [power for power in range(-300, 301) if math.floor(math.log(10.0**power) / math.log(10.0)) != power]
    grid = LogGrid(Fraction(10))
    assert wrong
    assert all(grid.cell(Fraction(10) ** power) == power * CELLS for power in wrong)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"base {float(grid.base):.6g}")
def test_edges_increase_and_a_bin_is_a_factor_wide(grid: LogGrid) -> None:
    edges = [grid.edge(cell) for cell in range(-5, 6)]
    assert edges == sorted(set(edges))
    for cell in (-7000, 0, 1, 9999):
        assert abs(grid.edge(cell + CELLS) / grid.edge(cell) / grid.base - 1) < Fraction(1, 10**50)


@given(st.sampled_from(GRIDS), st.fractions(Fraction(1, 10**9), 10**9), st.fractions(Fraction(1, 10**9), 10**9))
def test_cells_never_fall_as_numbers_grow(grid: LogGrid, one: Fraction, other: Fraction) -> None:
    low, high = sorted((one, other))
    assert grid.cell(low) <= grid.cell(high)


@given(st.sampled_from(GRIDS), st.fractions(Fraction(1, 10**9), 10**9), st.sampled_from(SHIFTS))
def test_a_number_lies_in_its_cell_and_in_its_bin_under_every_shift(grid: LogGrid, number: Fraction, shift: int) -> None:
    cell = grid.cell(number)
    assert grid.edge(cell) <= number < grid.edge(cell + 1)
    least, beyond = grid.bin_edges(cell, shift)
    assert least <= number < beyond
    assert (grid.cell(least) - shift) % CELLS == 0
    assert float(least) * (1 - 1e-9) < grid.bin_centre(cell, shift) < float(beyond) * (1 + 1e-9)


@given(st.sampled_from(GRIDS), st.integers(-20_000, 20_000), st.integers(-20_000, 20_000), st.sampled_from(SHIFTS))
def test_cells_of_one_bin_have_one_centre_and_others_another(grid: LogGrid, one: int, other: int, shift: int) -> None:
    same_bin = grid.bin_edges(one, shift) == grid.bin_edges(other, shift)
    assert (grid.bin_centre(one, shift) == grid.bin_centre(other, shift)) == same_bin
    assert abs(one - other) < CELLS or not same_bin


@pytest.mark.parametrize("number", [Fraction(1, 10**330), Fraction(5, 10**324), Fraction(10) ** 308, Fraction(2) ** 2200])
@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"base {float(grid.base):.6g}")
def test_numbers_of_any_size_have_a_cell(grid: LogGrid, number: Fraction) -> None:
    cell = grid.cell(number)
    assert grid.edge(cell) <= number < grid.edge(cell + 1)


@pytest.mark.parametrize("grid", GRIDS, ids=lambda grid: f"base {float(grid.base):.6g}")
def test_what_is_released_for_a_cell_is_its_edge_in_floats(grid: LogGrid) -> None:
    for cell in CELLS_TO_TRY:
        assert grid.number(cell) == pytest.approx(float(grid.edge(cell)), rel=1e-9)
    assert 0 < grid.number(-1e12) < grid.number(1e12) < math.inf
