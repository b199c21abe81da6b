"""A pile: rows collected in any order, kept small by counting ties where there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.runs import Runs, merge_runs, runs_between, runs_of_sorted, runs_of_unsorted
from dpstats.engines.exact.samples import random_positions

WORTH_COUNTING = 4
"""Rows per distinct value from which on (value, count) pairs replace the rows."""
LOOKED_AT = 1 << 12
"""Rows that are looked at first: where all of them differ, counting is not worth a sort."""


class Pile:
    """Rows of one type to be asked for a range of ranks once all are in."""

    def __init__(self, limit: int) -> None:
        """`limit` is how many uncounted rows it may hold before it tries to count them."""
        self.size = 0
        self._limit = limit
        self._rows: list[NDArray[Any]] = []
        self._waiting = 0
        self._counted: list[Runs] = []

    def add(self, rows: NDArray[Any]) -> None:
        """Put rows on the pile, which owns them from now on."""
        if not rows.size:
            return
        self.size += rows.size
        self._rows.append(rows)
        self._waiting += rows.size
        if self._waiting > self._limit:
            self._shrink()

    def fresh(self) -> Pile:
        """An empty pile of the same limit."""
        return Pile(self._limit)

    def absorb(self, other: Pile) -> None:
        """Put another pile's rows on this one; its arrays belong to both, and this one may reorder them."""
        for rows in other._rows:
            self.add(rows)
        self.size += other.size - sum(rows.size for rows in other._rows)
        for runs in other._counted:
            self._keep(runs)

    @property
    def is_counted(self) -> bool:
        """Whether some rows have become values with their counts, so that `rows` does not have them any more."""
        return bool(self._counted)

    def rows(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """All rows, which are of that type, of a pile that is not counted, in any order; the array stays the pile's."""
        assert not self._counted
        self._rows = [np.concatenate(self._rows)] if self._rows else []
        return self._rows[0] if self._rows else np.empty(0, dtype=dtype)

    def count_below(self, value: Any) -> int:
        """Rows on the pile strictly below a value."""
        uncounted = sum(int(np.count_nonzero(rows < value)) for rows in self._rows)
        return uncounted + sum(int(runs.counts[: np.searchsorted(runs.values, value)].sum()) for runs in self._counted)

    def runs(self, first: int, last: int) -> Runs:
        """The runs that touch the ranks `first` to `last` of the pile, 1 <= first <= last <= size."""
        if self._counted:
            if self._rows:
                self._count_rows()
            self._counted = [merge_runs(self._counted)]
            return runs_between(self._counted[0], first, last)
        self._rows = [np.concatenate(self._rows)]
        return runs_of_unsorted(self._rows[0], first, last)

    def _shrink(self) -> None:
        """Count the waiting rows if that saves room; otherwise leave them be until there are twice as many."""
        rows = np.concatenate(self._rows)
        self._rows = [rows]
        few = np.sort(rows[np.unique(random_positions(rows.size, LOOKED_AT))])
        if _distinct(few) < few.size:
            rows.sort()
            if _distinct(rows) * WORTH_COUNTING <= self._waiting:
                self._count_rows()
                return
        self._limit *= 2

    def _count_rows(self) -> None:
        ordered = np.concatenate(self._rows)
        ordered.sort()
        self._rows, self._waiting = [], 0
        self._keep(runs_of_sorted(ordered, 1, ordered.size))

    def _keep(self, runs: Runs) -> None:
        """Keep counted rows; merge all of them when the newer ones have grown as long as what was merged before."""
        self._counted.append(runs)
        newer = sum(kept.values.size for kept in self._counted[1:])
        if newer > max(self._limit, self._counted[0].values.size):
            self._counted = [merge_runs(self._counted)]


def _distinct(ordered: NDArray[Any]) -> int:
    """The number of distinct values of one or more sorted rows."""
    return 1 + int(np.count_nonzero(ordered[1:] != ordered[:-1]))
