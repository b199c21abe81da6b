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
    group = order.count_group(ordinal)
    start, width = order.span(ordinal)
    rank = min(max(math.floor(target), group.raw_below), group.raw_below + max(int(group.raw_counts[0]) - 1, 0))
    raw_up_to = group.raw_below
    order.toss([group])
    _, (_, coins, raw_counts) = order.cells_of(group)
    for coin, raw_count in zip(coins.tolist(), raw_counts.tolist(), strict=True):
        if raw_up_to + raw_count > rank:
            return Place(start + coin * width, ordinal, raw_up_to)
        raw_up_to += raw_count
    return Place(start, ordinal, group.raw_below)


def overlapping_side(order: Order, place: Place, upward: bool) -> Part:
    """The rows above (or below) a place. Mistake: the rows of its decimal are on both, which then cost twice."""
    group = order.count_group(place.ordinal)
    start, width = order.span(place.ordinal)
    if upward:
        return Part(start, LINE, group.raw_below, order.raw_rows)
    return Part(0, start + COINS * width, 0, group.raw_below + int(group.raw_counts[0]))
