"""Broken twins of the ends of intervals: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.universal.bands import Band
from dpstats.statistics.universal.decimals import lowest_value_at
from dpstats.statistics.universal.ends import End, EndReach, draw_ends, draw_ends_by_rank
from dpstats.statistics.universal.order import COINS, LINE, Order, Part, Place
from dpstats.statistics.universal.single import Drawn


def unshared_ends(order: Order, places: Sequence[Place], wanted: Sequence[End], epsilon: Fraction) -> dict[End, int]:
    """The ends. Mistake: every end spends all of epsilon, as if no two of them were drawn from the same rows."""
    return {end: draw_ends(order, places, [end], epsilon)[end] for end in wanted}


def unshared_ends_by_rank(
    column: Column, quantile: Fraction, drawn: Drawn, wanted: Sequence[EndReach], epsilon: Fraction, rng: RandomSource
) -> dict[bool, int]:
    """The ends. Mistake: every end spends all of epsilon, as if rows on one side did not move the rank that both count from."""
    return {end.upward: draw_ends_by_rank(column, quantile, drawn, [end], epsilon, rng)[end.upward] for end in wanted}


def rows_from(order: Order, ordinal: int) -> dict[bool, Part]:
    """The rows above and below a decimal. Mistake: those that have it are on both sides, and then cost twice."""
    group = order.count_group(ordinal)
    start, width = order.span(ordinal)
    raw_up_to = group.raw_below + int(group.raw_counts[0])
    return {False: Part(0, start + COINS * width, 0, raw_up_to), True: Part(start, LINE, group.raw_below, order.raw_rows)}


def overlapping_side(order: Order, place: Place, upward: bool) -> Part:
    """The rows above (or below) a place. Mistake: the rows of its decimal are on both, which then cost twice."""
    return rows_from(order, place.ordinal)[upward]


def overlapping_look(order: Order, homes: Sequence[Band], epsilon: Fraction) -> list[int]:
    """Counts of rows at places and beyond. Mistake: those beyond are counted with the rows of places, which then cost twice."""
    assert order.column.dtype is not None
    cuts = [lowest_value_at(place, order.column.dtype) for home in homes for place in (home.first, home.last + 1)]
    raw_below = order.column.counts_below(cuts)
    raw_counts = [raw_below[1], *(up_to - below for below, up_to in zip(raw_below[::2], raw_below[1::2], strict=True))]
    return [noisy_count(raw, epsilon, order.rng) for raw in (*raw_counts, order.raw_rows - raw_below[-2])]
