"""A synthetic column of a public shape that has n rows without drawing n rows.

It answers what a statistic may ask of any column. Windows of order statistics and counts below cuts are drawn where they are
asked (uniforms.py), exactly in distribution; a tie that reaches out of a window is counted to its ends. Sums, tallies and most
common values need every row: all rows are drawn then, and a table of more than MOST_DRAWN rows is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.curator.planning.shapes import Shape
from dpstats.curator.planning.uniforms import Uniforms
from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.selection import covered_ranks
from dpstats.foundations.summaries import Clip, LabelCounts, NumberRuns, OrderWindow, WindowRequest

_LOWEST, _HIGHEST = np.array([0.0, 1.0]).view(np.int64).tolist()
"""The ends of the unit interval as the integers that order positive floats."""
_TRIED_AT_ONCE = 256


class ShapeColumn:
    """A column whose rows are a shape's quantiles at a sorted sample of the unit interval; none is missing."""

    dtype: np.dtype[Any] = np.dtype(np.float64)

    def __init__(self, shape: Shape, uniforms: Uniforms) -> None:
        self._shape = shape
        self._uniforms = uniforms
        self._all: ArrayColumn | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether a question has had every row drawn."""
        return self._all is not None

    @property
    def drawn(self) -> int:
        """How many rows have been drawn."""
        return self._uniforms.drawn

    def count(self) -> int:
        """Rows that are not missing."""
        return self._uniforms.rows

    stored = count

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests."""
        return [self._window(*covered_ranks(request, self.count())) for request in requests]

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it."""
        edges = [edge_at(cut, self.dtype) for cut in cuts]
        return [self.count() if edge is None else self._uniforms.below(first_place(self._shape, edge)) for edge in edges]

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum in units over the rows strictly between two bounds; draws every row."""
        return self._drawn().sum_between(low, high, unit)

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of powers of where they lie in a clip; draws every row."""
        return self._drawn().power_sums(clip, degree)

    def tally(self, least: int = 1) -> NumberRuns:
        """Every number that at least `least` rows have, with its count; draws every row."""
        return self._drawn().tally(least)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common values with their counts; draws every row."""
        return self._drawn().most_common(how_many)

    def _up_to(self, value: float) -> int:
        """Rows at or below a value."""
        return self.counts_below([math.nextafter(value, math.inf)])[0] if value < math.inf else self.count()

    def _drawn(self) -> ArrayColumn:
        if self._all is None:
            self._all = ArrayColumn([self._values(1, self.count())])
        return self._all

    def _values(self, first: int, last: int) -> NDArray[np.float64]:
        """The rows of rank `first` to `last`."""
        return self._shape.values_at(self._uniforms.between(first, last)) if first <= last else np.empty(0)

    def _window(self, first: int, last: int) -> OrderWindow:
        rows = self.count()
        if first > last:
            return OrderWindow(rows, first - 1, np.empty(0), np.zeros(0, dtype=np.int64))
        low, high = max(1, first - 1), min(rows, last + 1)  # one further row on either side shows whether a tie goes on
        wider = self._values(low, high)
        wanted = wider[first - low : last - low + 1]
        values, counts = np.unique(wanted, return_counts=True)
        below = first - 1
        if low < first and wider[0] == wanted[0]:
            (below,) = self.counts_below([float(wanted[0])])
            counts[0] += first - 1 - below
        if high > last and wider[-1] == wanted[-1]:
            counts[-1] += self._up_to(float(wanted[-1])) - last
        return OrderWindow(rows, below, values, counts.astype(np.int64, copy=False))


def first_place(shape: Shape, cut: float) -> float:
    """The first place in (0, 1] at which the shape has reached the cut: the rows below the cut are those below that place."""
    missed, reached = _LOWEST, _HIGHEST
    while reached - missed > 1:
        step = max(1, (reached - missed) // _TRIED_AT_ONCE)
        tried = np.arange(missed + step, reached, step)
        short = int(np.searchsorted(shape.values_at(tried.view(np.float64)), cut))
        if short < tried.size:
            reached = missed + (short + 1) * step
        missed += short * step
    return float(np.array([reached]).view(np.float64)[0])
