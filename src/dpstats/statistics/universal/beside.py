"""A sharper public measure beside a place that has already been released.

Far out, the universal measure is thin: a draw from the few rows beyond the last released place would often land on a number
that no data suggest. Once two places are known, their distance is a public scale, and stretches of the line at that scale
beside the last place get further mass: the place itself (data may be tied there), then one stretch twice as wide as the
other, from an eighth of the scale to 32 times, the widest with ever less mass. Only released places enter, so no claim
depends on it.
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, fraction_of, ordinal_of
from dpstats.statistics.universal.draw import Stretch
from dpstats.statistics.universal.measure import span

_EMPHASIS = 10_000
"""How much more a stretch weighs than the rest of the line: the scale is trusted, not taken for certain."""
_PLACE_WEIGHT = Fraction(1, 2)
_STRETCH_WEIGHTS = {exponent: Fraction(_EMPHASIS, 8 ** max(0, exponent)) for exponent in range(-3, 6)}
"""Exponent of 2 of a stretch's width in scales -> its mass, in units of the whole line between the node's ends."""


def stretches_beside(low: int, high: int, factor: int, place: int, scale: Fraction, upward: bool) -> list[Stretch]:
    """Stretches within [low, high) of the line, stretched by `factor`, above (or below) the lattice point `place`."""
    whole = high - low
    start, mass = span(place)
    wanted = [(start * factor, (start + mass) * factor, _PLACE_WEIGHT)]
    if scale > 0:
        edge = fraction_of(place)
        for exponent, weight in _STRETCH_WEIGHTS.items():
            reach = scale * Fraction(2) ** exponent
            end = _nearest(edge + reach if upward else edge - reach)
            end_start, end_mass = span(end)
            if upward:
                wanted.append((start * factor, (end_start + end_mass) * factor, weight))
            else:
                wanted.append((end_start * factor, (start + mass) * factor, weight))
    stretches = []
    for begin, stop, weight in wanted:
        begin, stop = max(begin, low), min(stop, high)
        if begin < stop:
            boost = int(whole * weight / (stop - begin))
            if boost:
                stretches.append(Stretch(begin, stop, boost))
    return stretches


def _nearest(value: Fraction) -> int:
    """The lattice point at a public rational value."""
    limit = fraction_of(HIGHEST_ORDINAL)
    return ordinal_of(float(max(-limit, min(limit, value))))
