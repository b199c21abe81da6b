"""A look around released places: how many rows are tied at them, and whether rows lie where a released scale says.

A scale is drawn from the rows on one side of a quantile. Where there is none, because all of them are tied at the quantile, it
may be any number, and an end that trusts it may be one, too. And where a quantile is a tie of many rows, an end is at that tie,
or it should not stop short of the next one. Noisy counts tell these things.

Claim      epsilon-DP for all counts together
Neighbors  ADD_REMOVE
Why        A row is counted once: at a place, between two, or above or below all of them, near or far. Every count has discrete
           Laplace noise of scale 1 / epsilon
Numerics   Exact counts between public cuts
Source     ends.proof.md, Lemma 5
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from dpstats.foundations.rounding import nearest_float
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.universal.bands import Band
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, fraction_of, lowest_value_at, ordinal_of
from dpstats.statistics.universal.order import Order

TIES_SHARE, SCALES_SHARE = Fraction(1, 8), Fraction(2, 5)
"""The part of what ends may spend that goes to a look: at ties, and at scales that contradict each other. With 2/5 at most, the
noise and what is left for draws cost no more in concentrated privacy than draws alone: 4 a**2 + (1 - a)**2 <= 1."""
DISAGREE = 16
"""Scales on the two sides of a quantile that differ by more than this are looked at. Those of a lognormal law with a sigma of 2
differ by 4 at its median and by 30 at its first tenth. With less, harmless columns pay for looks; with 64, 1 of 150 ends of a
quantile in a top code was 100 usual widths away."""
NEAR = 8
"""Half of the rows of a side lie beyond its scale, so that many lie beyond an eighth of it."""
SEEN = 4
"""Rows are there if their noisy number is this many scales of its noise: by noise alone it is in 1 of 100."""


@dataclass(frozen=True)
class Surroundings:
    """What noisy counts say of some places and their surroundings."""

    noisy_counts: Sequence[int]
    """Of the rows below the first place, at it, between it and the second one, and so on, and above the last place."""
    noisy_far: Mapping[bool, int]
    """Those of the rows above all places (True), and below them (False), that are not nearer than a NEAR-th of a scale."""
    epsilon: Fraction
    halves: int
    """1 if the rows beyond all places were counted near and far, each with its own noise."""

    def tied(self, place: int) -> int:
        """About how many rows a place has."""
        return self.noisy_counts[2 * place + 1]

    def margin(self, place: int, quantile: Fraction, upward: bool) -> tuple[float, float]:
        """How many rows more than `quantile` seem to lie at or below a place (or than the rest at or above it); its variance."""
        below, above = self.noisy_counts[: 2 * place + 1], self.noisy_counts[2 * place + 2 :]
        inner, outer = ([*below, self.tied(place)], above) if upward else ([*above, self.tied(place)], below)
        part = float(quantile if upward else 1 - quantile)
        counts = (len(inner) + self.halves) * (1 - part) ** 2 + (len(outer) + self.halves) * part**2
        return (1 - part) * sum(inner) - part * sum(outer), 2 * counts / float(self.epsilon) ** 2

    def is_seen(self, noisy_rows: int) -> bool:
        """Whether there are rows, by one of these numbers."""
        return noisy_rows * self.epsilon >= SEEN

    def believed(self, scales: Mapping[bool, Fraction]) -> dict[bool, Fraction]:
        """Scales of sides that have rows where they say; a side that has none takes the other one's. 0 for unknown ones."""
        seen = {upward: self.is_seen(noisy_rows) for upward, noisy_rows in self.noisy_far.items()}
        known = max((scale for upward, scale in scales.items() if seen[upward]), default=Fraction(0))
        return {upward: scale if seen[upward] else known for upward, scale in scales.items()}


def disagree(scales: Mapping[bool, Fraction]) -> bool:
    """Whether scales on two sides of a place are so different that one of them may be astray."""
    return max(scales.values()) > DISAGREE * min(scales.values())


def look_around(
    order: Order, homes: Sequence[Band], epsilon: Fraction, scales: Mapping[bool, Fraction] | None = None
) -> Surroundings:
    """Noisy numbers of rows in ascending bands, each of which stands for a place, between them, and beyond them all.

    With scales, those beyond are counted near and far.
    """
    dtype = order.column.dtype
    assert dtype is not None
    inner = [place for home in homes for place in (home.first, home.last + 1)]
    near, far = inner[0], inner[-1]
    if scales is not None:
        below, above = fraction_of(homes[0].first) - scales[False] / NEAR, fraction_of(homes[-1].last) + scales[True] / NEAR
        near, far = min(ordinal_of(nearest_float(below)) + 1, near), max(ordinal_of(nearest_float(above)), far)
    raw_ends = order.column.counts_below([lowest_value_at(place, dtype) for place in (near, *inner, far)])
    raw_ends = [
        order.raw_rows if place > HIGHEST_ORDINAL else raw for place, raw in zip((near, *inner, far), raw_ends, strict=True)
    ]  # infinite rows count as the highest decimal
    raw_counts = [after - before for before, after in pairwise((0, *raw_ends, order.raw_rows))]
    if scales is None:  # there is nothing between the first place and `near`, and none of the noise that would hide it
        raw_counts = [*raw_counts[:1], *raw_counts[2:-2], *raw_counts[-1:]]
    noisy = [noisy_count(raw_count, epsilon, order.rng) for raw_count in raw_counts]
    ends = {False: noisy[0], True: noisy[-1]}
    if scales is not None:
        noisy = [sum(noisy[:2]), *noisy[2:-2], sum(noisy[-2:])]
    return Surroundings(noisy, ends, epsilon, int(scales is not None))
