"""The exact law and price of one rank draw on the line, from its definition and from all rows: no window, no sampler.

Probabilities are `Fraction`s, right to a relative 2**-200 or so.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpstats.foundations.privacy import Neighbors
from dpstats.statistics.universal.bands import Bands
from dpstats.statistics.universal.decimals import Number, ordinal_of
from dpstats.statistics.universal.draw import CLIP
from dpstats.statistics.universal.line import Stretch
from dpstats.statistics.universal.measure import MIXED, TOTAL, Measure
from tests.laws.mechanisms import exponential_of_minus


class OfBands:
    """A measure by which every decimal owns the stretch of its band."""

    def __init__(self, measure: Measure, bands: Bands) -> None:
        self.measure, self.bands = measure, bands

    def span(self, ordinal: int) -> tuple[int, int]:
        """Where the band of a decimal starts, and its mass."""
        first, last = self.bands.band(ordinal)
        start = self.measure.span(first)[0]
        return start, sum(self.measure.span(last)) - start


def cuts_of(*tables: Iterable[Number], measure: Measure | OfBands = MIXED) -> list[int]:
    """The places where a law over any of these tables can change: where their decimals start and end, and the line's ends."""
    cuts = {0, TOTAL}
    for table in tables:
        for value in table:
            start, mass = measure.span(ordinal_of(value))
            cuts |= {start, start + mass}
    return sorted(cuts)


def rank_law(
    rows: Sequence[Number],
    cuts: Sequence[int],
    target: Fraction,
    slope_over: Fraction,
    slope_under: Fraction,
    stretches: Sequence[Stretch] = (),
    measure: Measure | OfBands = MIXED,
) -> dict[int, Fraction]:
    """The probability of each stretch of the line between two cuts, by where it starts."""
    starts = sorted(measure.span(ordinal_of(value))[0] for value in rows)
    weights = {}
    for low, high in itertools.pairwise(cuts):
        below = bisect_left(starts, low)
        at = bisect_right(starts, low) - below  # rows at this decimal: the cuts part every decimal that a row has
        loss = slope_over * max(Fraction(0), below - target) + slope_under * max(Fraction(0), target - below - at)
        mass = (high - low) * (1 + sum(stretch.boost for stretch in stretches if stretch.start <= low < stretch.end))
        weights[low] = mass * exponential_of_minus(min(CLIP, loss))
    total = sum(weights.values(), Fraction(0))
    return {low: weight / total for low, weight in weights.items()}


def epsilon_of_slopes(quantile: Fraction, slope_over: Fraction, slope_under: Fraction, neighbors: Neighbors) -> Fraction:
    """What a draw with these slopes costs for a target of quantile * n: Theorems 1 and 3 of draw.proof.md."""
    if neighbors is Neighbors.CHANGE_ONE:
        return slope_over + slope_under
    loss = max(slope_under * quantile, slope_over * (1 - quantile))
    gain = max(slope_over * quantile, slope_under * (1 - quantile))
    return loss + gain
