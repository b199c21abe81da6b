"""A covariance by scores: about rough means, in rough deviations, what every row says of it, cut off where few rows lie.

With u and v, two columns in units of about their deviations from about their means, a row's score is u v - r for a rough
correlation r. The mean score is the covariance of u and v less r, but for the product of what both means are off by, which is
small if each is. Cut off at a private reach, scores take little noise; counts of octaves tell how much rows beyond hold.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        What any walk along two columns buys (walk.py), and nothing else
Numerics   As walk.py says
Source     scores.proof.md
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.clipped.thinning import place_of
from dpstats.statistics.paired.tails import Tails
from dpstats.statistics.paired.walk import (
    PLACE,
    PLACE_POWER,
    SURE,
    USUAL_LEVEL,
    Floats,
    LastSums,
    PairUnits,
    PairWalk,
    RoughMoments,
    interval_half,
)

POINTS = Fraction(15, 100)
"""The share of rough moments. With 8%, a third of tables of 3,000 rows at epsilon 1 got no reply, because a column seemed not to
vary."""
LEAST_MEDIAN, CORNER = 0.2, 1.5
"""The place supposes at least such a median of scores, and lies at the score of rows at both reaches over CORNER at least. At 8,
as of correlations, the cuts of lognormal pairs took 1.5 sampling errors on average."""
LIKELY, LIKELY_TIMES = 0.7, 2.0
"""The quantile of what may be lost that the place of the cut supposes, and how many times it counts: rows far out pull products
all to one side. With .5 and once, errors on lognormal pairs of deviation .7 were twice the usual ones, and 1.3 to 1.9 times with
these."""
LIGHT, HEAVY, HEAVIEST, HEAVY_NATS, HEAVY_POWER = 3.5, 7.0, 9.5, 3000.0, 0.45
"""How many scales columns reach where their tails look light, heavy, and too heavy for a covariance to be known: at HEAVY_NATS
rows times epsilon, and more with more of them. Normal columns reach 3 of them, exponential ones 4 to 5, lognormal ones of
deviation 1.2 and Pareto ones of index 2.2 8."""
LEAST_QUANTILE, LEAST_SQUARED, MOST_QUANTILE, HEAVY_TIMES = 0.75, 0.5, 0.85, 3.0
"""The quantiles of what the cut may take from scores and from their squares where tails look light; that of both where they look
heavy; and how many times more is allowed for there. Chosen with the lines above on normal, Student, lognormal, Pareto, 0/1 and
zero-inflated pairs at 3,000 and 10,000 rows and epsilon 1 and 4: 79 to 100% of the intervals held there, and 70 to 98% of those
of samples without privacy; only half for Pareto pairs of index 2.2 at 10,000 rows and epsilon 4, of which one in four gets a
reply."""
LEAST_INDEX, INDEX_POWER, TRIED_AMPLE, MOST_LAST = 0.62, 0.2, 13.3, 6.0
"""A covariance is not known if columns reach more than LIGHT scales and the index of scores' tails (`Tails.near_index`) is less,
at HEAVY_NATS rows times epsilon, where noise and exponential tails make it small, and up to TRIED_AMPLE times as many; or if the
last octave shows more than that many scales of its noise. TRIED_AMPLE is the most on which these were chosen: beyond, half of the
covariances of schooling and wages (55,000 wage earners at epsilon 4) were refused, with an index asked for that no tail shows."""
SHORT, SHORT_LAST = 1.0, 9.0
"""A covariance whose usual interval is no longer than SHORT, in the walk's units, is known, however far columns reach and
whatever the index, unless the last octave shows more than SHORT_LAST scales of its noise. Where columns have no second moment
their deviations as found are far too small, and intervals long in these units: medians of 1.6 to 17 for Pareto pairs of index 2.2
and below. Those of counts with a few codes far out, which reach 10 to 60 scales, are .05 to 1. Without it, 5% of 6,000
covariances of real pairs (half A) were refused for how far columns reach, of which all but one would have held the truth. Of 600
Pareto pairs of index 2.2 and below, 4 get a reply by it, none of which holds."""


@dataclass(frozen=True)
class PairProducts:
    """What every row says of a covariance."""

    units: PairUnits
    correlation: float

    def of(self, raw_rows: Floats) -> Floats:
        """The scores of rows."""
        raw_points = self.units.of(raw_rows)
        return np.asarray(raw_points[:, 0] * raw_points[:, 1] - self.correlation)

    def corner(self, reaches: tuple[float, float]) -> float:
        """The largest score of rows as far from the middles as the columns reach."""
        x, y = (reach / scale for reach, scale in zip(reaches, self.units.scales, strict=True))
        return x * y + abs(self.correlation)


@dataclass(frozen=True)
class ScoredCovariance:
    """A covariance with what makes it differ from the truth, all in a unit."""

    unit: float
    """What a covariance of 1 is, as a product of numbers; the largest float where it is more."""
    value: float
    rows: float
    sampling: float
    """The variance that drawing the rows gives."""
    noise: float
    """The variance that noise gives."""
    lost: tuple[float, float]
    """By how much it may be too high and too low, for scores that were cut off."""
    is_known: bool
    """Whether rows far out leave it known."""

    def ends(self, level: float) -> tuple[float, float]:
        """An interval that holds the true covariance with about the probability `level`, in the unit."""
        half = interval_half(level, self.rows, self.sampling, self.noise)
        return self.value - half - self.lost[0], self.value + half + self.lost[1]


class CovarianceWalk(PairWalk):
    """One covariance on its way."""

    def arrive(self) -> ScoredCovariance | float:
        """Spend the rest of the budget; where a column varies no more than noise, or is too large, only how large it can be."""
        reaches = self._reaches()
        moments = self._moments(reaches, POINTS)
        if self.is_too_large:
            return sys.float_info.max
        if not self._vary(moments):
            return _most(moments)
        scores = PairProducts(moments.standardized(), moments.correlation)
        median = max(self._median(scores), LEAST_MEDIAN)
        place = max(PLACE * self._ample**PLACE_POWER * median, scores.corner(moments.units.scales) / CORNER)
        tails = self._score_tails(scores, place)
        likely, end = tails.cuts(self._rows, self._budget.deviation(self._last_share, 1), LIKELY, LIKELY_TIMES)
        sums = self._last_sums(scores, place * place_of(likely), place * place_of(end))
        return self._judged(scores, tails, (likely, end), sums, _means_off(moments))

    def _judged(
        self, scores: PairProducts, tails: Tails, cuts: tuple[int, int], sums: LastSums, means_off: float
    ) -> ScoredCovariance:
        """The covariance, with an interval that allows for more where tails look heavy."""
        likely, end = cuts
        ample = max(self._nats / HEAVY_NATS, 1.0)
        reaching = self._reaching / ample**HEAVY_POWER
        heavy = min(max((reaching - LIGHT) / (HEAVY - LIGHT), 0.0), 1.0)
        times = 1 + HEAVY_TIMES * heavy
        quantile, squared = (least + (MOST_QUANTILE - least) * heavy for least in (LEAST_QUANTILE, LEAST_SQUARED))
        below, above = (times * lost for lost in tails.lost(end, quantile))
        below, above = (max(lost, shown) for lost, shown in zip((below, above), tails.together(end), strict=True))
        sampling = sums.sampling + times * tails.lost_squares(likely, squared) / self._rows**2
        index_known = not heavy or tails.near_index(self._rows) >= LEAST_INDEX * min(ample, TRIED_AMPLE) ** INDEX_POWER
        x, y = scores.units.scales
        found = ScoredCovariance(
            min(x * y, sys.float_info.max),
            scores.correlation + sums.mean,
            self._rows,
            sampling,
            sums.deviation**2 + means_off**2,
            (below / self._rows, above / self._rows),
            index_known and tails.most_in_last <= MOST_LAST and reaching <= HEAVIEST,
        )
        low, high = found.ends(USUAL_LEVEL)
        return replace(found, is_known=tails.most_in_last <= SHORT_LAST) if high - low <= SHORT else found


def _means_off(moments: RoughMoments) -> float:
    """About the product of what both means are off by because of noise, in deviations of the columns."""
    return (2 * moments.doubt / moments.radius) ** 2 / moments.norm


def _most(moments: RoughMoments) -> float:
    """About the largest covariance that columns with such variances have, noise being what it is."""
    x, y = (
        reach * math.sqrt(max(variance, 0.0) + SURE * moments.doubt)
        for reach, variance in zip(moments.units.scales, moments.variances, strict=True)
    )
    return min(x * y, sys.float_info.max)
