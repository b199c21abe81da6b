"""Clips: between which two numbers the rows of a sum are kept, from limits that have been released.

How far the few rows beyond a reach may go is a guess by a public rule: distances from the middle are taken to grow like a power
of ln(1 / share of rows beyond), whose exponent the released scale and reach suggest. The clip lies where the rule leaves a small
part of those rows beyond, because a wider one would cost more noise than it saves bias; a larger exponent tells what the clip may
cost the mean. Only released numbers enter, so no claim depends on any of it; benchmarks/clipping.py measures the constants.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.foundations.rounding import nearest_float, power_of_two_at_most
from dpstats.foundations.summaries import Clip
from dpstats.statistics.universal.limits import Limits, Side

FINEST = Fraction(1, 1 << 1074)
LARGEST = Fraction(sys.float_info.max)
_STEPS = 1 << 24
"""A clip has between this many steps and four times as many."""
_EXACT_UNITS = 1 << 50

USUAL_EXPONENT = 1.2
"""The exponent of a tail of which nothing is known; an exponential tail has 1, a normal one about 1/2."""
TRUSTED = 0.6
"""The weight of what scale and reach suggest, beside the usual exponent."""
LIGHTEST, HEAVIEST = 0.3, 2.5
TIED_EXPONENT = 0.3
"""The exponent where half of the rows and more reach to the very same place: there may be nothing beyond it."""
LEFT = 0.1
"""The clip leaves about this part of the rows beyond the reach, but not less than one row."""
SAME_PLACE = Fraction(17, 16)
"""A reach that is smaller than the scale by at most this factor was drawn a band or two before rows that are tied there."""
ROOM = 0.0
"""The clip allows for an exponent that is larger by so much."""
LOPSIDED_ROOM = 0.65
"""And by so much on the longer side, where nothing that is cut off on the other one makes up for it."""
HEDGE, HEDGE_PER_NAT = 1.0, 1.6
"""What is cut off is reckoned with an exponent that is larger by so much; more where the reach is less far out."""
ALIKE = 3.0
"""Sides whose clips differ by at most this factor get the wider one both: what is cut off then cancels in part."""
EVEN, EVEN_NATS, EVEN_LOST = 1.6, 1.8, 0.3
"""Where they differ by at most the factor EVEN, and both reaches are EVEN_NATS nats out, most of what is cut off cancels: a sum
of distances loses only the part EVEN_LOST of it."""
UNLIKE = 32
"""Sides whose scales differ by more than this factor get the wider clip both, too: the smaller scale may be a mistake."""


@dataclass(frozen=True)
class Tail:
    """One side's rows as the rule sees them, in floats."""

    noisy_rows: float
    reach: float
    nats: float
    """ln(rows of the side / rows beyond the reach)."""
    exponent: float
    rows_left: float = 1.0
    """How many rows the clip may leave beyond itself."""
    tied: bool = False
    """Whether half of the rows and more reach to the same place."""
    rows_in_shells: tuple[float, ...] = ()
    """About how many rows lie from the cut to twice its distance, and from there to four times it, where that was counted."""

    @classmethod
    def of(cls, side: Side) -> Tail | None:
        """The tail of a side; None where there are no rows to speak of, or all of them in one place."""
        if side.reach <= 0:
            return None
        noisy_rows = max(float(side.noisy_rows), 2 * float(side.rows_beyond))
        nats = math.log(noisy_rows / float(side.rows_beyond))
        exponent = USUAL_EXPONENT
        rows_left = max(1.0, LEFT * float(side.rows_beyond))
        if side.reach <= side.scale <= side.reach * SAME_PLACE:
            return cls(noisy_rows, float(min(side.scale, LARGEST)), nats, TIED_EXPONENT, rows_left, True)
        if 0 < side.scale < side.reach and nats > 1.2 * math.log(2):
            seen = _log(side.reach / side.scale) / math.log(nats / math.log(2))
            exponent += TRUSTED * (min(max(seen, LIGHTEST), HEAVIEST) - USUAL_EXPONENT)
        return cls(noisy_rows, float(min(side.reach, LARGEST)), nats, exponent, rows_left)

    def end(self, room: float) -> float:
        """The distance from the middle with few rows beyond, for an exponent that is larger by `room`."""
        nats = max(math.log(self.noisy_rows / self.rows_left), self.nats)
        return self.reach * math.pow(nats / self.nats, self.exponent + room)

    @property
    def _hedged(self) -> float:
        """An exponent for a heavier tail than seen."""
        seen = USUAL_EXPONENT if self.tied else self.exponent
        return seen + HEDGE + HEDGE_PER_NAT / max(self.nats, 0.5)

    def lost_squares(self, end: float) -> float:
        """About what rows beyond `end` lose there of their squared distances: by the rule, or as rows in shells show it."""
        counted = sum(rows * ((1.5 * 2.0**octave) ** 2 - 1) for octave, rows in enumerate(self.rows_in_shells))
        return max(self.lost(end, 2), counted * end * end)

    def lost(self, end: float, power: int = 1) -> float:
        """About what rows beyond `end` lose there, of a power of their distance, all together; for a heavier tail than seen.

        Nothing where the tail's reach is 0, as it is in units that are too large for it.
        """
        if self.reach <= 0:
            return 0.0
        exponent = self._hedged
        nats = self.nats * math.pow(end / self.reach, 1 / exponent)
        excess = exponent / max(nats, math.log(2))  # of the mean distance beyond the end, over the end
        return self.noisy_rows * math.exp(-nats) * math.pow(end, power) * (math.pow(1 + excess, power) - 1)


@dataclass(frozen=True)
class Lost:
    """What rows beyond a cut may lose there, in rows that are as far out as the cut."""

    distances: float
    squares: float


@dataclass(frozen=True)
class Cut:
    """Where the rows are cut off, and what that may cost the sum of their distances on either side."""

    low: Fraction
    high: Fraction
    below: Tail | None
    above: Tail | None
    middle: Fraction
    even: bool = False
    """Whether about as much is cut off on one side as on the other."""
    astray: bool = False
    """Whether rows were seen so far beyond the cut that it must have been far from most of them."""
    counted: tuple[Lost | None, Lost | None] = (None, None)
    """What may be lost below and above, as noisy numbers of rows tell it; where it is None, the rule for tails does."""

    @property
    def clip(self) -> Clip | None:
        """The row map; None where both ends are the same."""
        return clip_between(self.low, self.high)

    @property
    def lost(self) -> tuple[float, float]:
        """What the rows below the cut may lose, all of them together, and those above it."""
        part = EVEN_LOST if self.even else 1.0
        below, above = (
            counted.distances * end if counted else tail.lost(end) * part if tail else 0.0
            for tail, end, counted in self._sides(1.0)
        )
        return below, above

    def lost_squares(self, radius: float) -> float:
        """What the rows beyond the cut may lose of their squared distances, all together, in squares of a radius."""
        return sum(
            counted.squares * end * end
            if counted
            else replace(tail, reach=tail.reach / radius).lost_squares(end)
            if tail
            else 0.0
            for tail, end, counted in self._sides(radius)
        )

    def _sides(self, unit: float) -> list[tuple[Tail | None, float, Lost | None]]:
        """The tail of either side, how far out it is cut, and what was counted there."""
        ends = [nearest_float(distance / Fraction(unit)) for distance in (self.middle - self.low, self.high - self.middle)]
        return list(zip((self.below, self.above), ends, self.counted, strict=True))


def cut_at(limits: Limits, room: float = ROOM) -> Cut:
    """The cut that released limits suggest."""
    below, above = Tail.of(limits.below), Tail.of(limits.above)
    down, up = (tail.end(room) if tail else 0.0 for tail in (below, above))
    even = max(down, up) <= EVEN * min(down, up) and all(tail and tail.nats >= EVEN_NATS for tail in (below, above))
    scales = sorted((limits.below.scale, limits.above.scale))
    if max(down, up) <= ALIKE * min(down, up) or (below and above and scales[1] > UNLIKE * scales[0]):
        down = up = max(down, up)
    elif below and down > up and not below.tied:
        down = below.end(room + LOPSIDED_ROOM)
    elif above and up > down and not above.tied:
        up = above.end(room + LOPSIDED_ROOM)
    down, up = (min(distance, sys.float_info.max) for distance in (down, up))
    low, high = max(-LARGEST, limits.middle - Fraction(down)), min(LARGEST, limits.middle + Fraction(up))
    return Cut(min(low, LARGEST), max(high, -LARGEST), below, above, limits.middle, even)


def clip_between(low: Fraction, high: Fraction) -> Clip | None:
    """The row map that cuts off at two numbers, or just outside of them; None where they are the same."""
    if low >= high:
        return None
    unit = max(power_of_two_at_most((high - low) / _STEPS), power_of_two_at_most(max(abs(low), abs(high)) / _EXACT_UNITS), FINEST)
    low_units, high_units = math.floor(low / unit), math.ceil(high / unit)
    return Clip(low_units, high_units - low_units, unit)


def _log(number: Fraction) -> float:
    """The logarithm of a positive number of any size."""
    return math.log(number.numerator) - math.log(number.denominator)
