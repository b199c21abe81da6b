"""The cells of clipped rows from their definition, and the exact law of noisy ones: row by row, no power sums, no sampler."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from math import comb, prod

from tests.laws.mechanisms import discrete_laplace_law

RowCells = Callable[[int, int, int], list[int]]
"""place, steps, degree -> the cells of one row"""


def cells_of_row(place: int, steps: int, degree: int) -> list[int]:
    """Bernstein's polynomials at place / steps, in units of 1 / steps**degree; places outside are cut off first."""
    inside = min(max(place, 0), steps)
    return [comb(degree, j) * inside**j * (steps - inside) ** (degree - j) for j in range(degree + 1)]


def cells_of_rows(places: Sequence[int], steps: int, degree: int, row_cells: RowCells = cells_of_row) -> list[int]:
    """The cells of all rows together."""
    return [sum(row_cells(place, steps, degree)[j] for place in places) for j in range(degree + 1)]


def cells_and_shell_of_row(place: int, steps: int, degree: int, apart: int) -> list[int]:
    """The cells of a row and, in the same units, the shell that counts rows from `apart` on, which are in no cell."""
    if place >= apart:
        return [*[0] * (degree + 1), steps**degree]
    return [*cells_of_row(place, steps, degree), 0]


def noisy_cells_law(
    places: Sequence[int], steps: int, degree: int, scale: Fraction, window: range, row_cells: RowCells = cells_of_row
) -> dict[Hashable, Fraction]:
    """The joint law of all noisy cells; outside of the window a cell is only known to be below or above it."""
    raw_cells = [sum(cells) for cells in zip(*(row_cells(place, steps, degree) for place in (*places, 0)), strict=True)]
    raw_cells[0] -= steps**degree  # of the row that makes an empty table one with cells
    laws = [discrete_laplace_law(cell, scale, window[0], window[-1]) for cell in raw_cells]
    return {
        outcome: prod((law[cell] for law, cell in zip(laws, outcome, strict=True)), start=Fraction(1))
        for outcome in itertools.product(*laws)
    }
