"""Broken twins of the ends of intervals: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from dpstats.statistics.universal.ends import End, draw_ends
from dpstats.statistics.universal.order import COINS, LINE, Order, Part, Place


def unshared_ends(order: Order, places: Sequence[Place], wanted: Sequence[End], epsilon: Fraction) -> dict[End, int]:
    """The ends. Mistake: every end spends all of epsilon, as if no two of them were drawn from the same rows."""
    return {end: draw_ends(order, places, [end], epsilon)[end] for end in wanted}


def free_place(order: Order, ordinal: int, target: Fraction, slope: Fraction) -> Place:
    """A place among the rows of a decimal. Mistake: the cell of the row at the target itself, without a draw."""
    group, raw_below = order.count_group(ordinal)
    start, width = order.span(ordinal)
    rank = min(max(math.floor(target), raw_below), raw_below + max(group.raw_count - 1, 0))
    for cell in order.cells(group, raw_below, rank, rank + 1) if group.raw_count else []:
        return Place(start + cell.coin * width, ordinal, cell.raw_below)
    return Place(start, ordinal, raw_below)


def overlapping_side(order: Order, place: Place, upward: bool) -> Part:
    """The rows above (or below) a place. Mistake: the rows of its decimal are on both, which then cost twice."""
    group, raw_below = order.count_group(place.ordinal)
    start, width = order.span(place.ordinal)
    if upward:
        return Part(start, LINE, raw_below, order.raw_rows)
    return Part(0, start + COINS * width, 0, raw_below + group.raw_count)
