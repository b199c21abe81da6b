"""A sharper public measure beside a place that has already been released.

Far out, the universal measure is thin: a draw from the few rows beyond the last released place would often land on a number
that no data suggest. Once two places are known, their distance is a public scale, and the line beside the last place gets
further mass at that scale: the place itself (data may be tied there), then one shell after the other, each reaching twice as
far, from an eighth of the scale on; beyond one scale each has a sixteenth of the mass of the one before, like the tail of a
Pareto law. Only released places enter, so no claim depends on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dpstats.statistics.universal.decimals import DIGITS, HIGHEST_ORDINAL, decade_and_mantissa, fraction_of, ordinal_of
from dpstats.statistics.universal.draw import Stretch
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
    start, mass = MIXED.span(place)
    stretch = _stretch(low, high, start, start + mass, Fraction(_EMPHASIS, 2))
    return [stretch] if stretch.boost and abs(place) and not decade_and_mantissa(abs(place))[1] % _FEW_DIGITS else []


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
    stretches = [_stretch(low, high, start * factor, (start + mass) * factor, place_weight)]
    if scale > 0:
        inner = start, start + mass
        for exponent, weight in weights.items():
            reach = scale * Fraction(2) ** exponent
            end, end_mass = MIXED.span(_nearest(fraction_of(place) + (reach if upward else -reach)))
            outer = end, end + end_mass
            shell = (inner[0], outer[1]) if upward else (outer[0], inner[1])
            stretches.append(_stretch(low, high, shell[0] * factor, shell[1] * factor, weight))
            inner = outer
    return [stretch for stretch in stretches if stretch.boost]


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
    size = abs(fraction_of(place)) or Fraction(1)
    magnitude = _magnitude(size)
    stretches = [_stretch(low, high, start * factor, (start + mass) * factor, Fraction(_EMPHASIS))]
    for exponent in range(magnitude - _FINER, max(magnitude, 0) + _COARSER):
        reach = Fraction(2) ** exponent
        end, end_mass = MIXED.span(_nearest(fraction_of(place) + (reach if upward else -reach)))
        outer = end, end + end_mass
        shell = (inner[1], outer[1]) if upward else (outer[0], inner[0])
        octaves = exponent - _magnitude(likely) if likely else 0
        usual = 1 + Fraction(abs(exponent - magnitude), _USUAL_OCTAVES)
        unlikely = min(8 ** max(0, octaves) * 2 ** max(0, -octaves), _MOST_UNLIKELY)
        weight = _EMPHASIS / usual**2 / unlikely
        stretches.append(_stretch(low, high, shell[0] * factor, shell[1] * factor, weight))
        inner = outer
    return [stretch for stretch in stretches if stretch.boost]


def _stretch(low: int, high: int, start: int, end: int, weight: Fraction) -> Stretch:
    """A stretch cut to [low, high) whose further mass is `weight` times the whole of that; no boost where nothing is left."""
    start, end = max(start, low), min(end, high)
    return Stretch(start, end, int((high - low) * weight / (end - start)) if start < end else 0)


def _magnitude(size: Fraction) -> int:
    """The exponent of 2 of a positive number, or one more."""
    return size.numerator.bit_length() - size.denominator.bit_length()


def _nearest(value: Fraction) -> int:
    """The lattice point at a public rational value."""
    limit = fraction_of(HIGHEST_ORDINAL)
    return ordinal_of(float(max(-limit, min(limit, value))))
