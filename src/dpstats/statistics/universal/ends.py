"""Ends of intervals: private places a given number of rows to either side of released quantiles.

Claim      epsilon-DP for all ends together
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        Released places cut the rows into parts, each row in one of them. An end is a draw from the rows of its part, at a
           fixed distance in rows from the place, or from its last row where it has fewer. One row more moves the target by 0 or
           1, so that the slopes add up to what the draw spends. Several ends in one part share epsilon; parts with different
           rows cost what one does.
Numerics   Exact, as draw.py; how many rows away an end is depends on released numbers only, in floats
Source     ends.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from dpstats.statistics.universal.beside import shells_beside, weight_of_ties
from dpstats.statistics.universal.draw import CLIP, RankLoss
from dpstats.statistics.universal.order import COINS, LINE, Draw, Order, Part, Place, draw_in_parts

LEAST_CLIP, MOST_CLIP, FEW_ROWS = Fraction(14), CLIP, 400
"""Nats that a draw can lose at most: the fewest that keep it near its rows, or as many as so few rows have."""
NATS_BEYOND = 4
"""An end is drawn only where the rows beyond it, times the outward slope of its draw, come to this many nats; else it might
be anywhere."""
INWARD_SHARE = Fraction(65, 100)
"""How much steeper an end's draw is inward: an interval that is too long does less harm than one that is too short."""
CAUTION = 0.6
"""The share of the admissible misses that is aimed at."""
_PRECISION = 1e-4
"""How much further than needed an interval may reach because a number of rows is not computed more closely."""
_STEPS = 100


@dataclass(frozen=True)
class Released:
    """A quantile that has been released, with its place, and the variance of its rank that the noise gave it."""

    quantile: Fraction
    place: Place
    noise: float


@dataclass(frozen=True)
class End:
    """An end to be drawn: `rows` rows above (or below) a released place."""

    released: Released
    upward: bool
    rows: int
    scale: Fraction
    """A released distance at which there are many rows beyond the end."""


def rows_to_end(quantile: Fraction, rows: float, noise: float, epsilon: float, level: float) -> float:
    """How many rows beyond a released quantile its interval must reach; its end's draw spends `epsilon`, or is no draw at 0.

    The population's quantile has a rank that is about normal around quantile * rows; the place misses that by its own noise, and
    the end's draw misses its target: inward less often than outward, by an exponential law on either side.
    """
    return _rows_to_end(math.sqrt(float(quantile * (1 - quantile)) * rows + noise), epsilon, level)


@lru_cache(maxsize=4096)
def _rows_to_end(spread: float, epsilon: float, level: float) -> float:
    root = max(spread, 1e-9) * math.sqrt(2)
    misses = [miss / root for miss in _misses(epsilon)]
    aim = CAUTION * (1 - level) * len(misses)
    low, high = 0.0, 10 * spread + (20 / epsilon if epsilon else 0.0)
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        place = middle / root
        low, high = (middle, high) if sum([math.erfc(place + miss) for miss in misses]) > aim else (low, middle)
    return high


def can_be_drawn(rows_beyond: float, epsilon: float) -> bool:
    """Whether `rows_beyond` rows beyond an end keep its draw near the rows."""
    return rows_beyond * float(1 - INWARD_SHARE) * epsilon >= NATS_BEYOND


def clip_for(slope: Fraction) -> Fraction:
    """The most nats that the draw of an end may lose, so that it reads few rows."""
    return min(MOST_CLIP, max(LEAST_CLIP, FEW_ROWS * slope))


def slopes_of(epsilon: Fraction, upward: bool) -> tuple[Fraction, Fraction]:
    """The slopes over and under the target of a draw that should not fall short of it."""
    outward, inward = epsilon * (1 - INWARD_SHARE), epsilon * INWARD_SHARE
    return (outward, inward) if upward else (inward, outward)


@lru_cache(maxsize=256)
def _misses(epsilon: float) -> tuple[float, ...]:
    """The error of a draw in rows (below 0: it falls short of its target), at equally likely places of its law."""
    if not epsilon:
        return (0.0,)
    inward, outward = float(INWARD_SHARE) * epsilon, float(1 - INWARD_SHARE) * epsilon
    short = outward / (inward + outward)
    steps = [(step + 0.5) / _STEPS for step in range(_STEPS)]
    places = [
        math.log(step / short) / inward if step < short else -math.log((1 - step) / (1 - short)) / outward for step in steps
    ]
    return tuple(places)


def draw_ends(order: Order, places: Sequence[Place], wanted: Sequence[End], epsilon: Fraction) -> dict[End, int]:
    """The ordinal of each wanted end; `places` are all released places, whether somebody wants an end there or not."""
    cuts = sorted({place.start: place.raw_below for place in places}.items())
    edges = [(0, 0), *cuts, (LINE, order.raw_rows)]
    parts = [Part(low, high, first, last) for (low, first), (high, last) in pairwise(edges)]
    below = {start: index for index, (start, _) in enumerate(cuts)}
    by_part: dict[Part, list[End]] = {}
    for end in wanted:
        part = parts[below[end.released.place.start] + end.upward]
        by_part.setdefault(part, []).append(end)
    draws = {end: _draw(part, end, epsilon / len(ends)) for part, ends in by_part.items() for end in ends}
    return {end: place.ordinal for end, place in zip(draws, draw_in_parts(order, list(draws.values())), strict=True)}


def _draw(part: Part, end: End, epsilon: Fraction) -> Draw:
    """One end from the rows of its part; at the last of them where there are too few."""
    over, under = slopes_of(epsilon, end.upward)
    rows = min(end.rows, part.raw_last - part.raw_first)
    target = Fraction(part.raw_first + rows if end.upward else part.raw_last - rows)
    loss = RankLoss(target, over, under, clip_for(min(over, under)))
    place = end.released.place.ordinal
    return Draw(
        part, loss, shells_beside(part.low, part.high, COINS, place, end.scale, end.upward, place_weight=weight_of_ties(place))
    )
