"""A released quantile between the ends of its interval, and the grain that released numbers suggest.

Nothing is spent here: all of it is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.universal.bands import PER_OCTAVE, Band
from dpstats.statistics.universal.decimals import decade_and_mantissa, float_of, lowest_value_at

_FLOATS = np.dtype(np.float64)

MOST_DECIMALS, MOST_ON_GRAIN, FINEST_WIDTH = 3, 1e9, 0.3
"""Values with so many decimals at most may tell the grain of the rows, where the interval is not much narrower than it."""
NARROW, MOST_OF_ENDS = 0.16, 0.75
"""Bands so narrow that a whole number in most of them is no chance."""
FARTHEST = 64
"""An end so many scales from its quantile is astray. Where few rows lie beyond it, that of a Pareto law of index 1 is at 10."""


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
    astray: bool = False
    """Whether an end lies where the other released numbers say that no rows are."""

    @classmethod
    def around(
        cls, band: Band, value: int, low: int | None, high: int | None, noisy_rows: int = 0, whole: bool = False
    ) -> Bounded:
        """From ordinals, around all that a value stands for; None for an end that was not drawn."""
        first, last = (math.ceil(float_of(band.first)), math.floor(float_of(band.last))) if whole else numbers_of(band)
        middle = float_of(value)
        return cls(
            middle,
            -math.inf if low is None else min(middle, first, float_of(low)),
            math.inf if high is None else max(middle, last, float_of(high)),
            noisy_rows,
            whole,
        )

    def checked(self, scales: Mapping[bool, Fraction]) -> Bounded:
        """The same, marked as astray where an end is much further out than the scale on its side."""
        ends = {False: self.value - self.low, True: self.high - self.value}
        far = [upward for upward, scale in scales.items() if math.isfinite(ends[upward]) and ends[upward] > FARTHEST * scale > 0]
        return replace(self, astray=True) if far else self

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


def numbers_of(band: Band) -> tuple[float, float]:
    """The smallest and the largest float in a band: of a decimal of fewer than 15 digits itself, else all that round to it."""
    first, last = (float_of(ordinal) for ordinal in band)
    digits = [decade_and_mantissa(abs(ordinal))[1] % 10 for ordinal in band if ordinal]
    if any(digits):
        first, last = (float(lowest_value_at(ordinal, _FLOATS)) for ordinal in (band.first, band.last + 1))
        last = math.nextafter(last, -math.inf)
    return first, last


def seem_stepped(bounds: Sequence[Bounded]) -> bool:
    """Whether rows seem to be tied at whole numbers far apart: most ends are at one, or end a band of distances that has one.

    Without ties a band that is so narrow has a whole number in 1 of 6 cases at most, and three of four have one in 1 of 60.
    """
    ends = [
        (each.value, end) for each in bounds for end in (each.low, each.high) if math.isfinite(end) and abs(end) < MOST_ON_GRAIN
    ]
    whole = [_ends_at_whole(value, end) for value, end in ends]
    return len(ends) > 1 and sum(whole) >= MOST_OF_ENDS * len(ends)


def _ends_at_whole(value: float, end: float) -> bool:
    """Whether the band of distances from a value that an end is the end of has a whole number, and is narrow."""
    width = abs(end - value) / PER_OCTAVE
    past = end - math.floor(end) if end > value else math.ceil(end) - end
    return past <= width < NARROW


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
