"""A sharper public measure beside a place that has already been released.

Far out, the universal measure is thin: a draw from the few rows beyond the last released place would often land on a number
that no data suggest. Once two places are known, their distance is a public scale, and the line beside the last place gets
further mass at that scale: the place itself (data may be tied there), then one shell after the other, each reaching twice as
far, from an eighth of the scale on; beyond one scale each has a sixteenth of the mass of the one before, like the tail of a
Pareto law. Only released places enter, so no claim depends on it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.universal.decimals import DIGITS, decade_and_mantissa, float_of, fraction_of, ordinals_of
from dpstats.statistics.universal.line import Stretch
from dpstats.statistics.universal.measure import MIXED

_EMPHASIS = 10**9
"""How much more a near shell weighs than the rest of the line: enough that the far reaches of the line matter only where the
scale is of no use at all."""
_PLACE_WEIGHT = Fraction(1, 2)
TIED_WEIGHT = Fraction(_EMPHASIS, 20)
"""The mass of the place itself where rows may well be tied there."""
STEEP = {exponent: Fraction(_EMPHASIS, 16 ** max(0, exponent)) for exponent in range(-3, 9)}
"""Exponent of 2 of a shell's reach in scales -> its mass, in units of the whole line between the part's ends."""
_FINER, _COARSER = 40, 60
_USUAL_OCTAVES = 4
"""Octaves below the size of a place, and above it or above 1, in which its surroundings may have their scale."""
_MOST_UNLIKELY = 1000
"""A scale on one side makes others unlikely on the other one, but not more than so: half of the rows may be zeros."""


_FEW_DIGITS = 10 ** (DIGITS - 3)


def flat_up_to(octaves: int) -> dict[int, Fraction]:
    """The masses of shells for a draw so cautious that a steep measure would pull it inward: alike from the scale on
    and up to `octaves` octaves beyond it."""
    return {exponent: Fraction(_EMPHASIS, 8 ** max(0, -exponent, exponent - octaves)) for exponent in range(-3, octaves + 12)}


def tied_at(low: int, high: int, place: int) -> list[Stretch]:
    """Further mass within [low, high) on a lattice point where rows may well be tied: one of few digits."""
    if not place or decade_and_mantissa(abs(place))[1] % _FEW_DIGITS:
        return []
    start, mass = MIXED.span(place)
    return _within(low, high, [(start, start + mass, Fraction(_EMPHASIS, 2))])


def stretches_beside(
    low: int,
    high: int,
    factor: int,
    place: int,
    scale: Fraction,
    upward: bool,
    weights: Mapping[int, Fraction] = STEEP,
    place_weight: Fraction = _PLACE_WEIGHT,
) -> list[Stretch]:
    """Stretches within [low, high) of the line, stretched by `factor`, above (or below) the lattice point `place`."""
    start, mass = MIXED.span(place)
    inner = start, start + mass
    shells = [(*inner, place_weight)]
    if scale > 0:
        reaches = [nearest_float(scale * Fraction(2) ** exponent) for exponent in weights]
        for outer, weight in zip(_spans_beside(place, reaches, upward), weights.values(), strict=True):
            shells.append((inner[0], outer[1], weight) if upward else (outer[0], inner[1], weight))
            inner = outer
    return _within(low, high, [(start * factor, end * factor, weight) for start, end, weight in shells])


def shells_around(
    low: int, high: int, place: int, upward: bool, likely: Fraction = Fraction(0), factor: int = 1
) -> list[Stretch]:
    """As `stretches_beside`, where no scale is known yet.

    The place itself has some mass, and so has each shell, reaching twice as far as the one before, from far below the size of the
    place to far above it, and above 1: whatever the scale of the rows, it is likely enough. Shells further out than a `likely`
    scale, where there is one, have much less mass the further out they are, and those further in have less.
    """
    start, mass = MIXED.span(place)
    inner = start, start + mass
    magnitude = _magnitude(abs(fraction_of(place)) or Fraction(1))
    exponents = range(magnitude - _FINER, max(magnitude, 0) + _COARSER)
    reaches = [2.0 ** min(exponent, 1023) for exponent in exponents]
    shells = [(*inner, Fraction(_EMPHASIS))]
    for exponent, outer in zip(exponents, _spans_beside(place, reaches, upward), strict=True):
        weight = _shell_weight(abs(exponent - magnitude), exponent - _magnitude(likely) if likely else 0)
        shells.append((inner[1], outer[1], weight) if upward else (outer[0], inner[0], weight))
        inner = outer
    return _within(low, high, [(start * factor, end * factor, weight) for start, end, weight in shells])


@functools.cache
def _shell_weight(octaves: int, beyond_likely: int) -> Fraction:
    """The mass of a shell whose reach is so many octaves from the size of the place, and from a likely scale."""
    unlikely = min(8 ** max(0, beyond_likely) * 2 ** max(0, -beyond_likely), _MOST_UNLIKELY)
    return Fraction(_EMPHASIS * _USUAL_OCTAVES**2, (_USUAL_OCTAVES + octaves) ** 2 * unlikely)


def _within(low: int, high: int, shells: Iterable[tuple[int, int, Fraction]]) -> list[Stretch]:
    """Stretches cut to [low, high) whose further mass is a weight times that of [low, high); none with a boost below 1."""
    stretches = []
    for start, end, weight in shells:
        start, end = max(start, low), min(end, high)
        numerator, denominator = weight.as_integer_ratio()
        if start < end and (boost := (high - low) * numerator // ((end - start) * denominator)):
            stretches.append(Stretch(start, end, boost))
    return stretches


def _magnitude(size: Fraction) -> int:
    """The exponent of 2 of a positive number, or one more."""
    return size.numerator.bit_length() - size.denominator.bit_length()


def _spans_beside(place: int, reaches: Sequence[float], upward: bool) -> list[tuple[int, int]]:
    """The spans of the lattice points at public distances from a place."""
    with np.errstate(over="ignore"):  # infinite values have the outermost lattice points
        values = float_of(place) + np.array(reaches) * (1 if upward else -1)
    return MIXED.spans(ordinals_of(values))
