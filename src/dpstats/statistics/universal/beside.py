"""A sharper public measure beside a place that has already been released.

Far out, the universal measure is thin: a draw from the few rows beyond the last released place would often land on a number
that no data suggest. Once two places are known, their distance is a public scale, and the line beside the last place gets
further mass at that scale: the place itself (data may be tied there), then one shell after the other, each reaching twice as
far, from an eighth of the scale on; beyond one scale each has a sixteenth of the mass of the one before, like the tail of a
Pareto law. Only released places enter, so no claim depends on it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.universal.decimals import DIGITS, decade_and_mantissa, float_of, fraction_of, ordinals_of
from dpstats.statistics.universal.line import Stretch
from dpstats.statistics.universal.measure import MIXED, Measure

_EMPHASIS = 10**9
"""How much more a near shell weighs than the rest of the line: enough that the far reaches of the line matter only where the
scale is of no use at all."""
_PLACE_WEIGHT = Fraction(1, 2)
TIED_WEIGHT = Fraction(_EMPHASIS, 20)
"""The mass of the place itself where rows may well be tied there."""
LONG_TIED_WEIGHT = Fraction(_EMPHASIS, 1000)
"""The same of a place with many digits, where ties are rarer."""
TYPICAL_WEIGHT = Fraction(_EMPHASIS, 2)
"""The mass of all that is about as far from a place as a released distance: rows may well be tied there, too."""
_SHORT = 10**6
STEEP = {exponent: Fraction(_EMPHASIS, 16 ** max(0, exponent)) for exponent in range(-3, 9)}
"""Exponent of 2 of a shell's reach in scales -> its mass, in units of the whole line between the part's ends."""
EVEN = {
    exponent: Fraction(_EMPHASIS) * min(max(Fraction(1, 8), Fraction(2) ** (exponent - 1)), Fraction(1, 2))
    for exponent in range(-3, 1)
}
EVEN |= {exponent: Fraction(_EMPHASIS, 16**exponent) for exponent in range(1, 9)}
"""The same, spread evenly up to one scale, for draws of which nobody knows how near the place they should be."""
_FINER, _COARSER = 40, 60
_USUAL_OCTAVES = 4
"""Octaves below the size of a place, and above it or above 1, in which its surroundings may have their scale."""
_MOST_UNLIKELY = 1000
"""A scale on one side makes others unlikely on the other one, but not more than so: half of the rows may be zeros."""
_FEW_DIGITS = 10 ** (DIGITS - 3)
_TIED_PART, _LONG_TIED_PART = 2, 16
"""A band where rows may well be tied has one part in so many of a near shell's mass: more if it ends at a place of few digits."""


def flat_up_to(octaves: int) -> dict[int, Fraction]:
    """The masses of shells for a draw so cautious that a steep measure would pull it inward: alike from the scale on
    and up to `octaves` octaves beyond it."""
    return {exponent: Fraction(_EMPHASIS, 8 ** max(0, -exponent, exponent - octaves)) for exponent in range(-3, octaves + 12)}


@dataclass(frozen=True)
class Shells:
    """Shells above (or below) the lattice point `place`, one beyond the other: where each ends, and its mass.

    The first of them is the place itself, and ends with it. They are cut to [low, high) of the line, stretched by `factor`.
    """

    low: int
    high: int
    place: int
    upward: bool
    reaches: Sequence[float]
    weights: Sequence[tuple[int, int]]
    """In units of the whole of [low, high), as ratios; that of the place comes first."""
    overlapping: bool
    """Whether a shell has the lattice point at which the one before it ends."""
    factor: int = 1

    def ends(self) -> NDArray[np.float64]:
        """About where the shells end: the place, and the numbers at public distances from it."""
        here = float_of(self.place)
        with np.errstate(over="ignore"):  # infinite values have the outermost lattice points
            return np.append(here, here + np.array(self.reaches) * (1 if self.upward else -1))

    def stretches(self, starts: list[int], ends: list[int]) -> list[Stretch]:
        """The shells, given where the spans of the lattice points at which they end start and end themselves."""
        inner, outer = (starts, ends) if self.upward else (ends, starts)
        near = inner[:1] + (inner if self.overlapping else outer)[:-1]
        low, high, factor = self.low, self.high, self.factor
        bounds = zip(near, outer, strict=True) if self.upward else zip(outer, near, strict=True)
        cut = [(max(start * factor, low), min(end * factor, high)) for start, end in bounds]
        return [
            Stretch(start, end, boost)
            for (start, end), (numerator, denominator) in zip(cut, self.weights, strict=True)
            if start < end and (boost := (high - low) * numerator // ((end - start) * denominator))
        ]


def stretches_of(shells: Sequence[Shells], measure: Measure = MIXED) -> list[list[Stretch]]:
    """The stretches of each, without those that would have a boost below 1; all lattice points are looked up at once."""
    if not shells:
        return []
    ends = [each.ends() for each in shells]
    starts, stops = measure.spans(ordinals_of(np.concatenate(ends)))
    begins = itertools.accumulate((len(each) for each in ends), initial=0)
    pairs = zip(shells, itertools.pairwise(begins), strict=True)
    return [each.stretches(starts[begin:end], stops[begin:end]) for each, (begin, end) in pairs]


def tied_in(low: int, high: int, band: tuple[int, int], place: int) -> list[Stretch]:
    """Further mass within [low, high) on the lattice points of a band, where rows may well be tied; `place` is one of them."""
    (start, _), (last, width) = (MIXED.span(end) for end in band)
    end = last + width
    has_few_digits = place != 0 and decade_and_mantissa(abs(place))[1] % _FEW_DIGITS == 0
    boost = (high - low) * _EMPHASIS // ((end - start) * (_TIED_PART if has_few_digits else _LONG_TIED_PART))
    return [Stretch(start, end, boost)] if boost else []


def shells_beside(
    low: int,
    high: int,
    factor: int,
    place: int,
    scale: Fraction,
    upward: bool,
    weights: Mapping[int, Fraction] = STEEP,
    place_weight: Fraction = _PLACE_WEIGHT,
) -> Shells:
    """Shells at a known scale, within [low, high) of the line, above (or below) the lattice point `place`."""
    nearest = nearest_float(scale)
    reaches = [nearest * 2.0**exponent for exponent in weights] if scale else []
    ratios = [weight.as_integer_ratio() for weight in (place_weight, *weights.values())][: 1 + len(reaches)]
    return Shells(low, high, place, upward, reaches, ratios, overlapping=True, factor=factor)


def weight_of_ties(place: int) -> Fraction:
    """The mass of a place for draws beside it, by how many digits it has."""
    is_short = place == 0 or decade_and_mantissa(abs(place))[1] % _SHORT == 0
    return TIED_WEIGHT if is_short else LONG_TIED_WEIGHT


def shells_around(low: int, high: int, place: int, upward: bool, likely: Fraction = Fraction(0), factor: int = 1) -> Shells:
    """As `shells_beside`, where no scale is known yet.

    The place itself has some mass, and so has each shell, reaching twice as far as the one before, from far below the size of the
    place to far above it, and above 1: whatever the scale of the rows, it is likely enough. Shells further out than a `likely`
    scale, where there is one, have much less mass the further out they are, and those further in have less.
    """
    magnitude = _magnitude(abs(fraction_of(place)) or Fraction(1))
    reaches = [2.0 ** min(exponent, 1023) for exponent in _shell_exponents(magnitude)]
    weights = _shell_weights(magnitude, _magnitude(likely) if likely else None)
    return Shells(low, high, place, upward, reaches, weights, overlapping=False, factor=factor)


@functools.lru_cache(maxsize=256)
def _shell_weights(magnitude: int, likely: int | None) -> list[tuple[int, int]]:
    """The masses of a place of this size and of the shells around it; `likely` is the size of a likely scale."""
    weights = [(_EMPHASIS, 1)]
    for exponent in _shell_exponents(magnitude):
        beyond = 0 if likely is None else exponent - likely
        unlikely = min(8 ** max(0, beyond) * 2 ** max(0, -beyond), _MOST_UNLIKELY)
        weights.append((_EMPHASIS * _USUAL_OCTAVES**2, (_USUAL_OCTAVES + abs(exponent - magnitude)) ** 2 * unlikely))
    return weights


def _shell_exponents(magnitude: int) -> range:
    """The exponents of 2 of the reaches of shells around a place of this size."""
    return range(magnitude - _FINER, max(magnitude, 0) + _COARSER)


def _magnitude(size: Fraction) -> int:
    """The exponent of 2 of a positive number, or one more."""
    return size.numerator.bit_length() - size.denominator.bit_length()
