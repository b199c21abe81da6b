"""A sharper public measure beside a place that has already been released.

Far out, the universal measure is thin: a draw from the few rows beyond the last released place would often land on a number
that no data suggest. Once two places are known, their distance is a public scale, and the line beside the last place gets
further mass at that scale: the place itself (data may be tied there), then one shell after the other, each reaching twice as
far, from an eighth of the scale on; beyond one scale each has a sixteenth of the mass of the one before, like the tail of a
Pareto law. Only released places enter, so no claim depends on it.
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, fraction_of, ordinal_of
from dpstats.statistics.universal.draw import Stretch
from dpstats.statistics.universal.measure import MIXED

_EMPHASIS = 10**9
"""How much more a near shell weighs than the rest of the line: enough that the far reaches of the line matter only where the
scale is of no use at all."""
_PLACE_WEIGHT = Fraction(1, 2)
_SHELL_WEIGHTS = {exponent: Fraction(_EMPHASIS, 16 ** max(0, exponent)) for exponent in range(-3, 9)}
"""Exponent of 2 of a shell's reach in scales -> its mass, in units of the whole line between the part's ends."""


def stretches_beside(low: int, high: int, factor: int, place: int, scale: Fraction, upward: bool) -> list[Stretch]:
    """Stretches within [low, high) of the line, stretched by `factor`, above (or below) the lattice point `place`."""
    start, mass = MIXED.span(place)
    stretches = [_stretch(low, high, start * factor, (start + mass) * factor, _PLACE_WEIGHT)]
    if scale > 0:
        inner = start, start + mass
        for exponent, weight in _SHELL_WEIGHTS.items():
            reach = scale * Fraction(2) ** exponent
            end, end_mass = MIXED.span(_nearest(fraction_of(place) + (reach if upward else -reach)))
            outer = end, end + end_mass
            shell = (inner[0], outer[1]) if upward else (outer[0], inner[1])
            stretches.append(_stretch(low, high, shell[0] * factor, shell[1] * factor, weight))
            inner = outer
    return [stretch for stretch in stretches if stretch.boost]


def _stretch(low: int, high: int, start: int, end: int, weight: Fraction) -> Stretch:
    """A stretch cut to [low, high) whose further mass is `weight` times the whole of that; no boost where nothing is left."""
    start, end = max(start, low), min(end, high)
    return Stretch(start, end, int((high - low) * weight / (end - start)) if start < end else 0)


def _nearest(value: Fraction) -> int:
    """The lattice point at a public rational value."""
    limit = fraction_of(HIGHEST_ORDINAL)
    return ordinal_of(float(max(-limit, min(limit, value))))
