"""Cuts: where a test of means cuts its rows off, and about what it loses there, from limits that have been released.

Groups that are alike lose alike at a clip, so that a test may cut close, and noise hides less. Each side ends by its own tail: it
is not made as wide as the other one. Everything here is arithmetic on released numbers: no claim depends on it.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.clipped.clips import LARGEST, UNLIKE, USUAL_EXPONENT, Cut, Tail
from dpstats.statistics.universal.limits import Limits, Side

ROOM = 0.0
"""As for `clips.ROOM`."""
EVEN = 2.0
"""Sides that end at distances within this factor get their geometric mean both, which is surer than either."""
LEAST_SCALES, MOST_REACHES = 4.0, 2.0
"""The longer side ends no nearer than so many of its scales, or of its reaches, whichever is less: a reach that happens to be
drawn short would cut off what a test takes for an effect. At 5 scales the power of groups that are alike falls by .03 (1,000
rows, epsilon 1) to .06 (4,000 rows, epsilon 1/4), and their clip is no surer."""
LOPSIDED_ROOM = 0.3
"""As for `clips.LOPSIDED_ROOM`; without it a test of a lognormal column (1.2) rejects its own mean in 10 to 14 of 100 tables of
4,000 rows at epsilon 1/4, with .5 in 6."""
DOUBT = 1.0
"""What is cut off is reckoned with an exponent that is larger by so much (clips.HEDGE)."""


def cut_for_test(limits: Limits, room: float = ROOM, lopsided_room: float = 0.0) -> Cut:
    """The cut that released limits suggest to a test."""
    below, above = Tail.of(limits.below), Tail.of(limits.above)
    ends = [tail.end(room) if tail else 0.0 for tail in (below, above)]
    least = [_least_end(side) for side in (limits.below, limits.above)]
    shorter, longer = min(ends), max(ends)
    scales = sorted((limits.below.scale, limits.above.scale))
    if longer <= EVEN * shorter:
        ends = [max(math.sqrt(shorter) * math.sqrt(longer), *least)] * 2
    else:
        further = [tail.end(room + lopsided_room) if tail and not tail.tied else 0.0 for tail in (below, above)]
        ends = [max(end, more, floor) if end == longer else end for end, more, floor in zip(ends, further, least, strict=True)]
    if below and above and scales[1] > UNLIKE * scales[0]:
        ends = [max(ends)] * 2
    down, up = (Fraction(min(end, sys.float_info.max)) for end in ends)
    low, high = max(-LARGEST, limits.middle - down), min(LARGEST, limits.middle + up)
    return Cut(min(low, LARGEST), max(high, -LARGEST), below, above, limits.middle)


def cut_for_mean_test(limits: Limits, room: float) -> Cut:
    """The same for one column, whose mean is compared with a number."""
    return cut_for_test(limits, room, LOPSIDED_ROOM)


def _least_end(side: Side) -> float:
    """The distance from the middle at which the longer side ends at least."""
    return min(LEAST_SCALES * float(min(side.scale, LARGEST)), MOST_REACHES * float(min(side.reach, LARGEST)), sys.float_info.max)


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
    exponent = (USUAL_EXPONENT if tail.tied else tail.exponent) + DOUBT
    nats = tail.nats * math.pow(end / tail.reach, 1 / exponent)
    lost = tail.noisy_rows * math.exp(-nats) * end * exponent / max(nats, math.log(2))
    return min(lost, sys.float_info.max)  # a clip at the last float loses what no float holds
