"""Cuts: where a test of means cuts its rows off, and about what it loses there, from limits that have been released.

A test has little use for a reach, whose draw takes a sixth of epsilon: groups that are alike lose alike at a clip, and one column
is cut again where shells say. So the limits of a test end at their scales (the medians of the rows of either side), and it cuts
at some scales from the middle, on each side of its own. Everything here is arithmetic on released
numbers: no claim depends on it.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.clipped.clips import LARGEST, USUAL_EXPONENT, Cut, Tail
from dpstats.statistics.universal.limits import Limits, Side

GROUPS_SCALES, FIRST_SCALES = Fraction(4), Fraction(5)
"""Scales from the middle at which groups are cut, and at which one column is at first. GROUPS_SCALES are 2.7 standard deviations
of normal rows, and leave 3% of exponential ones beyond. Shells around FIRST_SCALES tell where to cut a column: around 3 scales
its power is larger by .05, but 2% of rows in a clump 8 deviations out are lost, and 48 of 100 such columns reject their own mean
(23 around 5 scales)."""
LOPSIDED, LONGER_SCALES = Fraction(5, 4), Fraction(13, 2)
"""Groups are cut at LONGER_SCALES on the side whose scale is larger by LOPSIDED: where groups differ by a factor the longer tail
has much of their difference. Of days in hospital (medpar, los by hmo; 60 to 120 samples) 80% of intervals held it at 4 scales on
both sides, 90% at 5 and 97% at 6.5; 84% with a longer side of 6 from a factor 1.5 on, 88% and 91% with 6.5 from 1.33
and 1.25 on. Power of 160 normal rows beside 840 was .70, .64 and .54: scales
that were drawn unlike by chance count as lopsided, too."""
USUAL_NATS, GROWTH, MOST_GROWTH = 1000.0, 1 / 2, 3.0
"""Rows times epsilon for which these numbers of scales were chosen, and the power of more of them by which groups are cut further
out. Noise matters less there, and what the clip may take from groups that reach differently more: without it intervals of log
wages by union (4,165 rows, epsilon 1; chosen on it) were 4.2 times as long as without privacy. Beyond MOST_GROWTH nothing is
gained, and a step by unit (by_unit.py) has more noise."""
BEYOND_REACH = 2
"""A side of few rows was counted in octaves, and is cut at so many times the distance at which they end."""
LOSS_EXPONENT = 1.3
"""What is cut off is reckoned with tails somewhat heavier than exponential ones, which have 1 (clips.py)."""


def cut_of_groups(limits: Limits, epsilon: Fraction) -> Cut:
    """The cut of groups, whose limits have no reaches."""
    growth = Fraction(min(max(float(limits.noisy_rows * epsilon) / USUAL_NATS, 1.0) ** GROWTH, MOST_GROWTH))
    sides = limits.below, limits.above
    scales = [
        growth * (LONGER_SCALES if side.scale > LOPSIDED * other.scale > 0 else GROUPS_SCALES)
        for side, other in zip(sides, sides[::-1], strict=True)
    ]
    return cut_at_scales(limits, (scales[0], scales[1]))


def cut_at_scales(limits: Limits, scales: tuple[Fraction, Fraction]) -> Cut:
    """The cut of limits without reaches at some scales below and above the middle."""
    sides = limits.below, limits.above
    down, up = (min(_end_of(side, each), LARGEST) for side, each in zip(sides, scales, strict=True))
    low, high = max(-LARGEST, limits.middle - down), min(LARGEST, limits.middle + up)
    return Cut(min(low, LARGEST), max(high, -LARGEST), _tail_of(limits.below), _tail_of(limits.above), limits.middle)


def _end_of(side: Side, scales: Fraction) -> Fraction:
    """The distance from the middle at which a side is cut."""
    return side.scale * scales if side.reach <= side.scale else side.reach * BEYOND_REACH


def _tail_of(side: Side) -> Tail | None:
    """The tail of a side; None where there are no rows to speak of."""
    if side.reach <= 0:
        return None
    noisy_rows = max(float(side.noisy_rows), 2 * float(side.rows_beyond))
    nats = math.log(noisy_rows / float(side.rows_beyond))
    return Tail(noisy_rows, float(min(side.reach, LARGEST)), nats, USUAL_EXPONENT)


def likely_lost(cut: Cut) -> tuple[float, float]:
    """About what the rows below a cut lose there, all of them together, and those above it."""
    distances = (cut.middle - cut.low, cut.high - cut.middle)
    below, above = (
        _lost_beyond(tail, nearest_float(distance)) if tail else 0.0
        for tail, distance in zip((cut.below, cut.above), distances, strict=True)
    )
    return below, above


def _lost_beyond(tail: Tail, end: float) -> float:
    """About what the rows of a side lose that is cut off so far from the middle, by the rule for tails (clips.py)."""
    nats = tail.nats * math.pow(end / tail.reach, 1 / LOSS_EXPONENT)
    lost = tail.noisy_rows * math.exp(-nats) * end * LOSS_EXPONENT / max(nats, math.log(2))
    return min(lost, sys.float_info.max)  # a clip at the last float loses what no float holds
