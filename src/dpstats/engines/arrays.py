"""A column of numbers in memory."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import present_rows, sort_present, stored_rows
from dpstats.engines.exact.brackets import Bracket
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.powers import power_sums
from dpstats.engines.exact.selection import (
    counts_below,
    counts_below_of_sorted,
    covered_ranks,
    windows_by_brackets,
    windows_of_sorted,
)
from dpstats.engines.exact.sums import sum_between
from dpstats.engines.exact.tallies import common_numbers, tally_sorted
from dpstats.foundations.summaries import Clip, LabelCounts, NumberRuns, OrderWindow, WindowRequest

SMALL_ROWS = 1 << 14
"""Rows up to which a sorted copy is the fastest way to a single window."""
PASS_WORK, WINDOW_WORK, CUT_WORK = 4, 8, 1
"""What a pass over the rows costs, and on top of it a window by brackets and a cut to count below."""
PATIENCE = 160
"""Work that a column does without a sorted copy; what is asked beyond it is answered from one, which is kept."""


class ArrayColumn:
    """A column of numbers in memory. The arrays behind it are not copied and must not change while it is in use."""

    def __init__(self, chunks: Sequence[NDArray[Any]], stored: int | None = None) -> None:
        """`chunks` are one or more one-dimensional arrays of one number type in native byte order.

        `stored` is the number of rows where missing ones have been taken out of the chunks.
        """
        self._held = stored_rows(chunks)
        self._stored = self._held if stored is None else stored
        crumbs = len(chunks) > 1 and self._held < len(chunks) * SMALL_ROWS
        self._chunks = [np.concatenate(chunks)] if crumbs else list(chunks)
        self._work = 0
        self._expected: list[WindowRequest] = []
        self._raw_brackets: list[Bracket] = []
        self._raw_rows: int | None = None
        self._raw_sorted: NDArray[Any] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The number type of the column."""
        return self._chunks[0].dtype

    def count(self) -> int:
        """Rows that are not missing."""
        if self._raw_rows is None:
            self._raw_rows = present_rows(self._chunks)
        return self._raw_rows

    def stored(self) -> int:
        """Rows of the table, missing ones included."""
        return self._stored

    def expect_windows(self, requests: Sequence[WindowRequest]) -> None:
        """Let the next pass over many rows collect these windows, too."""
        if self._held > SMALL_ROWS and self._raw_sorted is None:
            self._expected += requests

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests."""
        raw_known = self._known_windows(requests)
        if raw_known is not None:
            return raw_known
        windows = None
        if self._can_pass(WINDOW_WORK * len(requests)):
            expected, self._expected = self._expected, []
            windows = windows_by_brackets(self._chunks, requests, expected=expected, kept=self._raw_brackets)
        return windows_of_sorted(self._sorted(), requests) if windows is None else windows

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it, by exact comparison in the column's own number type."""
        raw_known = self._known_below(cuts)
        if raw_known is not None:
            return raw_known
        if self._can_pass(CUT_WORK * len(cuts)):
            return counts_below(self._chunks, cuts)
        return counts_below_of_sorted(self._sorted(), cuts)

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum in units over the rows strictly between two bounds."""
        return sum_between(self._chunks, low, high, unit)

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of powers of where they lie in a clip, in one pass."""
        return power_sums(self._chunks, clip, degree)

    def tally(self, least: int = 1) -> NumberRuns:
        """Every number that at least `least` rows have, with its count."""
        runs = tally_sorted(self._sorted())
        return NumberRuns(runs.values, runs.counts).of_many(least)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common numbers with their counts."""
        return common_numbers(self._sorted(), how_many)

    def _known_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow] | None:
        """The windows, where earlier passes collected all of them."""
        found = []
        for request in requests if self._raw_brackets else ():
            ranks = covered_ranks(request, self.count())
            windows = (bracket.window(ranks, self.count()) for bracket in self._raw_brackets)
            found.append(next((window for window in windows if window is not None), None))
        windows_found = [window for window in found if window is not None]
        return windows_found if len(windows_found) == len(requests) else None

    def _known_below(self, cuts: Sequence[float | int]) -> list[int] | None:
        """The rows below cuts, where earlier passes tell all of them."""
        raw_counts = []
        for edge in [edge_at(cut, self.dtype) for cut in cuts] if self._raw_brackets else ():
            known = (self.count() if edge is None else bracket.count_below(edge, self.count()) for bracket in self._raw_brackets)
            raw_counts.append(next((count for count in known if count is not None), None))
        raw_found = [count for count in raw_counts if count is not None]
        return raw_found if len(raw_found) == len(cuts) else None

    def _can_pass(self, work: int) -> bool:
        """Whether to pass over the rows rather than sort a copy of them."""
        self._work += PASS_WORK + work
        return self._raw_sorted is None and self._held > SMALL_ROWS and self._work <= PATIENCE

    def _sorted(self) -> NDArray[Any]:
        if self._raw_sorted is None:
            self._raw_sorted = sort_present(self._chunks)
            self._raw_brackets.clear()
        return self._raw_sorted
