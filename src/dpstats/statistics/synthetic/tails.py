"""Tails: what released counts say of how far the rows of outer codes lie out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.fine_codes import THERE, FineColumn

HEAVY = 2.0
"""The thinning of a power law of index 1, which has no mean."""
LEAST_THINNING = 1.5
"""No tail is taken to thin out more slowly."""


@dataclass(frozen=True)
class OuterTail:
    """What released counts say of the rows of an outer code."""

    distance: float
    """Of its edge from the median."""
    thinning: float
    """How many times as many rows as beyond the edge lie beyond half of this distance."""
    gap: float
    """How far the last two codes with rows are apart."""
    is_there: bool
    """Whether there are more rows than noise gives."""

    @property
    def is_heavy(self) -> bool:
        """Whether it thins out so slowly that it need not have a mean."""
        return self.is_there and self.thinning < HEAVY

    @property
    def excess(self) -> float:
        """By how much its rows exceed the edge in the mean, if it thins out further like exp(-c sqrt(x)), between an exponential
        law and a power; it is taken to reach at least as far as the last two codes with rows are apart."""
        steepness = math.log(max(self.thinning, LEAST_THINNING)) / (1 - math.sqrt(0.5))
        return max(self.distance * (2 / steepness + 2 / steepness**2), self.gap)


NO_TAIL = OuterTail(0.0, math.inf, 0.0, False)


def outer_codes(column: FineColumn) -> tuple[int, int]:
    """The first and the last code of a column of numbers that may hold rows."""
    held = np.flatnonzero(column.may_hold)
    return int(held[0]), int(held[-1])


def tails_of(column: MeasuredColumn) -> tuple[OuterTail, OuterTail]:
    """Those of the lowest and the highest code of a column of numbers that may hold rows; single values have none."""
    counts = np.maximum(column.noisy.noisy_counts[:-1].astype(np.float64), 0.0)
    least = math.sqrt(column.noisy.law.variance)
    edges = np.array([float(edge) for edge in column.fine.edges])
    below = np.add.accumulate(counts)[:-1]
    middle = edges[min(int(np.searchsorted(below, counts.sum() / 2)), edges.size - 1)]
    starts = edges[:-1][counts[1:-1] > THERE * least]
    first, last = outer_codes(column.fine)
    sides = (
        (first, edges[min(first, edges.size - 1)], below, starts[:2]),
        (last, edges[max(last - 1, 0)], counts.sum() - below, starts[-2:]),
    )
    lower, upper = (
        NO_TAIL
        if 0 < code < edges.size and column.fine.is_single(*column.fine.spans()[code])
        else OuterTail(
            abs(float(edge - middle)),
            float(np.interp(edge / 2 + middle / 2, edges, beyond)) / max(float(counts[code]), least),
            float(np.ptp(last_two)) if last_two.size else 0.0,
            bool(counts[code] > THERE * least),
        )
        for code, edge, beyond, last_two in sides
    )
    return lower, upper
