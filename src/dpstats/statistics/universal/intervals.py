"""Universal quantiles with intervals: the quantiles first, then the ends of their intervals (ends.py).

Claim      epsilon-DP for quantiles and ends together
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        A noisy number of rows, the quantiles, for a single one its place among equal rows, and the ends: their parts of
           epsilon add up. Which ends are drawn, and how much they get, depends on parameters and the noisy number of rows
Numerics   Exact draws; distances in rows are floats of released numbers
Source     ends.proof.md
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from dpstats.accounting.groups import row_epsilon, steps_between
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column, WindowRequest, expect_windows
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.universal.beside import shells_around
from dpstats.statistics.universal.decimals import float_of, fraction_of, last_digit
from dpstats.statistics.universal.draw import RankLoss, symmetric_slope
from dpstats.statistics.universal.ends import (
    End,
    EndReach,
    Released,
    can_be_drawn,
    clip_for,
    cost_by_rank,
    draw_ends,
    draw_ends_beyond,
    draw_ends_by_rank,
    rows_to_end,
    slopes_by_rank,
)
from dpstats.statistics.universal.grain import grain_reach
from dpstats.statistics.universal.limits import Share
from dpstats.statistics.universal.many import draw_places, likely_windows
from dpstats.statistics.universal.measure import MIXED, WHOLE
from dpstats.statistics.universal.order import COINS, LINE, Draw, Order, Part, Place, draw_in_parts
from dpstats.statistics.universal.single import Drawn, draw_with_measure
from dpstats.statistics.universal.tails import ENOUGH_NATS, TAIL, draw_tail_with_measure, tail_noise

ROWS_SHARE = Fraction(30, 1000)
SCALE = Share(45, Fraction(3, 100), Fraction(15, 100))
ENDS = Share(60, Fraction(10, 100), Fraction(35, 100))
AS_SAMPLING = 12
"""An end's noise is about half as large as sampling error when its share is this over epsilon times the root of the rows."""
MOST_DECIMALS, MOST_ON_GRAIN, FINEST_WIDTH = 3, 1e9, 0.3
"""Values with so many decimals at most may tell the grain of the rows, where the interval is not much narrower than it."""
CLEARLY = Fraction(3, 2)
FEW_DIGITS = 1000
"""A decimal that is less than so many times the power of ten of its last digit has few digits: three."""
MOST_UNLIKE = 4
"""How many times as large as the scale on one side of a quantile the other one is taken to be at most."""
ROOM_FOR_END = 0.7
"""An end is drawn between two released quantiles if it takes no more than this part of the rows between them."""


@dataclass(frozen=True)
class Bounded:
    """A released quantile between the ends of its interval; an end that cannot be had at this epsilon is infinite."""

    value: float
    low: float
    high: float
    noisy_rows: int = 0
    """About how many rows there are."""
    whole: bool = False
    """Whether the rows around it are likely to be whole numbers."""

    @classmethod
    def around(cls, value: int, low: int | None, high: int | None, noisy_rows: int = 0) -> Bounded:
        """From ordinals; None for an end that was not drawn."""
        middle = float_of(value)
        return cls(
            middle,
            -math.inf if low is None else min(middle, float_of(low)),
            math.inf if high is None else max(middle, float_of(high)),
            noisy_rows,
        )

    def on_grain(self, decimals: int | None = None) -> Bounded:
        """With ends at the next multiples of 10**-decimals, by default the value's last decimal, if that is the likely grain.

        Between two neighbouring values of a column of whole numbers there is no row, so that an end there may as well be either.
        """
        is_known = self.whole or decimals is not None
        if decimals is None:
            few = (digits for digits in range(MOST_DECIMALS + 1) if _has_decimals(self.value, digits))
            decimals = 0 if self.whole else next(few, None)
        if decimals is None or abs(self.value) >= MOST_ON_GRAIN:
            return self
        steps = 10**decimals
        width = min(self.high, self.value + 1 / steps) - max(self.low, self.value - 1 / steps)
        if width * steps < FINEST_WIDTH and not is_known:
            return self
        low, high = (end * steps if math.isfinite(end) else end for end in (self.low, self.high))
        low = math.floor(low) / steps if math.isfinite(low) else low
        high = math.ceil(high) / steps if math.isfinite(high) else high
        return replace(self, low=min(low, self.low), high=max(high, self.high))


def common_decimals(bounds: Sequence[Bounded]) -> int | None:
    """The decimals of the likely grain of the rows: the fewest that half of the values and ends of two quantiles or more have, or
    both ends of one of them; None for more than MOST_DECIMALS.

    Zeros do not count, because they are common where rows have no grain.
    """
    numbers = [number for each in bounds for number in (each.low, each.value, each.high) if math.isfinite(number) and number]
    ends = [(each.low, each.high) for each in bounds if each.low < each.high and math.isfinite(each.high - each.low)]
    for digits in range(MOST_DECIMALS + 1):
        count = sum(_has_decimals(number, digits) for number in numbers)
        both = any(low and high and _has_decimals(low, digits) and _has_decimals(high, digits) for low, high in ends)
        if count >= max(2, len(numbers) / 2) or both:
            return digits
    return None


def _has_decimals(number: float, digits: int) -> bool:
    return round(number, digits) == number


def draw_bounded(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, level: float, rng: RandomSource
) -> Bounded:
    """One quantile with the ends of its interval."""
    halves = steps_between(neighbors, 1)
    expect_windows(column, _likely_windows(quantile, epsilon / halves))
    order = Order(column, rng)
    noisy_rows = count_rows(order.raw_rows, epsilon / halves, rng)
    beyond = {upward: float((1 - quantile if upward else quantile) * noisy_rows) for upward in (False, True)}
    thin = 2 * Fraction(min(beyond.values()))
    ends_share, scale_share = _ends_share(thin, epsilon / halves), SCALE.of(thin * epsilon / halves)
    rest = 1 - ROWS_SHARE - ends_share - scale_share
    ends_epsilon, scale_epsilon = epsilon * ends_share / halves, epsilon * scale_share / halves
    noise = _rank_noise(quantile, noisy_rows, epsilon * rest, neighbors)
    rows = rows_to_end(quantile, noisy_rows, noise, float(ends_epsilon), level)
    sides = [upward for upward in beyond if can_be_drawn(beyond[upward] - rows, float(ends_epsilon))]
    draw = draw_tail_with_measure if min(quantile, 1 - quantile) < TAIL else draw_with_measure
    drawn = draw(column, quantile, epsilon * (rest if sides else 1 - ROWS_SHARE), neighbors, rng)
    ordinal = drawn.ordinal
    if not sides:
        return Bounded.around(ordinal, None, None, noisy_rows)
    parts = order.rows_beyond(ordinal)
    scales = scales_within(order, ordinal, parts, scale_epsilon)
    by_rank = float(ends_epsilon / len(sides) / cost_by_rank(quantile))
    rows_by_rank = rows_to_end(quantile, noisy_rows, 0.0, by_rank, level)
    fewer = rows_by_rank < rows + rows_tied(ordinal, beyond, scales) / 2
    wide = _at_least(scales)
    if fewer and all(can_be_drawn(beyond[upward] - rows_by_rank, by_rank) for upward in sides):
        wanted = [EndReach(upward, math.ceil(rows_by_rank), wide[upward]) for upward in sides]
        ends = draw_ends_by_rank(column, quantile, drawn, wanted, ends_epsilon, rng)
    else:
        wanted = [EndReach(upward, math.ceil(rows), wide[upward]) for upward in sides]
        ends = draw_ends_beyond(order, ordinal, parts, wanted, ends_epsilon)
    bounded = Bounded.around(ordinal, ends.get(False), ends.get(True), noisy_rows)
    return replace(bounded, whole=seems_whole(drawn, scales))


def seems_whole(drawn: Drawn, scales: Mapping[bool, Fraction]) -> bool:
    """Whether the rows around a quantile are likely to be whole numbers.

    The noisy look at them says so, or leaves it open while two are whole of the quantile and the typical places on either side.
    """
    middle = fraction_of(drawn.ordinal)
    typical = [middle, *(middle + scale if upward else middle - scale for upward, scale in scales.items())]
    return drawn.measure is WHOLE or (drawn.measure is MIXED and sum(place.denominator == 1 for place in typical) >= 2)


def rows_tied(ordinal: int, beyond: Mapping[bool, float], scales: Mapping[bool, Fraction]) -> float:
    """About how many rows may share a decimal, if the rows beside it lie on multiples of its last digit that is not 0.

    Half of the rows `beyond` it are within a scale of it. Where it has few digits all rows may have it, and none tells a scale.
    """
    grain = last_digit(ordinal)
    if abs(fraction_of(ordinal)) < FEW_DIGITS * grain or not grain:
        return math.inf
    return max(
        beyond[upward] / 2 * float(min(grain / scale, Fraction(1))) if scale else beyond[upward]
        for upward, scale in scales.items()
    )


def _at_least(scales: Mapping[bool, Fraction]) -> dict[bool, Fraction]:
    """Scales, none of them much smaller than the other one.

    A draw whose scale is too small does not find its rows, while one whose scale is too large hardly suffers.
    """
    least = max(scales.values()) / MOST_UNLIKE
    return {upward: max(scale, least) for upward, scale in scales.items()}


def _rank_noise(quantile: Fraction, noisy_rows: int, epsilon: Fraction, neighbors: Neighbors) -> float:
    """The variance that its draw gives to the rank of a quantile; of a tail's draw where rows beyond are not clearly enough."""
    single = 2 / float(symmetric_slope(quantile, epsilon, neighbors)) ** 2
    beyond = min(quantile, 1 - quantile)
    if beyond >= TAIL or beyond * noisy_rows * row_epsilon(epsilon, neighbors) >= CLEARLY * ENOUGH_NATS:
        return single
    return max(single, tail_noise(row_epsilon(epsilon, neighbors)))


def draw_several_bounded(
    column: Column,
    quantiles: Sequence[Fraction],
    epsilon: Fraction,
    neighbors: Neighbors,
    level: float,
    rng: RandomSource,
    root_share: Fraction | None = None,
) -> dict[Fraction, Bounded]:
    """Several quantiles, ascending and different, with the ends of their intervals.

    Where quantiles lie close together, one of them serves as the end of another.
    """
    total = row_epsilon(epsilon, neighbors)
    expect_windows(column, likely_windows(tuple(quantiles), total * (1 - ROWS_SHARE - ENDS.most), root_share))
    order = Order(column, rng)
    noisy_rows = count_rows(order.raw_rows, total, rng)
    outer = min(quantiles[0], 1 - quantiles[-1])
    ends_share = _ends_share(2 * outer * noisy_rows, total)
    points = total * (1 - ROWS_SHARE - ends_share)
    ends_epsilon = total * ends_share
    noise = 8 / 3 * (len(quantiles).bit_length() / float(points)) ** 2  # of the last level, and what is left of those before it
    layout = Layout(quantiles, noisy_rows, noise, float(ends_epsilon), level)
    places = draw_places(order, quantiles, points, root_share)
    drawn = draw_ends(order, list(places.values()), layout.ends_to_draw(places), ends_epsilon)
    ordinals = {(end.released.quantile, end.upward): ordinal for end, ordinal in drawn.items()}

    def end_of(quantile: Fraction, upward: bool) -> int | None:
        serving = layout.serving(quantile, upward)
        if serving is not None and serving != quantile:
            return places[serving].ordinal
        return ordinals.get((quantile if serving == quantile else layout.outermost(upward), upward))

    return {
        quantile: Bounded.around(places[quantile].ordinal, end_of(quantile, False), end_of(quantile, True), noisy_rows)
        for quantile in quantiles
    }


@dataclass(frozen=True)
class Layout:
    """Which quantile serves as the end of which; decided before any of them is drawn."""

    quantiles: Sequence[Fraction]
    noisy_rows: int
    noise: float
    epsilon: float
    """What an end may spend that has a part of the rows for itself."""
    level: float

    def outermost(self, upward: bool) -> Fraction:
        """The last quantile in a direction."""
        return self.quantiles[-1] if upward else self.quantiles[0]

    def serving(self, quantile: Fraction, upward: bool) -> Fraction | None:
        """The quantile that ends an interval: itself where its end is drawn beside it; None for an end beyond the outermost."""
        place = bisect_left(self.quantiles, quantile)
        further = self.quantiles[place + 1 :] if upward else self.quantiles[:place][::-1]
        if not further:
            return quantile
        if self._drawn_rows(quantile, upward) <= ROOM_FOR_END * self._between(quantile, further[0]):
            return quantile
        needed = self._rows(quantile, 0.0, 2 * self.noise)
        return next((other for other in further if self._between(quantile, other) >= needed), None)

    def ends_to_draw(self, places: dict[Fraction, Place]) -> list[End]:
        """The ends that must be drawn and can be: enough rows lie beyond them."""
        ends = []
        for upward in (False, True):
            outermost = self.outermost(upward)
            for quantile in self.quantiles:
                if self.serving(quantile, upward) != quantile:
                    continue
                rows = self._drawn_rows(quantile, upward)
                beyond = self.noisy_rows * float(1 - quantile if upward else quantile)
                if quantile != outermost or can_be_drawn(beyond - rows, self.epsilon):
                    released = Released(quantile, places[quantile], self.noise)
                    ends.append(End(released, upward, math.ceil(rows), _scale(quantile, places, upward)))
        return ends

    def _drawn_rows(self, quantile: Fraction, upward: bool) -> float:
        """The number of rows from a quantile to an end that is drawn beside it."""
        return self._rows(quantile, self.epsilon / self._ends_beside(quantile, upward), self.noise)

    def _rows(self, quantile: Fraction, epsilon: float, noise: float) -> float:
        return rows_to_end(quantile, self.noisy_rows, noise, epsilon, self.level)

    def _ends_beside(self, quantile: Fraction, upward: bool) -> int:
        """How many ends may share the part of the rows beside a quantile: two, if no pivot lies between it and the next."""
        return 1 if quantile == self.outermost(upward) else 2

    def _between(self, one: Fraction, other: Fraction) -> float:
        return float(abs(one - other)) * self.noisy_rows


def draw_scales(order: Order, place: Place, sides: Sequence[bool], epsilon: Fraction) -> list[Fraction]:
    """The distances from a place to a private median of the rows above it (True) and below it (False)."""
    return list(
        scales_within(order, place.ordinal, {upward: side_of(order, place, upward) for upward in sides}, epsilon).values()
    )


def scales_within(order: Order, ordinal: int, parts: Mapping[bool, Part], epsilon: Fraction) -> dict[bool, Fraction]:
    """The distances from a decimal to a private median of the rows of a part above it (True), and of one below it (False)."""
    slope = symmetric_slope(Fraction(1, 2), epsilon, Neighbors.ADD_REMOVE)
    draws = []
    for upward, part in parts.items():
        loss = RankLoss(Fraction(part.raw_first + part.raw_last, 2), slope, slope, clip_for(slope))
        draws.append(Draw(part, loss, shells_around(part.low, part.high, ordinal, upward, factor=COINS)))
    typical = zip(parts, draw_in_parts(order, draws), strict=True)
    return {upward: abs(fraction_of(place.ordinal) - fraction_of(ordinal)) for upward, place in typical}


@lru_cache(maxsize=64)
def _likely_windows(quantile: Fraction, epsilon: Fraction) -> list[WindowRequest]:
    """The windows that the draws of a long column will ask for, with room for where the quantile is drawn, and its ends."""
    slope = symmetric_slope(Fraction(1, 2), epsilon * SCALE.least, Neighbors.ADD_REMOVE)
    over, under = slopes_by_rank(quantile, epsilon * ENDS.least / 2, upward=True)
    clip = clip_for(min(over, under))
    around = grain_reach(epsilon / 2) + 2 * RankLoss(quantile, over, under, clip).margin()
    beside = around // 2 + RankLoss(quantile, slope, slope, clip_for(slope)).margin()
    sides = [WindowRequest(share, beside) for share in (quantile / 2, (1 + quantile) / 2)]
    return [WindowRequest(quantile, around), *sides]


def side_of(order: Order, place: Place, upward: bool) -> Part:
    """The rows above (or below) a place."""
    return Part(place.start, LINE, place.raw_below, order.raw_rows) if upward else Part(0, place.start, 0, place.raw_below)


def _scale(quantile: Fraction, places: dict[Fraction, Place], upward: bool) -> Fraction:
    """The distance from a released quantile to the next one in a direction, or in the other where it is the last."""
    quantiles = sorted(places)
    index = quantiles.index(quantile)
    nearest = quantiles[(index + 1 if index + 1 < len(quantiles) else index - 1) if upward else (index - 1 if index else 1)]
    return abs(fraction_of(places[nearest].ordinal) - fraction_of(places[quantile].ordinal))


def _ends_share(rows: Fraction, epsilon: Fraction) -> Fraction:
    """What ends get: enough not to go astray, and where that is little, so much that their noise is half of sampling error."""
    root = Fraction(math.isqrt(max(1, math.ceil(rows))))
    return max(ENDS.of(rows * epsilon), min(ENDS.most, AS_SAMPLING / (root * epsilon)))


def count_rows(raw_rows: int, epsilon: Fraction, rng: RandomSource) -> int:
    """About how many rows there are, for ROWS_SHARE of epsilon, for one row added or removed."""
    return max(1, raw_rows + int(sample_discrete_laplace(1 / (epsilon * ROWS_SHARE), 1, rng)[0]))
