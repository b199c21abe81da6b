"""Ends of intervals: private places a given number of rows to either side of quantiles.

Claim      epsilon-DP for all ends together
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        Released places cut the rows into parts, each row in one of them. An end is a draw from the rows of its part, at a
           fixed distance in rows from the place, or from its last row where it has fewer. One row more moves the target by 0 or
           1, so that the slopes add up to what the draw spends. Several ends in one part share epsilon; parts with different
           rows cost what one does. Where many rows are tied at a released quantile, nobody knows how many of them lie on
           which side of it: there the ends are draws from all rows, by rank, and share epsilon.
Numerics   Exact, as draw.py; how many rows away an end is depends on released numbers only, in floats
Source     ends.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, OrderWindow, WindowRequest
from dpstats.statistics.universal.bands import Band
from dpstats.statistics.universal.beside import (
    EVEN,
    TIED_WEIGHT,
    TYPICAL_WEIGHT,
    Shells,
    shells_around,
    shells_beside,
    stretches_of,
    weight_of_ties,
)
from dpstats.statistics.universal.decimals import LatticeGroups, fraction_of, last_digit, lattice_groups
from dpstats.statistics.universal.draw import CLIP, RankLoss, draw_piece
from dpstats.statistics.universal.line import CutLine
from dpstats.statistics.universal.measure import MIXED, TOTAL, WHOLE, Measure
from dpstats.statistics.universal.order import COINS, LINE, Order, Part, Place
from dpstats.statistics.universal.outward import Beyond, OutwardDraw, draw_outward
from dpstats.statistics.universal.single import Drawn

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
    typical: int | None = None
    """The decimal at that distance, at which rows may well be tied."""


@dataclass(frozen=True)
class EndReach:
    """How far an end lies above (or below) a single released quantile."""

    upward: bool
    rows: int
    scale: Fraction
    """A released distance at which there are many rows beyond the end."""
    typical: int | None = None
    """The decimal at that distance, at which rows may well be tied."""


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


def slopes_by_rank(quantile: Fraction, epsilon: Fraction, upward: bool) -> tuple[Fraction, Fraction]:
    """The slopes over and under a target that is counted from quantile * n of all rows: steeper where one row moves it less."""
    return slopes_of(epsilon / cost_by_rank(quantile), upward)


def cost_by_rank(quantile: Fraction) -> Fraction:
    """What a draw of an end by rank costs whose slopes add up to 1, upward or downward (draw.proof.md, Theorem 1)."""
    inward, outward = INWARD_SHARE, 1 - INWARD_SHARE
    less, more = sorted((quantile, 1 - quantile))
    return max(inward * more, outward * less) + max(outward * more, inward * less)


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
    draws = {
        end: _draw(part, end, order.bands.band(end.released.place.ordinal), epsilon / len(ends))
        for part, ends in by_part.items()
        for end in ends
    }
    return dict(zip(draws, draw_outward(order, list(draws.values())), strict=True))


def _draw(part: Part, end: End | EndReach, home: Band, epsilon: Fraction) -> OutwardDraw:
    """One end from the rows of its part; at the last of them where there are too few."""
    over, under = slopes_of(epsilon, end.upward)
    rows = min(end.rows, part.raw_last - part.raw_first)
    target = Fraction(part.raw_first + rows if end.upward else part.raw_last - rows)
    loss = RankLoss(target, over, under, clip_for(min(over, under)))
    shells = _shells(part.low, part.high, COINS, home, MIXED, end)
    return OutwardDraw(part, loss, home, end.upward, [shells], _tied(home, end))


def draw_ends_beyond(
    order: Order, ordinal: int, parts: Mapping[bool, Part], wanted: Sequence[EndReach], epsilon: Fraction
) -> dict[bool, int]:
    """The ordinals of ends above (True) and below (False) a decimal, counted from its side in the rows beyond it."""
    home = order.bands.band(ordinal)
    draws = [_draw(parts[end.upward], end, home, epsilon) for end in wanted]
    return {end.upward: drawn for end, drawn in zip(wanted, draw_outward(order, draws), strict=True)}


def draw_ends_by_rank(
    column: Column, quantile: Fraction, drawn: Drawn, wanted: Sequence[EndReach], epsilon: Fraction, rng: RandomSource
) -> dict[bool, int]:
    """The ordinals of ends above (True) and below (False) a decimal, or at it, counted from the rank quantile * n of all rows.

    Each is drawn from all decimals on its side of the released one, that one included.
    """
    raw_rows, measure, home = column.count(), drawn.measure, drawn.band
    targets = [quantile * raw_rows + (end.rows if end.upward else -end.rows) for end in wanted]
    slopes = [slopes_by_rank(quantile, epsilon / len(wanted), end.upward) for end in wanted]
    losses = [RankLoss(target, *each, clip_for(min(each))) for target, each in zip(targets, slopes, strict=True)]
    shares = [min(max(target / max(raw_rows, 1), Fraction(0)), Fraction(1)) for target in targets]
    windows = column.order_windows(
        [WindowRequest(*each) for each in zip(shares, (loss.margin() for loss in losses), strict=True)]
    )
    start, stop = measure.span(home.first)[0], sum(measure.span(home.last))
    sides = [Beyond(*((start, TOTAL) if end.upward else (0, stop)), home, end.upward, measure) for end in wanted]
    shells = [_shells(side.low, side.high, 1, home, measure, end) for side, end in zip(sides, wanted, strict=True)]
    every = zip(wanted, losses, windows, lattice_groups(windows), sides, stretches_of(shells, measure), strict=True)
    ordinals = {}
    for end, loss, window, groups, side, stretches in every:
        cut = _cut_at(window, groups, home, end.upward, side)
        _, position = draw_piece(cut.boosted([*stretches, *side.further(_tied(home, end))]), loss, rng)
        ordinals[end.upward] = side.outer_end(position)
    return ordinals


def _cut_at(window: OrderWindow, groups: LatticeGroups, home: Band, upward: bool, side: Beyond) -> CutLine:
    """The line on one side of a released place, that place included, cut at the bands of a window that lie on it."""
    raw_counts, raw_below = groups.raw_counts, window.raw_below
    begin = int(np.searchsorted(groups.ordinals, home.first, side="left")) if upward else 0
    end = len(raw_counts) if upward else int(np.searchsorted(groups.ordinals, home.last, side="right"))
    return CutLine(
        side.low,
        side.high,
        side.marks(groups.ordinals[begin:end], raw_counts[begin:end]),
        raw_below + int(raw_counts[:begin].sum()),
        hidden_below=begin == 0 and raw_below > 0,
        hidden_above=end == len(raw_counts) and window.raw_above > 0,
    )


def _shells(low: int, high: int, factor: int, home: Band, measure: Measure, end: End | EndReach) -> Shells:
    """Further public mass for the draw of an end beside a released place; of whole numbers none where there are none.

    Places that fell together tell no scale: then the last digit is a likely one.
    """
    scale, weights = end.scale, EVEN
    place = home.last if end.upward else home.first
    if not scale:
        return shells_around(low, high, place, end.upward, width_of(home), factor)
    if measure is WHOLE:
        scale = max(scale, Fraction(1))
        weights = {exponent: weight for exponent, weight in EVEN.items() if scale * Fraction(2) ** exponent >= 1}
    return shells_beside(low, high, factor, place, scale, end.upward, weights, weight_of_ties(place))


def _tied(home: Band, end: End | EndReach) -> dict[int, Fraction]:
    """Where rows may well be tied: at the released place, whose shells have mass for a single decimal, and at the typical one."""
    tied = {home.first: TIED_WEIGHT} if home.first < home.last else {}
    return tied if end.typical is None else {**tied, end.typical: TYPICAL_WEIGHT}


def width_of(home: Band) -> Fraction:
    """How far the decimals reach that a released place stands for; of a single one its last digit, which is a likely scale."""
    return last_digit(home.first) if home.first == home.last else fraction_of(home.last) - fraction_of(home.first)
