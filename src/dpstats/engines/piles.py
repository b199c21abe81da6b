"""A pile: rows collected in any order, kept small by counting ties where there are many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.runs import Runs, merge_runs, runs_between, runs_of_sorted, runs_of_unsorted

WORTH_COUNTING = 4
"""Rows per distinct value from which on (value, count) pairs replace the rows."""


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
        self._rows = [np.concatenate(self._rows)]
        self._rows[0].sort()
        changes = np.count_nonzero(self._rows[0][1:] != self._rows[0][:-1])
        if (changes + 1) * WORTH_COUNTING <= self._waiting:
            self._count_rows()
        else:
            self._limit *= 2

    def _count_rows(self) -> None:
        ordered = np.concatenate(self._rows)
        ordered.sort()
        self._counted.append(runs_of_sorted(ordered, 1, ordered.size))
        self._rows, self._waiting = [], 0
