"""A guess of the clip in which a mean will sum its rows up, from some of them, so that one pass over a long table may do.

Only the engine looks at it, to make sums before they are asked for; nothing that is released depends on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Clip
from dpstats.statistics.clipped.clips import clip_between, cut_at
from dpstats.statistics.universal.limits import REACH, SAFE_NATS, Limits, Side

NARROWEST = Fraction(3, 4)
"""The part of its likely width that a clip has at least, as a rule; where few rows lie far out, it is often drawn wider."""
FEWEST_ROWS = 1000
_MOST_STEPS = 1 << 26
_FARTHEST_END = 1 << 52


@dataclass(frozen=True)
class LikelyClip:
    """The clip of a statistic that spends `epsilon` on limits and cells, for one row added or removed."""

    epsilon: Fraction
    room: float
    degree: int

    def clips(self, raw_some: NDArray[Any], raw_rows: int, units: int) -> list[Clip]:
        """The widest clips of so many units that the clip may have; none where too few rows are seen of the tails."""
        raw_finite = raw_some[np.isfinite(raw_some)].astype(np.float64)
        seen = raw_finite.size
        rows_beyond = SAFE_NATS / (self.epsilon * REACH.least)
        beyond = round(rows_beyond * seen / raw_rows)
        if seen < FEWEST_ROWS or not 1 <= beyond < seen // 4:
            return []
        places = [beyond - 1, seen // 4, seen // 2, seen - 1 - seen // 4, seen - beyond]
        raw_finite.partition(places)
        low, lower, middle, upper, high = (Fraction(float(number)) for number in raw_finite[places])
        below, above = (
            Side(raw_rows // 2, abs(scale - middle), abs(reach - middle), rows_beyond)
            for scale, reach in ((lower, low), (upper, high))
        )
        cut = cut_at(Limits(middle, below, above, raw_rows, Fraction(0)), self.room)
        centre, half = (cut.low + cut.high) / 2, NARROWEST * (cut.high - cut.low) / 2
        narrowest = clip_between(centre - half, centre + half)
        return [] if narrowest is None else [_widest(narrowest.unit * 2**power, centre) for power in range(units)]


def _widest(unit: Fraction, centre: Fraction) -> Clip:
    """The widest clip of a unit around a number."""
    low = max(-_FARTHEST_END, math.floor(centre / unit) - _MOST_STEPS // 2)
    return Clip(min(low, _FARTHEST_END - _MOST_STEPS), _MOST_STEPS, unit)
