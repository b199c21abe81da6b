"""TableResiduals: what each set of columns adds to the tables of its parts.

A table of counts on a set B of columns is a sum over all subsets A of B: the grand mean, what each column adds to it by itself,
what each pair adds to that, and so on. Whatever the numbers for each A are, tables made of them agree on what they share. For
each A one table is measured, of which a row moves one cell by 1: counts by the columns of A, where a column of two levels gives a
sign to the row instead of an axis to the table. Of two-valued columns these are the Fourier coefficients.

Claim      The measured tables of all sets cost together what their shares cost (coded/budget.py)
Neighbors  ADD_REMOVE of one row
Why        A row adds 1 or -1 to one cell of each measured table. All that follows is post-processing
Numerics   Whole numbers and exact noise; tables are made of them in floats, in a fixed order
Source     Barak, Chaudhuri, Dwork, Kale, McSherry & Talwar 2007, for two levels; Xiao, He, Zhang & Kifer 2023, for several, at
           the price of the whole table: theirs, of the residual alone, is not proved for discrete noise. tables.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.coded.budget import NoiseLaw, NoisyTable, Whole

Floats = NDArray[np.float64]
Columns = tuple[int, ...]

TWO = 2


def subsets(columns: Sequence[int]) -> list[Columns]:
    """All subsets, the empty one first, smaller ones before larger ones."""
    return list(chain.from_iterable(combinations(columns, size) for size in range(len(columns) + 1)))


@dataclass(frozen=True)
class TableResiduals:
    """Columns of some numbers of levels, and the tables that are wanted of them."""

    sizes: tuple[int, ...]
    wanted: tuple[Columns, ...]
    """Sets of columns, each in ascending order."""

    @cached_property
    def parts(self) -> tuple[Columns, ...]:
        """Every subset of a wanted set, smaller ones first: one table is measured for each.

        A column of one level adds nothing to what is known without it.
        """
        found = dict.fromkeys(part for columns in self.wanted for part in subsets(columns) if self._adds(part))
        return tuple(sorted(found, key=lambda part: (len(part), part)))

    @cached_property
    def weights(self) -> Floats:
        """For each part how much its noise, of variance 1, adds to the variances of all cells of all wanted tables."""
        totals = dict.fromkeys(self.parts, 0.0)
        for columns in self.wanted:
            cells = math.prod(self.sizes[column] for column in columns)
            for part in self._parts_of(columns):
                totals[part] += cells * self._share_of_variance(part, columns)
        return np.array([totals[part] for part in self.parts])

    def measured(self, part: Columns, raw_counts: Whole) -> Whole:
        """The table that is measured for a part, from the counts by its columns: columns of two levels become signs."""
        for axis in reversed(range(len(part))):
            if self.sizes[part[axis]] == TWO:
                raw_counts = np.asarray(raw_counts.take(0, axis) - raw_counts.take(1, axis))
        return raw_counts

    def table(self, columns: Columns, noisy: Mapping[Columns, NoisyTable]) -> Floats:
        """The table of a wanted set from what was measured."""
        total = np.zeros([self.sizes[column] for column in columns])
        for part in self._parts_of(columns):
            total = total + self._spread(part, columns, noisy[part].noisy_counts)
        return total

    def cell_noise(self, columns: Columns, laws: Mapping[Columns, NoiseLaw]) -> tuple[tuple[float, int, NoiseLaw], ...]:
        """The noise in one cell of a wanted table: weights of independent draws, how many have each, and their law."""
        noise: list[tuple[float, int, NoiseLaw]] = []
        for part in self._parts_of(columns):
            draws = [(self._spread_weight(part, columns), 1)]
            for levels in (self.sizes[column] for column in part if self.sizes[column] > TWO):
                factors = ((1 - 1 / levels, 1), (1 / levels, levels - 1))
                draws = [(weight * factor, count * many) for weight, count in draws for factor, many in factors]
            noise += [(weight, count, laws[part]) for weight, count in draws]
        return tuple(noise)

    def _adds(self, part: Columns) -> bool:
        return all(self.sizes[column] > 1 for column in part)

    def _parts_of(self, columns: Columns) -> Iterable[Columns]:
        return (part for part in subsets(columns) if self._adds(part))

    def _spread(self, part: Columns, columns: Columns, noisy_counts: Whole) -> Floats:
        """What a part adds to each cell of a wanted table."""
        residual = noisy_counts.astype(np.float64)
        axes = [column for column in part if self.sizes[column] > TWO]
        for axis in range(len(axes)):
            residual = residual - residual.sum(axis=axis, keepdims=True) / residual.shape[axis]
        residual = residual.reshape([self.sizes[column] if column in axes else 1 for column in columns])
        for axis, column in enumerate(columns):
            if column in part and column not in axes:
                residual = np.concatenate([residual, -residual], axis=axis)
        return np.asarray(residual * self._spread_weight(part, columns))

    def _spread_weight(self, part: Columns, columns: Columns) -> float:
        """By what a residual is multiplied in a wanted table: halves of signs, and even parts along all other columns."""
        halves = sum(self.sizes[column] == TWO for column in part)
        return 0.5**halves / math.prod(self.sizes[column] for column in columns if column not in part)

    def _share_of_variance(self, part: Columns, columns: Columns) -> float:
        centred = math.prod(1 - 1 / self.sizes[column] for column in part if self.sizes[column] > TWO)
        return self._spread_weight(part, columns) ** 2 * centred
