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
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.by_unit import rank_stretch, several_stretch
from dpstats.statistics.universal.bands import Band, DigitBands
from dpstats.statistics.universal.beside import shells_around
from dpstats.statistics.universal.bounded import Bounded
from dpstats.statistics.universal.decimals import DIGITS, float_of, fraction_of, last_digit
from dpstats.statistics.universal.draw import RankLoss, symmetric_slope
from dpstats.statistics.universal.ends import (
    INWARD_SHARE,
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
from dpstats.statistics.universal.looks import SCALES_SHARE, TIES_SHARE, Surroundings, disagree, look_around
from dpstats.statistics.universal.many import are_astray, digits_of_several, draw_places, levels_of, likely_windows
from dpstats.statistics.universal.measure import MIXED, WHOLE
from dpstats.statistics.universal.order import COINS, LINE, Order, Part, Place
from dpstats.statistics.universal.outward import OutwardDraw, draw_outward
from dpstats.statistics.universal.single import Drawn, digits_of, draw_with_measure
from dpstats.statistics.universal.tails import ENOUGH_NATS, TAIL, draw_tail_with_measure, tail_noise

EVERY_DIGIT = DigitBands(DIGITS)
ROWS_SHARE = Fraction(30, 1000)
SCALE = Share(45, Fraction(3, 100), Fraction(15, 100))
ENDS = Share(60, Fraction(10, 100), Fraction(35, 100))
AS_SAMPLING = 12
"""An end's noise is about half as large as sampling error when its share is this over epsilon times the root of the rows."""
CLEARLY = Fraction(3, 2)
FEW_DIGITS = 1000
"""A decimal that is less than so many times the power of ten of its last digit has few digits: three."""
STEP_NATS = 8
"""What an end loses between two ties that it should not stop between: bands of the gap outweigh that of the next tie by 3.5 nats,
so that 1 of 90 stops there. With 4 one of three would; with 16 ends pass over ties of 5% of the rows."""
AT_HOME = Fraction(10**10)
"""What a place weighs where its own rows are among those whose scale is drawn: as much as all octaves around it together."""
WITHOUT_SCALE = 3
"""An end beyond places that fell together, so that nothing tells a scale, takes so many times the rows beyond it."""
MOST_UNLIKE = 4
"""How many times as large as the scale on one side of a quantile the other one is taken to be at most."""
ROOM_FOR_END = 0.7
"""An end is drawn between two released quantiles if it takes no more than this part of the rows between them."""


def draw_bounded(
    column: Column, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, level: float, rng: RandomSource
) -> Bounded:
    """One quantile with the ends of its interval."""
    halves = steps_between(neighbors, 1)
    expect_windows(column, _likely_windows(quantile, epsilon / halves))
    noisy_rows = count_rows(column.count(), epsilon / halves, rng)
    beyond = {upward: float((1 - quantile if upward else quantile) * noisy_rows) for upward in (False, True)}
    thin = 2 * Fraction(min(beyond.values()))
    ends_share, scale_share = _ends_share(thin, epsilon / halves), SCALE.of(thin * epsilon / halves)
    rest = 1 - ROWS_SHARE - ends_share - scale_share
    ends_epsilon, scale_epsilon = epsilon * ends_share / halves, epsilon * scale_share / halves
    noise = _rank_noise(quantile, noisy_rows, epsilon * rest, neighbors)
    rows = rows_to_end(quantile, noisy_rows, noise, float(ends_epsilon), level)
    sides = [upward for upward in beyond if can_be_drawn(beyond[upward] - rows, float(ends_epsilon))]
    draw = draw_tail_with_measure if min(quantile, 1 - quantile) < TAIL else draw_with_measure
    value_epsilon = epsilon * (rest if sides else 1 - ROWS_SHARE)
    digits = digits_of(quantile, noisy_rows, value_epsilon, neighbors)
    drawn = draw(column, quantile, value_epsilon, neighbors, rng, digits)
    if not sides:
        return Bounded.around(drawn.band, drawn.ordinal, None, None, noisy_rows)
    sampled = noisy_rows * rank_stretch(column, quantile, float_of(drawn.ordinal), noisy_rows, rng)
    if sampled > noisy_rows:
        rows = rows_to_end(quantile, sampled, noise, float(ends_epsilon), level)
        sides = [upward for upward in sides if can_be_drawn(beyond[upward] - rows, float(ends_epsilon))]
        if not sides:
            return Bounded.around(drawn.band, drawn.ordinal, None, None, noisy_rows)
    order = Order(column, rng, digits)
    parts = order.rows_beyond(drawn.ordinal)
    typical = typical_within(order, drawn.ordinal, parts, scale_epsilon)
    scales = {upward: abs(fraction_of(place) - fraction_of(drawn.ordinal)) for upward, place in typical.items()}
    is_whole = seems_whole(drawn, scales)
    ends: dict[bool, int] = {}
    tied, is_doubtful = rows_tied(drawn, beyond, scales), disagree(scales)
    rows_by_rank = _rows_by_rank(quantile, sampled, ends_epsilon / len(sides), level)
    if is_doubtful or rows_by_rank < rows + tied / 2:
        share = SCALES_SHARE if is_doubtful else TIES_SHARE
        look = look_around(order, [drawn.band], ends_epsilon * share, scales if is_doubtful else None)
        ends_epsilon -= ends_epsilon * share
        ends = {upward: drawn.ordinal for upward in sides if is_at_home(look, 0, quantile, sampled, level, upward)}
        sides = [upward for upward in sides if upward not in ends]
        tied = look.tied(0)
        if is_doubtful:
            scales = look.believed(scales)
            if sides and not any(scales.values()) and not look.is_seen(look.tied(0)):
                return replace(Bounded.around(drawn.band, drawn.ordinal, None, None, noisy_rows), astray=True)
            typical = {upward: place for upward, place in typical.items() if look.is_seen(look.noisy_far[upward])}
    wide = _at_least(scales)
    if sides:
        each = ends_epsilon / len(sides)
        rows = rows_to_end(quantile, sampled, noise, float(ends_epsilon), level)
        rows_by_rank = _rows_by_rank(quantile, sampled, each, level)
        by_rank = each / cost_by_rank(quantile)
        fewer = rows_by_rank < rows + tied / 2
        if fewer and all(can_be_drawn(beyond[upward] - rows_by_rank, float(by_rank)) for upward in sides):
            further = {upward: past_a_step(rows_by_rank, by_rank, tied, beyond[upward]) for upward in sides}
            wanted = [
                EndReach(upward, math.ceil(rows_by_rank + further[upward]), wide[upward], typical.get(upward)) for upward in sides
            ]
            ends |= draw_ends_by_rank(column, quantile, drawn, wanted, ends_epsilon, rng)
        else:
            wanted = [EndReach(upward, math.ceil(rows), wide[upward], typical.get(upward)) for upward in sides]
            ends |= draw_ends_beyond(order, drawn.ordinal, parts, wanted, ends_epsilon)
    bounded = Bounded.around(drawn.band, drawn.ordinal, ends.get(False), ends.get(True), noisy_rows, is_whole)
    leaves = any(not drawn.band.first <= ordinal <= drawn.band.last for ordinal in ends.values())
    return bounded.checked(wide) if any(wide.values()) else replace(bounded, astray=leaves)


def _rows_by_rank(quantile: Fraction, noisy_rows: float, epsilon: Fraction, level: float) -> float:
    """How many rows an end is from the rank of its quantile that is drawn by rank with `epsilon`."""
    return rows_to_end(quantile, noisy_rows, 0.0, float(epsilon / cost_by_rank(quantile)), level)


def is_at_home(look: Surroundings, place: int, quantile: Fraction, noisy_rows: float, level: float, upward: bool) -> bool:
    """Whether a place has so many rows at it that an end of the interval is there, by noisy counts."""
    margin, noise = look.margin(place, quantile, upward)
    return margin >= rows_to_end(quantile, noisy_rows, noise, 0.0, level)


def has_few_digits(home: Band, ordinal: int) -> bool:
    """Whether a decimal has so few digits, or stands for so many others, that any number of rows may have it."""
    return home.first < home.last or abs(fraction_of(ordinal)) < FEW_DIGITS * last_digit(ordinal) or not ordinal


def seems_whole(drawn: Drawn, scales: Mapping[bool, Fraction]) -> bool:
    """Whether the rows around a quantile are likely to be whole numbers.

    The noisy look at them says so, or leaves it open while two are whole of the quantile and the typical places on either side.
    """
    middle = fraction_of(drawn.ordinal)
    typical = [middle, *(middle + scale if upward else middle - scale for upward, scale in scales.items())]
    return drawn.measure is WHOLE or (drawn.measure is MIXED and sum(place.denominator == 1 for place in typical) >= 2)


def rows_tied(drawn: Drawn, beyond: Mapping[bool, float], scales: Mapping[bool, Fraction]) -> float:
    """About how many rows may share a decimal, if the rows beside it lie on multiples of its last digit that is not 0.

    Half of the rows `beyond` it are within a scale of it. Where it has few digits, or stands for several decimals, all rows may
    have it, and none tells a scale.
    """
    grain = last_digit(drawn.ordinal)
    if has_few_digits(drawn.band, drawn.ordinal):
        return math.inf
    return max(
        beyond[upward] / 2 * float(min(grain / scale, Fraction(1))) if scale else beyond[upward]
        for upward, scale in scales.items()
    )


def past_a_step(rows: float, epsilon: Fraction, tied: float, beyond: float) -> float:
    """By how many rows an end is further out than `rows` beside a tie of many rows, where so many lie beyond the quantile.

    Between two ties no row pulls an end on. These are so many that it reaches the next tie if it leaves this one.
    """
    further = float(STEP_NATS / (epsilon * INWARD_SHARE))
    return further if tied >= rows + further and can_be_drawn(beyond - rows - further, float(epsilon)) else 0.0


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
    noisy_rows = count_rows(column.count(), total, rng)
    outer = min(quantiles[0], 1 - quantiles[-1])
    ends_share = _ends_share(2 * outer * noisy_rows, total)
    points = total * (1 - ROWS_SHARE - ends_share)
    ends_epsilon = total * ends_share
    noise = 8 / 3 * (levels_of(tuple(quantiles)) / float(points)) ** 2  # of the last level, and what is left of those before it
    order = Order(column, rng, digits_of_several(quantiles, noisy_rows, points, root_share))
    places = draw_places(order, quantiles, points, root_share)
    stretch = several_stretch(column, quantiles, lambda each: float_of(places[each].ordinal), noisy_rows, rng)
    homes = sorted({order.bands.band(places[quantile].ordinal) for quantile in quantiles})
    look = None
    if any(has_few_digits(home, order.bands.roundest(home.first)) for home in homes):
        look = look_around(order, homes, ends_epsilon * TIES_SHARE)
        ends_epsilon -= ends_epsilon * TIES_SHARE
    layout = Layout(quantiles, noisy_rows, noise, float(ends_epsilon), level, homes, look, stretch)
    drawn = draw_ends(order, list(places.values()), layout.ends_to_draw(places, order.bands), ends_epsilon)
    ordinals = {(end.released.quantile, end.upward): ordinal for end, ordinal in drawn.items()}
    scales = {(end.released.quantile, end.upward): end.scale for end in drawn}

    def end_of(quantile: Fraction, upward: bool) -> int | None:
        if layout.is_settled(quantile, order.bands.band(places[quantile].ordinal), upward):
            return places[quantile].ordinal
        serving = layout.serving(quantile, upward)
        if serving is not None and serving != quantile:
            return places[serving].ordinal
        return ordinals.get((quantile if serving == quantile else layout.outermost(upward), upward))

    bounds, astray = {}, are_astray(places, quantiles, noisy_rows, points, order.bands)
    for quantile in quantiles:
        value = places[quantile].ordinal
        around = Bounded.around(order.bands.band(value), value, end_of(quantile, False), end_of(quantile, True), noisy_rows)
        checked = around.checked({upward: scales.get((quantile, upward), Fraction(0)) for upward in (False, True)})
        bounds[quantile] = replace(checked, astray=checked.astray or quantile in astray)
    return bounds


@dataclass(frozen=True)
class Layout:
    """Which quantile serves as the end of which; decided by parameters and by released numbers that are no quantiles."""

    quantiles: Sequence[Fraction]
    noisy_rows: int
    noise: float
    epsilon: float
    """What an end may spend that has a part of the rows for itself."""
    level: float
    homes: Sequence[Band] = ()
    """What the released places stand for, ascending."""
    look: Surroundings | None = None
    """Noisy counts of the rows at these, between them and beyond them."""
    stretch: float = 1.0
    """By how much sampling variances are larger than for independent rows."""

    def is_settled(self, quantile: Fraction, home: Band, upward: bool) -> bool:
        """Whether noisy counts say that an end of an interval is at the quantile's own place."""
        return self.look is not None and is_at_home(
            self.look, self.homes.index(home), quantile, self.noisy_rows * self.stretch, self.level, upward
        )

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

    def ends_to_draw(self, places: dict[Fraction, Place], bands: DigitBands = EVERY_DIGIT) -> list[End]:
        """The ends that must be drawn and can be: enough rows lie beyond them."""
        ends = []
        for upward in (False, True):
            outermost = self.outermost(upward)
            serving = {quantile: self.serving(quantile, upward) for quantile in self.quantiles}
            for quantile in self.quantiles:
                home = bands.band(places[quantile].ordinal)
                serves_others = quantile == outermost and None in serving.values()
                if serving[quantile] != quantile or (self.is_settled(quantile, home, upward) and not serves_others):
                    continue
                rows = self._drawn_rows(quantile, upward)
                beyond = self.noisy_rows * float(1 - quantile if upward else quantile)
                scale, typical = _scale(quantile, places, upward)
                if quantile == outermost and not can_be_drawn((beyond - rows) / (1 if scale else WITHOUT_SCALE), self.epsilon):
                    continue
                if self.look is not None:
                    each = Fraction(self.epsilon) / self._ends_beside(quantile, upward)
                    rows += past_a_step(rows, each, self.look.tied(self.homes.index(home)), beyond)
                released = Released(quantile, places[quantile], self.noise)
                ends.append(End(released, upward, math.ceil(rows), scale, typical))
        return ends

    def _drawn_rows(self, quantile: Fraction, upward: bool) -> float:
        """The number of rows from a quantile to an end that is drawn beside it."""
        return self._rows(quantile, self.epsilon / self._ends_beside(quantile, upward), self.noise)

    def _rows(self, quantile: Fraction, epsilon: float, noise: float) -> float:
        return rows_to_end(quantile, self.noisy_rows * self.stretch, noise, epsilon, self.level)

    def _ends_beside(self, quantile: Fraction, upward: bool) -> int:
        """How many ends may share the part of the rows beside a quantile: two, if no pivot lies between it and the next."""
        return 1 if quantile == self.outermost(upward) else 2

    def _between(self, one: Fraction, other: Fraction) -> float:
        return float(abs(one - other)) * self.noisy_rows


def draw_scales(order: Order, place: Place, sides: Sequence[bool], epsilon: Fraction) -> list[Fraction]:
    """The distances from a place to a private median of the rows above it (True) and below it (False); 0 where they are tied."""
    parts = {upward: side_of(order, place, upward) for upward in sides}
    typical = typical_within(order, place.ordinal, parts, epsilon, AT_HOME)
    home = order.bands.band(place.ordinal)
    return [
        Fraction(0) if home.first <= other <= home.last else abs(fraction_of(other) - fraction_of(place.ordinal))
        for other in typical.values()
    ]


def typical_within(
    order: Order, ordinal: int, parts: Mapping[bool, Part], epsilon: Fraction, at_home: Fraction | None = None
) -> dict[bool, int]:
    """A private median of the rows of a part above a decimal (True), and of one below it (False), by distances from it.

    `at_home` is further mass of the decimal itself, where parts have rows there.
    """
    slope = symmetric_slope(Fraction(1, 2), epsilon, Neighbors.ADD_REMOVE)
    home = order.bands.band(ordinal)
    draws = []
    for upward, part in parts.items():
        loss = RankLoss(Fraction(part.raw_first + part.raw_last, 2), slope, slope, clip_for(slope))
        place = home.last if upward else home.first
        shells = shells_around(part.low, part.high, place, upward, factor=COINS)
        tied = {} if at_home is None else {home.first: at_home}
        draws.append(OutwardDraw(part, loss, home, upward, [shells], tied))
    return dict(zip(parts, draw_outward(order, draws), strict=True))


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


def _scale(quantile: Fraction, places: dict[Fraction, Place], upward: bool) -> tuple[Fraction, int | None]:
    """The distance from a released quantile to the next one in a direction, and that one; else to the one on the other side."""
    quantiles = sorted(places)
    index = quantiles.index(quantile)
    following = index + 1 if upward else index - 1
    is_last = not 0 <= following < len(quantiles)
    nearest = places[quantiles[index - 1 if upward else 1] if is_last else quantiles[following]].ordinal
    scale = abs(fraction_of(nearest) - fraction_of(places[quantile].ordinal))
    return scale, None if is_last or not scale else nearest


def _ends_share(rows: Fraction, epsilon: Fraction) -> Fraction:
    """What ends get: enough not to go astray, and where that is little, so much that their noise is half of sampling error."""
    root = Fraction(math.isqrt(max(1, math.ceil(rows))))
    return max(ENDS.of(rows * epsilon), min(ENDS.most, AS_SAMPLING / (root * epsilon)))


def count_rows(raw_rows: int, epsilon: Fraction, rng: RandomSource) -> int:
    """About how many rows there are, for ROWS_SHARE of epsilon, for one row added or removed."""
    return max(1, noisy_count(raw_rows, epsilon * ROWS_SHARE, rng))
