"""How far rows lie below and above the middles of their columns, in public cells.

Claim      A `RowSum`; of each column a row is in one cell of one side, or in none, whatever it holds
Why        A difference of two floats is rounded correctly, so its sign and its cell are functions of the row alone
Numerics   As octaves.py; rows at the middle, to 15 digits, are left out
Source     frame.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.octaves import CELLS, count_cells
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.sums import GRID

Sides = tuple[Sequence[int], Sequence[int]]
"""Counts of one column by cells of distances: of rows below the middle, and of rows above it."""


@dataclass(frozen=True)
class SidedDistances:
    """Counts of rows by cells of their distance from the middle: of each column first the rows below it, then those above."""

    middles: tuple[float, ...]

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them, column after column."""
        with np.errstate(over="ignore"):
            raw_moves = raw_rows[:, : len(self.middles)] - self.middles
        raw_moves[np.abs(raw_moves) <= GRID * np.abs(self.middles)] = 0.0
        return np.concatenate(
            [count_cells(side * raw_moves[:, place]) for place in range(len(self.middles)) for side in (-1.0, 1.0)]
        )

    @staticmethod
    def sides(raw_counts: Sequence[int], place: int) -> Sides:
        """The cells below and above the middle of one column."""
        start = 2 * CELLS * place
        return raw_counts[start : start + CELLS], raw_counts[start + CELLS : start + 2 * CELLS]
