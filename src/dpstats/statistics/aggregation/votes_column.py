"""A column of numbers that a statistic has made itself, in memory: votes of blocks, or residuals of rows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Clip, LabelCounts, NumberRuns, OrderWindow, WindowRequest
from dpstats.foundations.units import in_units


class VotesColumn:
    """Floats as a column; NaN is missing, infinities are ordinary, and the array is not kept."""

    dtype = np.dtype(np.float64)

    def __init__(self, raw_numbers: NDArray[np.float64]) -> None:
        self._stored = len(raw_numbers)
        self._raw_sorted = np.sort(raw_numbers[~np.isnan(raw_numbers)] + 0.0)  # -0.0 becomes 0.0

    def stored(self) -> int:
        """All numbers, missing ones included."""
        return self._stored

    def count(self) -> int:
        """Numbers that are not missing."""
        return len(self._raw_sorted)

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests."""
        return [self._window(*request.ranks(self.count())) for request in requests]

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it."""
        return [int(np.searchsorted(self._raw_sorted, float(cut), side="left")) for cut in cuts]

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum in units over the rows strictly between two bounds."""
        between = self._raw_sorted[(self._raw_sorted > low) & (self._raw_sorted < high)]
        return sum(in_units(value, unit) for value in between.tolist())

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of powers of where they lie in a clip."""
        places = [clip.place(value) for value in self._raw_sorted.tolist()]
        return tuple(sum(place**power for place in places) for power in range(degree + 1))

    def tally(self, least: int = 1) -> NumberRuns:
        """Every number that at least `least` rows have, with its count."""
        return NumberRuns(*np.unique(self._raw_sorted, return_counts=True)).of_many(least)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common numbers with their counts."""
        runs = self.tally()
        order = np.argsort(-runs.raw_counts, kind="stable")[:how_many]
        return list(zip(runs.raw_values[order].tolist(), runs.raw_counts[order].tolist(), strict=True))

    def _window(self, first: int, last: int) -> OrderWindow:
        """The values of ranks `first` to `last`, with all rows that are tied with them."""
        ordered = self._raw_sorted
        if last < first:
            return OrderWindow(len(ordered), max(first - 1, 0), ordered[:0], np.zeros(0, dtype=np.int64))
        begin = int(np.searchsorted(ordered, ordered[first - 1], side="left"))
        end = int(np.searchsorted(ordered, ordered[last - 1], side="right"))
        values, counts = np.unique(ordered[begin:end], return_counts=True)
        return OrderWindow(len(ordered), begin, values, counts)
