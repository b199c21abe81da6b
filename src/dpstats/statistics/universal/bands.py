"""Bands: neighbouring decimals that count as one place, so that rows are found that are tied at a number of many digits.

A draw by rank finds tied rows only where their decimal has mass enough, and 1/3 has e**-35 of the line. A draw that need not tell
such decimals apart lets every row own the whole band around it. Bands are public: they depend on released numbers alone. Every
decimal lies in one of them, and the decimals of a band follow one another.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from dpstats.statistics.universal.decimals import DECADE_POINTS, DIGITS, HIGHEST_ORDINAL, float_of, ordinal_of, ordinals_of
from dpstats.statistics.universal.line import Integers

PER_OCTAVE = 32
"""Bands of distances to an octave: so narrow that it hardly matters where in its band a distance is."""
FINEST = 40
"""Octaves below the size of the middle from which on distances are told apart; 15 digits are worth 46."""
_FIRST_OCTAVE, _LAST_OCTAVE = -1015, 1023
"""The smallest decimal beside 0 is 10**-307, five octaves below the first of these."""
_STEPS = 1 + np.arange(PER_OCTAVE) / PER_OCTAVE
_FARTHEST = float(np.finfo(np.float64).max)


class Band(NamedTuple):
    """The first and the last decimal of a band, as ordinals."""

    first: int
    last: int


class BandEnds(NamedTuple):
    """The first and the last decimal of some bands, as ordinals."""

    firsts: Integers
    lasts: Integers


TELLING_NATS, NATS_PER_DIGIT, FEWEST_TOLD = 12, Fraction(23, 10), 5
"""A draw with so many nats to either side of its target tells no digit where rows are tied, and one more for each so many; at
least so many are told all the same. e**12 is what the places near the rows weigh against the rest of the line, and 2.3 is the
logarithm of 10. With a fewest of 6, ties near the floor are missed; with 4, numbers like 1,600,000,000 lose all that tells them
apart."""


def digits_told(nats: Fraction) -> int:
    """To how many digits a draw can tell a tie of rows, if the rows on either side of its target are worth `nats`."""
    return min(DIGITS, max(FEWEST_TOLD, math.floor((nats - TELLING_NATS) / NATS_PER_DIGIT)))


def merged(ends: BandEnds, raw_counts: Integers) -> tuple[Integers, Integers, Integers]:
    """Every band once, with the rows in it; ascending bands may be listed several times."""
    firsts, lasts = ends
    if firsts is lasts or not len(firsts):
        return firsts, lasts, raw_counts
    begins = np.append(0, 1 + np.flatnonzero(firsts[1:] != firsts[:-1]))
    return firsts[begins], lasts[begins], np.add.reduceat(raw_counts, begins)


class Bands(Protocol):
    """A division of decimals into bands."""

    def around(self, ordinals: Integers) -> BandEnds:
        """The bands of decimals that ascend."""
        ...

    def band(self, ordinal: int) -> Band:
        """The band of one decimal."""
        ...


@dataclass(frozen=True)
class DigitBands:
    """Decimals that are the same when rounded to a number of digits, within a decade."""

    digits: int

    def around(self, ordinals: Integers) -> BandEnds:
        """The bands of decimals; each by itself where all digits count."""
        if self.digits == DIGITS:
            return BandEnds(ordinals, ordinals)
        width = 10 ** (DIGITS - self.digits)
        decades, offsets = np.divmod(np.abs(ordinals) - 1, DECADE_POINTS)
        inner = (offsets + width // 2) // width * width - width // 2
        starts = 1 + decades * DECADE_POINTS
        firsts, lasts = starts + np.maximum(inner, 0), starts + np.minimum(inner + width, DECADE_POINTS) - 1
        negative, zero = ordinals < 0, ordinals == 0
        firsts, lasts = np.where(negative, -lasts, firsts), np.where(negative, -firsts, lasts)
        firsts[zero] = lasts[zero] = 0
        return BandEnds(firsts, lasts)

    def band(self, ordinal: int) -> Band:
        """The band of one decimal."""
        if self.digits == DIGITS:
            return Band(ordinal, ordinal)
        (first,), (last,) = self.around(np.array([ordinal]))
        return Band(int(first), int(last))

    def roundest(self, ordinal: int) -> int:
        """The decimal of fewest digits in the band of a decimal, which stands for the band where it is released."""
        first, last = self.band(ordinal)
        if first == last:
            return ordinal
        low, high = (last, first) if ordinal < 0 else (first, last)
        before = (abs(low) - 1) // DECADE_POINTS * DECADE_POINTS + 1 - 10 ** (DIGITS - 1)  # ordinal less mantissa
        for digits in range(1, DIGITS + 1):
            step: int = 10 ** (DIGITS - digits)
            mantissa: int = (abs(low) - before + abs(high) - before + step) // (2 * step) * step
            if abs(low) <= before + mantissa <= abs(high):
                break
        return int(before + mantissa if ordinal > 0 else -before - mantissa)


@dataclass(frozen=True)
class DistanceBands:
    """Decimals above (or below) the decimal `middle` that are about as far from it.

    Bands end at the decimals of the middle and a distance m * 2**e, PER_OCTAVE of them to an octave. The first one has all
    distances up to the finest octave, the last one all that no float holds.
    """

    middle: int
    upward: bool

    def around(self, ordinals: Integers) -> BandEnds:
        """The bands of decimals beyond the middle, on the side of these bands."""
        if not len(ordinals):
            return BandEnds(ordinals, ordinals)
        outward = ordinals if self.upward else -ordinals[::-1]
        ends = self._ends(int(outward[0]), int(outward[-1]))
        places = np.searchsorted(ends, outward, side="left")
        nearest, farthest = ends[places - 1] + 1, ends[places]
        return BandEnds(nearest, farthest) if self.upward else BandEnds(-farthest[::-1], -nearest[::-1])

    def band(self, ordinal: int) -> Band:
        """The band of one decimal: as `around` has it, with less work."""
        outward = ordinal if self.upward else -ordinal
        distance = min(float_of(outward) - self._here, _FARTHEST)
        octave = _octave(distance)
        number = max(0, 1 + (octave - self._finest) * PER_OCTAVE + int((math.ldexp(distance, -octave) - 1) * PER_OCTAVE))
        while self._end(number) < outward:
            number += 1
        while self._end(number - 1) >= outward:
            number -= 1
        nearest, farthest = self._end(number - 1) + 1, self._end(number)
        return Band(nearest, farthest) if self.upward else Band(-farthest, -nearest)

    def _end(self, number: int) -> int:
        """Where a band ends; all ends are counted outward, with their signs changed below the middle."""
        octave, step = divmod(number - 1, PER_OCTAVE)
        if number <= 0:
            return self.middle if self.upward else -self.middle
        if self._finest + octave > _LAST_OCTAVE:
            return HIGHEST_ORDINAL
        return ordinal_of(self._here + math.ldexp(1 + step / PER_OCTAVE, self._finest + octave))

    def _ends(self, nearest: int, farthest: int) -> Integers:
        """The ends of bands, from the last one before one decimal to the first one not before another, and a few more."""
        first = max(self._finest, _octave(float_of(nearest) - self._here) - 1)
        last = min(max(self._finest, _octave(float_of(farthest) - self._here) + 1), _LAST_OCTAVE)
        with np.errstate(over="ignore"):  # infinite numbers have the outermost decimals
            ends = ordinals_of(self._here + np.ldexp(_STEPS, np.arange(first, last + 1)[:, None]).ravel())
        if first == self._finest:
            ends = np.append(self._end(0), ends)
        return np.append(ends, HIGHEST_ORDINAL) if last == _LAST_OCTAVE else ends

    @functools.cached_property
    def _here(self) -> float:
        return float_of(self.middle if self.upward else -self.middle)

    @functools.cached_property
    def _finest(self) -> int:
        """The first octave of distances that are told apart."""
        return max(_FIRST_OCTAVE, _octave(abs(self._here)) - FINEST) if self._here else _FIRST_OCTAVE


def _octave(size: float) -> int:
    """The exponent of the largest power of 2 that is not above a positive number."""
    return math.frexp(min(size, _FARTHEST))[1] - 1
