"""A bracket: two values that hold the wanted order statistics between them, with exact counts around them.

Its edges may move inward while rows go by: those that it lets go are counted, so that what it tells stays exact.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.piles import Pile
from dpstats.engines.exact.runs import Runs
from dpstats.engines.exact.samples import Sample
from dpstats.foundations.summaries import OrderWindow

UNLIMITED = 1 << 62
CLOSE = 2.0**-44
"""The relative distance of what is close to an edge: more than half a step of decimals of 15 digits."""


class Bracket:
    """Values `low` <= `high`, and what a pass over the rows finds below, at, between and above them.

    Rows strictly between are collected, rows at an edge only counted: `low` and `high` are rows of a sample a few ranks
    apart, so what lies strictly between them is little, however heavy the ties. Rows so close outside of a tied edge that they
    have the same decimal of 15 digits are counted, too: where there are none, the tie is known to be all of that decimal.
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
        self._near_low: int | None = 0 if self._point or self._count_low else None
        self._near_high: int | None = 0 if self._point or self._count_high else None
        self._inside = pile

    @classmethod
    def whole(cls, dtype: np.dtype[Any]) -> Bracket:
        """The bracket around all rows of a number type, which is to be closed in as they go by."""
        nothing = Sample.of_rows(np.empty(0, dtype=dtype), 0)
        return cls(nothing, (-1, 0), Pile(UNLIMITED))

    @property
    def collected(self) -> int:
        """Rows found strictly between the edges."""
        return self._inside.size

    def fresh(self) -> Bracket:
        """The same bracket before any block was taken in."""
        bracket = copy(self)
        bracket._above_low = bracket._under_high = bracket._at_low = bracket._at_high = 0
        bracket._near_low = None if self._near_low is None else 0
        bracket._near_high = None if self._near_high is None else 0
        bracket._inside = self._inside.fresh()
        return bracket

    def absorb(self, other: Bracket) -> None:
        """Take in what the same bracket found in other rows; their pile belongs to both from now on."""
        self._above_low += other._above_low
        self._under_high += other._under_high
        self._at_low += other._at_low
        self._at_high += other._at_high
        self._near_low = _both(self._near_low, other._near_low)
        self._near_high = _both(self._near_high, other._near_high)
        self._inside.absorb(other._inside)

    def close_in(self, ranks: tuple[int, int], raw_rows: int) -> None:
        """Move the edges inward to the rows at two ranks of the `raw_rows` taken in, counted from 1; an edge beyond stays."""
        raw_inside = self._inside.rows(self._low.dtype)
        start, end = (rank - 1 - (raw_rows - self._above_low) for rank in ranks)
        places = [place for place in (start, end) if 0 <= place < raw_inside.size]
        if places:
            raw_inside.partition(places)
        low = raw_inside[start] if start in places else self._low
        high = raw_inside[end] if end in places else self._high
        self._cut(low, high, raw_inside)
        lowest, highest = _extremes(self._low.dtype)  # which are counted always: there all rows on that side are known
        self._count_at_edges(
            self._count_low and (self._at_low > 1 or self._low == lowest),
            self._count_high and (self._at_high > 1 or self._high == highest),
        )

    def meet(self, other: Bracket) -> bool:
        """Take in what a bracket with other edges found in other rows, between the inner edges of both; False if there is none.

        The other one is used up.
        """
        low, high = max(self._low, other._low), min(self._high, other._high)
        for bracket in (self, other):
            if low > high or (bracket._low < bracket._high and (low == bracket._high or high == bracket._low)):
                return False
            bracket._cut(low, high, bracket._inside.rows(low.dtype))
        self.absorb(other)
        self._count_at_edges(self._count_low and other._count_low, self._count_high and other._count_high)
        return True

    def _cut(self, low: Any, high: Any, raw_inside: NDArray[Any]) -> None:
        """Move the edges to two values, each strictly between them or where it was; `raw_inside` is what the pile held."""
        old_low, old_high = self._low, self._high
        if low != old_low:
            self._low, self._count_low = low, True
            self._at_low = int(np.count_nonzero(raw_inside == low))
            self._above_low -= int(np.count_nonzero(raw_inside <= low))
            beyond = _beyond(low, upward=False)
            self._near_low = int(np.count_nonzero((raw_inside > beyond) & (raw_inside < low))) if beyond >= old_low else None
        if high != old_high:
            self._high, self._count_high = high, True
            self._at_high = int(np.count_nonzero(raw_inside == high))
            self._under_high -= int(np.count_nonzero(raw_inside >= high))
            beyond = _beyond(high, upward=True)
            self._near_high = int(np.count_nonzero((raw_inside > high) & (raw_inside < beyond))) if beyond <= old_high else None
        self._point = bool(low == high)
        if self._point:
            self._count_low = self._count_high = False
        self._inside = self._inside.fresh()
        self._inside.add(raw_inside[(raw_inside > low) & (raw_inside < high)])

    def _count_at_edges(self, low: bool, high: bool) -> None:
        """Whether to count rows at the edges from now on, and those close to them."""
        self._count_low, self._count_high = low, high
        self._at_low *= low
        self._at_high *= high
        self._near_low = self._near_low if low or self._point else None
        self._near_high = self._near_high if high or self._point else None

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
        if self._near_low is not None and _has_near(self._low):
            self._near_low += int(np.count_nonzero(np.less(block, self._low, out=mask)))
            self._near_low -= int(np.count_nonzero(np.less_equal(block, _beyond(self._low, upward=False), out=mask)))
        if self._near_high is not None and _has_near(self._high):
            self._near_high += int(np.count_nonzero(np.greater(block, self._high, out=mask)))
            self._near_high -= int(np.count_nonzero(np.greater_equal(block, _beyond(self._high, upward=True), out=mask)))

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

    def tail(self, *, upward: bool) -> tuple[Any, NDArray[Any]] | None:
        """The edge of a bracket that has no end on one side, and all rows beyond it.

        None where it ends on that side, or where its ties were counted, so that the rows are not there one by one.
        """
        dtype = self._low.dtype
        end = _extremes(dtype)[upward]
        if (self._high if upward else self._low) != end or not (self._count_high if upward else self._count_low):
            return None
        if self._inside.is_counted:
            return None
        raw_ends = np.full(self._at_high if upward else self._at_low, end, dtype=dtype)
        return (self._low if upward else self._high), np.concatenate([self._inside.rows(dtype), raw_ends])

    def count_below(self, value: Any, raw_rows: int) -> int | None:
        """The rows strictly below a value of the column's type, or None where the value lies outside of what was counted."""
        if value == self._high:
            return self._under_high
        upto_low = raw_rows - self._above_low
        if self._low < value < self._high:
            return upto_low + self._inside.count_below(value)
        if value > self._high:
            known = self._near_high == 0 and value <= _beyond(self._high, upward=True)
            upto_high = upto_low if self._point else upto_low + self._inside.size + self._at_high
            return upto_high if known else None
        known = value == self._low or (self._near_low == 0 and value > _beyond(self._low, upward=False))
        if self._point:
            return self._under_high if known else None
        return upto_low - self._at_low if known and self._count_low else None


def _both(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def _has_near(edge: Any) -> bool:
    """Whether there are values of the type that are close to an edge."""
    return edge.dtype.kind == "f" and bool(np.isfinite(edge))


def _beyond(edge: Any, *, upward: bool) -> Any:
    """The next value that no longer counts as close to an edge; for whole numbers the next one, if the type has one."""
    lowest, highest = _extremes(edge.dtype)
    if edge == (highest if upward else lowest):
        return edge
    if edge.dtype.kind != "f":
        return edge + edge.dtype.type(1) if upward else edge - edge.dtype.type(1)
    with np.errstate(all="ignore"):  # beyond the largest numbers lie the infinities
        next_one = np.nextafter(edge, highest if upward else lowest)
        step = max(abs(edge) * edge.dtype.type(CLOSE), np.finfo(edge.dtype).tiny)
        if np.isinf(edge):
            return next_one
        return max(edge + step, next_one) if upward else min(edge - step, next_one)


def _edge(below: int, value: Any, count: int) -> Runs:
    return Runs(below, np.array([value + value.dtype.type(0)]), np.array([count], dtype=np.int64))


def _extremes(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The lowest and the highest value of a number type."""
    if dtype.kind == "f":
        return dtype.type(-np.inf), dtype.type(np.inf)
    return dtype.type(np.iinfo(dtype).min), dtype.type(np.iinfo(dtype).max)
