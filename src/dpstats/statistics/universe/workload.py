"""The queries that a universe is asked: every cell of every marginal table of so many columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.text_tables import counted
from dpstats.statistics.universe.universe import Levels, Universe

MOST_QUERIES = 1 << 20


@dataclass(frozen=True)
class Workload:
    """How many rows have certain levels in `ways` columns: a query for each choice of columns and of a level for each.

    Queries are counted from 0: by columns in the order of `itertools.combinations`, and then by levels, the last column's
    changing fastest.
    """

    universe: Universe
    ways: int
    """Columns in each marginal table."""

    def __post_init__(self) -> None:
        most = len(self.universe.columns)
        if type(self.ways) is not int or not 1 <= self.ways <= most:
            raise InvalidParameterError(f"ways must be a whole number from 1 to the number of columns, {most}; got {self.ways}.")
        tables = math.comb(most, self.ways)
        if tables > MOST_QUERIES or self.queries > MOST_QUERIES:
            raise InvalidParameterError(
                f"marginal tables of {counted(self.ways, 'column')} have more than {MOST_QUERIES:,} cells together: "
                "take fewer ways, columns or levels."
            )

    @cached_property
    def queries(self) -> int:
        """The number of queries."""
        return self._ends[-1]

    @cached_property
    def _tables(self) -> list[tuple[int, ...]]:
        return list(combinations(range(len(self.universe.columns)), self.ways))

    @cached_property
    def _ends(self) -> list[int]:
        return list(accumulate(math.prod(self.universe.sizes[place] for place in table) for table in self._tables))

    def answers(self, masses: NDArray[np.int64]) -> NDArray[np.int64]:
        """For each query the sum of `masses` over its cells, exactly."""
        return np.concatenate(list(self._sums(masses.reshape(1, -1), 0, 0)))

    def _sums(self, sums: NDArray[np.int64], place: int, kept: int) -> Iterator[NDArray[np.int64]]:
        """Tables that keep `kept` of the columns before `place`: these are the first axis of `sums`, all others the second."""
        left = self.universe.sizes[place:]
        if kept == self.ways:
            yield sums.sum(axis=1)
            return
        if len(left) < self.ways - kept:
            return
        yield from self._sums(sums.reshape(len(sums) * left[0], -1), place + 1, kept + 1)
        yield from self._sums(sums.reshape(len(sums), left[0], -1).sum(axis=1), place + 1, kept)

    def inside(self, query: int) -> NDArray[np.bool_]:
        """For each cell of the universe whether a query counts it."""
        return self.universe.inside(*self._found(query))

    def query(self, query: int) -> tuple[tuple[str, ...], Levels]:
        """The columns of a query, and its levels."""
        table, codes = self._found(query)
        universe = self.universe
        named = tuple(universe.columns[place] for place in table)
        return named, tuple(universe.levels[place][code] for place, code in zip(table, codes, strict=True))

    def _found(self, query: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        number = int(np.searchsorted(self._ends, query, side="right"))
        table = self._tables[number]
        within = query - (self._ends[number - 1] if number else 0)
        codes = np.unravel_index(within, [self.universe.sizes[place] for place in table])
        return table, tuple(map(int, codes))
