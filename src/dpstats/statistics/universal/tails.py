"""A universal quantile far out in a tail, where too few rows lie beyond it for a single draw.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; CHANGE_ONE is served as one row removed and one added, at half of epsilon
Why        Four steps that add up: a noisy count, to tell whether there are enough rows for a single draw after all; the
           median; the median of the rows strictly beyond it, whose distance is a public scale; and the tail draw itself,
           from the rows beyond the median, with the public mass sharpened at that scale and a steeper slope outward
           (outward + inward slope = epsilon of the step).
Numerics   Exact, as draw.py
Source     draw.proof.md, section on moving targets
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpstats.accounting.groups import row_epsilon
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.universal.beside import shells_beside
from dpstats.statistics.universal.decimals import DIGITS, fraction_of
from dpstats.statistics.universal.draw import RankLoss, symmetric_slope
from dpstats.statistics.universal.measure import MIXED
from dpstats.statistics.universal.order import COINS, LINE, Draw, Order, Part, Place, draw_in_parts
from dpstats.statistics.universal.single import Drawn, draw_with_measure

TAIL = Fraction(1, 8)
"""Quantiles closer than this to 0 or 1 are drawn by `draw_tail_quantile`."""
COUNT_SHARE = Fraction(3, 100)
MEDIAN_SHARE = Fraction(12, 100)
SCALE_SHARE = Fraction(10, 100)
TAIL_SHARE = 1 - MEDIAN_SHARE - SCALE_SHARE
OUTWARD_SHARE = Fraction(7, 10)
ENOUGH_NATS = 24
"""A single draw serves where (rows beyond the quantile) * epsilon reaches this."""
SAFE_NATS = 8
"""The tail draw never aims at fewer than this many nats' worth of rows beyond its target."""


def draw_tail_quantile(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource, digits: int = DIGITS
) -> int:
    """The ordinal of a private quantile with few rows beyond it."""
    return draw_tail_with_measure(column, quantile, epsilon, neighbors, rng, digits).ordinal


def draw_tail_with_measure(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: RandomSource, digits: int = DIGITS
) -> Drawn:
    """A private quantile with few rows beyond it, told to a public number of digits, and the measure that it was drawn by."""
    total = row_epsilon(epsilon, neighbors)
    count_epsilon = total * COUNT_SHARE
    noisy_rows = noisy_count(column.count(), count_epsilon, rng)
    rest = total - count_epsilon
    if min(quantile, 1 - quantile) * noisy_rows * rest >= ENOUGH_NATS:
        return draw_with_measure(column, quantile, rest, Neighbors.ADD_REMOVE, rng, digits)
    upward = quantile > Fraction(1, 2)
    order = Order(column, rng, digits)
    whole = Part(0, LINE, 0, order.raw_rows)
    middle = draw_share(order, whole, Fraction(1, 2), rest * MEDIAN_SHARE)
    scale = _draw_scale(order, middle, upward, rest * SCALE_SHARE)
    return Drawn(_draw_beyond(order, middle, scale, quantile, upward, rest * TAIL_SHARE).ordinal, MIXED, digits)


def safe_rows(epsilon: Fraction) -> int:
    """The fewest rows that a tail draw leaves beyond its target, where the whole quantile spends `epsilon`."""
    return math.ceil(SAFE_NATS / (epsilon * (1 - COUNT_SHARE) * TAIL_SHARE))


def tail_noise(epsilon: Fraction) -> float:
    """The variance that a tail draw gives to its rank, where the whole quantile spends `epsilon`."""
    spent = float(epsilon * (1 - COUNT_SHARE) * TAIL_SHARE)
    return sum(1 / (share * spent) ** 2 for share in (float(OUTWARD_SHARE), float(1 - OUTWARD_SHARE)))


def draw_share(order: Order, part: Part, share: Fraction, epsilon: Fraction) -> Place:
    """A place with `share` of the part's rows below it."""
    slope = symmetric_slope(share, epsilon, Neighbors.ADD_REMOVE)
    loss = RankLoss(part.raw_first + share * (part.raw_last - part.raw_first), slope, slope)
    return draw_in_parts(order, [Draw(part, loss)])[0]


def _draw_scale(order: Order, middle: Place, upward: bool, epsilon: Fraction) -> Fraction:
    """The distance from the released median to a private median of the rows strictly beyond its decimal."""
    beyond = order.rows_beyond(middle.ordinal)[upward]
    if beyond.low == beyond.high:
        return Fraction(0)
    place = draw_share(order, beyond, Fraction(1, 2), epsilon)
    return abs(fraction_of(place.ordinal) - fraction_of(middle.ordinal))


def _draw_beyond(order: Order, middle: Place, scale: Fraction, quantile: Fraction, upward: bool, epsilon: Fraction) -> Place:
    """The tail draw among the rows above (or below) the median's cell."""
    outward, inward = epsilon * OUTWARD_SHARE, epsilon * (1 - OUTWARD_SHARE)
    safe = math.ceil(SAFE_NATS / epsilon)
    if upward:
        part = Part(middle.start, LINE, middle.raw_below, order.raw_rows)
        raw_rows = part.raw_last - part.raw_first
        target = part.raw_last - max(2 * (1 - quantile) * raw_rows, Fraction(min(safe, raw_rows)))
        loss = RankLoss(target, outward, inward)
    else:
        part = Part(0, middle.start, 0, middle.raw_below)
        raw_rows = part.raw_last
        loss = RankLoss(max(2 * quantile * raw_rows, Fraction(min(safe, raw_rows))), inward, outward)
    shells = shells_beside(part.low, part.high, COINS, middle.ordinal, scale, upward)
    return draw_in_parts(order, [Draw(part, loss, shells)])[0]
