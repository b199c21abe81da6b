"""The ranks of quantiles, and the rows near them as exact integers.

Ranks count from 1; a table without rows has the rank 0. One more row moves the rank of a quantile by 0 or 1, and the ranks
(low, high) of a pair of quantiles by (0, 0), (0, 1) or (1, 1), never by (1, 0): a row added between two quantiles would then
pull both of them inwards and count as two changes. Distances are tests under ADD_REMOVE because of this; see distances.proof.md.

Numerics   Ranks are ceilings of rationals. Rows become integers in one unit, a common divisor of all rows in the windows; the
           unit is raw, but comparisons of differences of rows with a width come out the same in every unit
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from dpstats.foundations.summaries import OrderWindow, WindowRequest
from dpstats.statistics.universal.decimals import Number, fraction_of, ordinal_of

BEYOND = 1 << 8192
"""Where the table ends: the row before the first is -BEYOND, the row after the last +BEYOND, both in units.

Decimal rows stay below 1 << 2200 units; widths and factors below 1 << 5000 cannot reach this far."""


def quantile_rank(quantile: Fraction, raw_rows: int) -> int:
    """The rank of a quantile between 0 and 1: max(1, ceil(quantile * rows)), and 0 where there are no rows."""
    return max(1, math.ceil(quantile * raw_rows)) if raw_rows else 0


def interquantile_ranks(lower: Fraction, upper: Fraction, raw_rows: int) -> tuple[int, int]:
    """The ranks of two quantiles 0 <= lower <= upper <= 1, upper > 0, that move together: the low rank follows the high one.

    The low rank is max(1, ceil(high * lower / upper)), that is ceil(lower * rows) or one more. For 1/4 and 3/4, and wherever
    upper / lower is a whole number, it is ceil(lower * rows) itself.
    """
    high = quantile_rank(upper, raw_rows)
    return quantile_rank(lower / upper, high), high


def window_request(quantile: Fraction, steps: int) -> WindowRequest:
    """A window with every rank within `steps` of the quantile's rank, or of its rank in a pair: see `interquantile_ranks`."""
    return WindowRequest(quantile, steps + 1)


def decimal_of(value: Number) -> Fraction:
    """The 15-digit decimal of a row, whatever container it came in; +-inf are the outermost decimals."""
    return fraction_of(ordinal_of(value))


class RankedRows:
    """Rows by rank as integers in one unit, from windows of one column that may overlap.

    The row map takes each row by itself to a rational, never swaps two rows, and may tie them. Without rows there is nothing
    in the windows, and every rank lies beyond the table.
    """

    raw_rows: int
    """Rows of the column that are not missing."""
    unit: Fraction
    """Every row in the windows is an integer times this."""

    def __init__(self, windows: Sequence[OrderWindow], row_map: Callable[[Number], Fraction] = decimal_of) -> None:
        raw_spans: dict[int, tuple[int, Fraction]] = {}  # last rank of a value -> its first rank, its row
        for window in windows:
            raw_last = window.raw_below
            # a 32-bit 12.99 must not become a double before the row map has read it
            raw_values = window.raw_values if window.raw_values.dtype == np.float32 else window.raw_values.tolist()
            for value, count in zip(raw_values, window.raw_counts.tolist(), strict=True):
                raw_first, raw_last = raw_last + 1, raw_last + count
                if raw_last not in raw_spans:
                    raw_spans[raw_last] = raw_first, row_map(value)
        raw_divisor = math.lcm(*(row.denominator for _, row in raw_spans.values()))
        self.raw_rows = windows[0].raw_rows
        self.unit = Fraction(1, raw_divisor)
        self._raw_lasts = sorted(raw_spans)
        self._raw_firsts = [raw_spans[last][0] for last in self._raw_lasts]
        self._raw_units = [int(raw_spans[last][1] * raw_divisor) for last in self._raw_lasts]

    def at(self, rank: int) -> int:
        """The row of a rank in units; -BEYOND for a rank below 1, +BEYOND for one above the number of rows."""
        if rank < 1:
            return -BEYOND
        if rank > self.raw_rows:
            return BEYOND
        index = bisect.bisect_left(self._raw_lasts, rank)
        if index == len(self._raw_lasts) or rank < self._raw_firsts[index]:
            raise IndexError("no window covers a rank that was read: ask for a window with more steps.")
        return self._raw_units[index]

    def value(self, rank: int) -> Fraction:
        """The exact row of a rank that the table has."""
        return self.at(rank) * self.unit

    def floor_units(self, width: Fraction) -> int:
        """The most units that fit in `width`: a difference of rows is more than `width` exactly if it is more than these."""
        return math.floor(width / self.unit)

    def ceil_units(self, width: Fraction) -> int:
        """The fewest units that cover `width`: a difference of rows is less than `width` exactly if it is less than these."""
        return math.ceil(width / self.unit)
