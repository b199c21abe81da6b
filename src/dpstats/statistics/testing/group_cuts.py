"""Where groups whose means are compared are cut off: at one clip for all of them, close to the middle of all rows.

The limits end at the scales of both sides. Noisy counts then tell whether rows lie beyond them: a column of two or few values is
cut off where it ends. And they tell how many rows lie further out, from which what the cut takes follows.

Claim      epsilon-DP, where epsilon is what `GroupCut.spent` says
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        The limits, and one vector of noisy counts of disjoint parts of the line, whose edges are functions of the limits
Numerics   Exact counts by the rows' decimals; exact noise
Source     t_tests.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.binned.edges import raw_counts_between
from dpstats.statistics.clipped.clips import LARGEST, SAME_PLACE, USUAL_EXPONENT, Cut, Tail
from dpstats.statistics.testing.cuts import cut_of_groups
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, float_of, ordinal_of
from dpstats.statistics.universal.limits import Limits, Side, draw_limits

COUNTS = Fraction(4, 100)
"""The part of epsilon that tells whether rows lie beyond: at rows times epsilon of 1,000 its noise has a scale of 25 rows of
1,000, and of 500 rows of a side 240 lie beyond its scale, unless they are tied there."""
FEW_SCALES, FEWEST = 1.5, 1.0
"""A side ends at its scale where no more rows are seen beyond than this many scales of noise; as many as FEWEST may be there. An
end at two scales, too, which suits uniform rows, was found for exponential ones, which lose too much there."""
FURTHER, DOUBT = Fraction(2, 3), 1.0
"""The part of a cut's distance beyond which rows are counted, too, and the scales of noise that are added to their number.
Without that, what the cut takes hung on the scale alone, and intervals of log wages by union (4,165 rows, epsilon 1) were 2 to 4
times as long as without privacy."""
ASTRAY, ASTRAY_SCALES = 0.8, 2.0
"""The part of the rows beside the middle from which on they lie elsewhere than the limits say, where as many are seen beyond by
that many scales of noise. Without the scales 1 in 20 of 1,000 rows of which 60% are 0 was refused at epsilon 1."""


@dataclass(frozen=True)
class GroupCut:
    """The cut of groups."""

    cut: Cut
    limits: Limits
    spent: Fraction
    astray: bool = False
    """Whether nearly all rows lie beyond the scales, although half of them lie nearer: that was a bad draw."""


def draw_group_cut(column: Column, epsilon: Fraction, rng: RandomSource) -> GroupCut:
    """The cut of all rows, whatever their groups, out of the epsilon of a whole test, for one row added or removed."""
    limits = draw_limits(column, epsilon, rng, reaches=False)
    cut = cut_of_groups(limits, epsilon)
    if cut.clip is None:
        return GroupCut(cut, limits, limits.spent)
    counts_epsilon = epsilon * COUNTS
    sides = limits.below, limits.above
    down, up = (side.scale * SAME_PLACE for side in sides)
    further = [max(end, FURTHER * each) for end, each in ((down, limits.middle - cut.low), (up, cut.high - limits.middle))]
    edges = (
        _edge(limits.middle - further[0], 0),
        _edge(limits.middle - down, 0),
        _edge(limits.middle + up, 1),
        _edge(limits.middle + further[1], 1),
    )
    far_below, near_below, _, near_above, far_above = noisy_counts(raw_counts_between(column, edges), counts_epsilon, rng)
    noisy_below, noisy_above = far_below + near_below, near_above + far_above
    scale = 1 / float(counts_epsilon)
    if _ends(limits.below, noisy_below, scale):
        cut = replace(cut, low=max(-LARGEST, limits.middle - down), below=_tail_beyond(limits.below, noisy_below, scale))
    elif limits.below.reach > 0:
        cut = replace(cut, below=_tail_further(limits.below, further[0], far_below, scale))
    if _ends(limits.above, noisy_above, scale):
        cut = replace(cut, high=min(LARGEST, limits.middle + up), above=_tail_beyond(limits.above, noisy_above, scale))
    elif limits.above.reach > 0:
        cut = replace(cut, above=_tail_further(limits.above, further[1], far_above, scale))
    beyond = sum(count for side, count in zip(sides, (noisy_below, noisy_above), strict=True) if side.reach > 0)
    beside = sum(side.noisy_rows for side in sides if side.reach > 0)
    return GroupCut(cut, limits, limits.spent + counts_epsilon, beyond > ASTRAY * beside + ASTRAY_SCALES * scale)


def _ends(side: Side, noisy_beyond: int, scale: float) -> bool:
    """Whether a side seems to end at its scale."""
    return 0 < side.reach <= side.scale and noisy_beyond <= FEW_SCALES * scale


def _tail_beyond(side: Side, noisy_beyond: int, scale: float) -> Tail:
    """The tail of a side that ends at its scale."""
    rows = max(float(side.noisy_rows), 2.0)
    nats = math.log(max(rows / max(float(noisy_beyond), FEWEST * scale), 2.0))
    return Tail(rows, float(min(side.scale * SAME_PLACE, LARGEST)), nats, USUAL_EXPONENT, tied=True)


def _tail_further(side: Side, distance: Fraction, noisy_beyond: int, scale: float) -> Tail:
    """The tail of a side from a distance on, beyond which rows were counted."""
    rows = max(float(side.noisy_rows), 2.0)
    beyond = max(float(noisy_beyond), 0.0) + DOUBT * scale
    return Tail(rows, float(min(distance, LARGEST)), math.log(max(rows / beyond, 2.0)), USUAL_EXPONENT)


def _edge(place: Fraction, further: int) -> float:
    """The decimal of a place, or the next one, so that rows at it do not count as beyond."""
    ordinal = ordinal_of(float(max(-LARGEST, min(LARGEST, place)))) + further
    return float_of(max(-HIGHEST_ORDINAL, min(HIGHEST_ORDINAL, ordinal)))
