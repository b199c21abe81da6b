"""A bracket: two values that hold the wanted order statistics between them, with exact counts around them."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.runs import Runs
from dpstats.engines.exact.samples import Sample
from dpstats.foundations.summaries import OrderWindow


class Bracket:
    """Values `low` <= `high`, and what a pass over the rows finds below, at, between and above them.

    Rows strictly between are collected, rows at an edge only counted: `low` and `high` are rows of a sample a few ranks
    apart, so what lies strictly between them is little, however heavy the ties.
    """

    def __init__(self, sample: Sample, ranks: tuple[int, int], pile: Pile) -> None:
        """The bracket between two ranks of an ordered sample; beyond the sample it ends where the number type ends."""
        start, end = ranks
        lowest, highest = _extremes(sample.raw_rows.dtype)
        self._low = sample.raw_rows[start] if start >= 0 else lowest
        self._high = sample.raw_rows[end] if end < sample.size else highest
        self.expected_share = sample.share_between(self._low, self._high)
        self._point = bool(self._low == self._high)
        self._count_low = not self._point and (start < 0 or sample.is_tied(self._low))
        self._count_high = not self._point and (end >= sample.size or sample.is_tied(self._high))
        self._above_low = 0
        self._under_high = 0
        self._at_low = 0
        self._at_high = 0
        self._inside = pile

    @property
    def collected(self) -> int:
        """Rows found strictly between the edges."""
        return self._inside.size

    def fresh(self) -> Bracket:
        """The same bracket before any block was taken in."""
        bracket = copy(self)
        bracket._above_low = bracket._under_high = bracket._at_low = bracket._at_high = 0
        bracket._inside = self._inside.fresh()
        return bracket

    def absorb(self, other: Bracket) -> None:
        """Take in what the same bracket found in other rows; their pile belongs to both from now on."""
        self._above_low += other._above_low
        self._under_high += other._under_high
        self._at_low += other._at_low
        self._at_high += other._at_high
        self._inside.absorb(other._inside)

    def scan(self, block: NDArray[Any], mask: NDArray[np.bool_], other: NDArray[np.bool_]) -> None:
        """Take one block in; `mask` and `other` are room of its size."""
        self._above_low += int(np.count_nonzero(np.greater(block, self._low, out=mask)))
        self._under_high += int(np.count_nonzero(np.less(block, self._high, out=other)))
        if not self._point:
            mask &= other
            self._inside.add(block[mask])
        if self._count_low:
            self._at_low += int(np.count_nonzero(np.equal(block, self._low, out=mask)))
        if self._count_high:
            self._at_high += int(np.count_nonzero(np.equal(block, self._high, out=mask)))

    def window(self, ranks: tuple[int, int], raw_rows: int) -> OrderWindow | None:
        """The window over those ranks once every block was taken in, or None when one of them lies outside."""
        first, last = ranks
        upto_low = raw_rows - self._above_low
        at_low = upto_low - self._under_high if self._point else self._at_low
        below_low = upto_low - at_low
        upto_inside = upto_low + self._inside.size
        if not below_low < first <= last <= upto_inside + self._at_high:
            return None
        pieces = []
        if first <= upto_low:
            pieces.append(_edge(below_low, self._low, at_low))
        start, stop = max(1, first - upto_low), min(self._inside.size, last - upto_low)
        if start <= stop:
            runs = self._inside.runs(start, stop)
            pieces.append(Runs(upto_low + runs.below, runs.values, runs.counts))
        if last > upto_inside:
            pieces.append(_edge(upto_inside, self._high, self._at_high))
        values = np.concatenate([piece.values for piece in pieces])
        counts = np.concatenate([piece.counts for piece in pieces])
        return OrderWindow(raw_rows, pieces[0].below, values, counts)

    def count_below(self, value: Any, raw_rows: int) -> int | None:
        """The rows strictly below a value of the column's type, or None where the value lies outside of what was counted."""
        if value < self._low or value > self._high:
            return None
        if value == self._high:
            return self._under_high
        if value > self._low:
            return raw_rows - self._above_low + self._inside.count_below(value)
        return raw_rows - self._above_low - self._at_low if self._count_low else None


def _edge(below: int, value: Any, count: int) -> Runs:
    return Runs(below, np.array([value + value.dtype.type(0)]), np.array([count], dtype=np.int64))


def _extremes(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The lowest and the highest value of a number type."""
    if dtype.kind == "f":
        return dtype.type(-np.inf), dtype.type(np.inf)
    return dtype.type(np.iinfo(dtype).min), dtype.type(np.iinfo(dtype).max)
