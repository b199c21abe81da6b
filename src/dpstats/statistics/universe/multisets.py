"""All multisets of a size over some cells, each by its number.

A multiset of `size` cells out of so many is a choice of places among cells + size - 1: of the places of its members, or of
those of the bars between cells, whichever is fewer. Places count in the combinatorial number system, so that any block of
numbers is taken apart by itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Multisets:
    """The multisets of `size` of the cells 0, 1, ... `cells` - 1."""

    cells: int
    size: int

    @cached_property
    def number(self) -> int:
        """How many there are."""
        return math.comb(self._places, self.size)

    @property
    def _places(self) -> int:
        return self.cells + self.size - 1

    @property
    def _by_members(self) -> bool:
        return self.size < self.cells - 1

    @cached_property
    def _binomials(self) -> list[NDArray[np.int64]]:
        """For i = 0, 1, ... the binomials of 0, 1, ... places over i; none is above `number`, because i is at most half."""
        tables = [np.ones(self._places, dtype=np.int64)]
        for _ in range(self.size if self._by_members else self.cells - 1):
            tables.append(np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(tables[-1])[:-1]]))
        return tables

    def _chosen(self, numbers: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Ascending places of each choice, one array for each."""
        left, places = numbers, []
        for binomials in reversed(self._binomials[1:]):
            place = np.searchsorted(binomials, left, side="right") - 1
            left = left - binomials[place]
            places.append(place)
        return places[::-1]

    def sums(self, numbers: NDArray[np.int64], rows: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """For each multiset the sum of the rows of its cells; there is a row for each cell."""
        places = self._chosen(numbers)
        sums = np.zeros((len(numbers), rows.shape[1]), dtype=np.uint64)
        if self._by_members:
            for before, place in enumerate(places):
                sums += rows[place - before]
            return sums
        for cell, often in enumerate(self._multiplicities(places, len(numbers))):
            sums += often.astype(np.uint64)[:, None] * rows[cell]
        return sums

    def counts(self, number: int) -> NDArray[np.int64]:
        """How often each cell is in one multiset."""
        places = self._chosen(np.array([number]))
        if self._by_members:
            return np.bincount([int(place[0]) - before for before, place in enumerate(places)], minlength=self.cells)
        return np.array([int(often[0]) for often in self._multiplicities(places, 1)])

    def _multiplicities(self, bars: list[NDArray[np.int64]], width: int) -> list[NDArray[np.int64]]:
        ends = [np.full(width, -1), *bars, np.full(width, self._places)]
        return [after - before - 1 for before, after in pairwise(ends)]
