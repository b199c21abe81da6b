"""Contrasts: a mean of clipped rows, or the difference of two, with its interval and the p-value that goes with it.

A p-value is 1 less the largest level whose interval leaves the null hypothesis outside. So test and interval never disagree,
and all that the interval allows for (sampling, noise, skewness, what the clip may lose) is in the p-value as well. Everything
here is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from dpstats.foundations.rounding import nearest_float
from dpstats.statistics.clipped.cells import NoisyCells
from dpstats.statistics.clipped.margins import FEWEST_ROWS, Spread, spread_of
from dpstats.statistics.clipped.margins import mean_of as cells_mean
from dpstats.statistics.means import MOST_LOST, Clipped
from dpstats.statistics.testing.cuts import likely_lost
from dpstats.statistics.testing.results import GREATER, LESS

ALLOWED_LOSS = 0.15
"""The part of what a clip may lose, as it is reckoned for a mean, that one mean allows for; a test of it: one_column.LENGTH."""
EITHER_LOSS = 0.02
"""The part of what a clip that groups share may lose that is allowed for in a difference however alike they look: about a tenth
of a standard error where they are cut at four scales (cuts.py)."""
ALIKE_REACH, REACH_DOUBT, NET_LOSS, MOST_NET = 0.25, 0.7, 4.0, 2.0
"""Groups that differ in how far their rows reach towards an end by less than this part of it, beyond so many deviations of its
noise, count as alike: they lose alike there. Beyond that so many times what the clip may take from all rows is allowed for, and
MOST_NET is the largest part that is counted.

Chosen on drawn groups of the same mean and different tails (exponential against its mirror image, lognormal with 1 and .5, Pareto
against exponential; 80 tables each): half of NET_LOSS lets them differ in twice as many tables as allowed, and twice of it takes
less than .02 of the power of groups that are alike. With 0.15,
0.5 and 6 the analysis of variance finds 45 and not 60% of effects among exponential groups (60 samples)."""
NOISE_OF_REACH = 1.8
"""The noise of a reach, in units of 1 / epsilon rows: the cells (0, 1/3, -2/3, 1) add up to d**2 (1 + d) / 2."""
GROUP_NATS = 40.0
"""Rows times epsilon of a group that is cut off at limits of all rows, from which on its mean can be told."""
SEEN_NATS = 200.0
"""Rows times epsilon from which on the limits can be trusted; with fewer, nothing is rejected."""
SMALLEST_RADIUS, LARGEST_RADIUS = 1e-70, 1e70
"""Limits whose fourth powers are floats."""
LEAST_TAIL = 1e-15
"""The smallest p-value that is looked for: 1 less the highest level of an interval."""


@dataclass(frozen=True)
class Contrast:
    """A number with what may separate it from the truth, in the unit of the data."""

    spread: Spread
    seen: bool
    """Whether there were rows enough for a verdict."""
    lost_below: float = 0.0
    """By how much the clip may have made it too large."""
    lost_above: float = 0.0

    @property
    def value(self) -> float:
        """The estimate itself."""
        return self.spread.mean

    def statistic(self, null: float) -> float:
        """How many standard errors it lies above the null hypothesis."""
        difference = self.value - null
        if self.spread.variance > 0:
            return difference / math.sqrt(self.spread.variance)
        return math.copysign(math.inf, difference) if difference else 0.0

    def reach(self, level: float) -> tuple[float, float]:
        """The ends of the interval of a level."""
        below, above = self.spread.reach(level)
        most = MOST_LOST * (below + above) / 2
        return self.value - below - min(self.lost_below, most), self.value + above + min(self.lost_above, most)

    def p_value(self, null: float, alternative: str) -> float:
        """The p-value of a null hypothesis; 1 where there is no verdict."""
        if not self.seen:
            return 1.0
        outside = self._largest_tail(null)
        if alternative not in (LESS, GREATER):
            return outside
        on_side = self.value > null if alternative == GREATER else self.value < null
        return outside / 2 if on_side else 1 - outside / 2

    def _largest_tail(self, null: float) -> float:
        """The least 1 - level whose interval leaves the null hypothesis out; intervals grow with the level."""

        def leaves_out(tail: float) -> bool:
            low, high = self.reach(1 - tail)
            return not low <= null <= high

        low, high = math.log(LEAST_TAIL), 0.0
        if leaves_out(LEAST_TAIL):
            return LEAST_TAIL
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if leaves_out(math.exp(middle)) else (middle, high)
        return math.exp(high)


def difference_at_common_limits(first: Clipped, second: Clipped, epsilon: float) -> Contrast:
    """The mean of one group's clipped rows less that of another one's, where limits are those of all rows.

    What the clip takes cancels where the groups' rows reach as far; else the rows of one group lose more than the other's.
    """
    one, other = mean_of(first, epsilon), mean_of(second, epsilon)
    contrast = difference_of(one, other)
    if first.cells is None or second.cells is None:
        return contrast
    rows = max(first.noisy_rows, FEWEST_ROWS)
    enough = min(one.spread.rows, other.spread.rows) * epsilon >= GROUP_NATS and rows * epsilon >= SEEN_NATS
    seen = enough and SMALLEST_RADIUS <= first.frame.radius <= LARGEST_RADIUS
    lost_here = likely_lost(first.cut)
    net = [lost / rows * _more_at_end(first.cells, second.cells, end) for lost, end in zip(lost_here, (0, -1), strict=True)]
    too_small = max(net[1], 0.0) + max(-net[0], 0.0)
    too_large = max(-net[1], 0.0) + max(net[0], 0.0)
    either = EITHER_LOSS * sum(lost_here) / rows
    return replace(contrast, seen=seen, lost_below=either + NET_LOSS * too_large, lost_above=either + NET_LOSS * too_small)


def _more_at_end(first: NoisyCells, second: NoisyCells, end: int) -> float:
    """By how much the rows of one group reach more towards an end of the clip than those of another one, over what those of both
    together do; 0 where noise or chance may be all of it, and from -MOST_NET to MOST_NET."""
    rows = [max(cells.total(0), FEWEST_ROWS) for cells in (first, second)]
    reaches = [_reach_towards(cells, end) for cells in (first, second)]
    doubt = math.hypot(*(NOISE_OF_REACH / cells.epsilon / count for cells, count in zip((first, second), rows, strict=True)))
    whole = max((reaches[0] * rows[0] + reaches[1] * rows[1]) / sum(rows), doubt, 1e-300)
    difference = reaches[0] - reaches[1]
    net = max(abs(difference) - REACH_DOUBT * doubt, 0.0) / whole - ALIKE_REACH
    return math.copysign(min(MOST_NET, max(net, 0.0)), difference)


def _reach_towards(cells: NoisyCells, end: int) -> float:
    """The mean of d**2 (1 + d) / 2 over a group's rows, where d is the distance from their mean in u: most of it comes from rows
    towards the upper end; with `end` 0 that of d**2 (1 - d) / 2."""
    rows, mean = max(cells.total(0), FEWEST_ROWS), cells_mean(cells)
    second, third = cells.total(2) / rows, cells.total(3) / rows
    square = second - mean**2
    cube = third - 3 * mean * second + 2 * mean**3
    return max((square + (cube if end else -cube)) / 2, 0.0)


def mean_of(clipped: Clipped, epsilon: float) -> Contrast:
    """The mean of a column's clipped rows."""
    if clipped.cells is None:
        return Contrast(Spread(FEWEST_ROWS, float(clipped.cut.middle), 0.0, 0.0, 0.0, 0.0), False)
    spread, frame = spread_of(clipped.cells), clipped.frame
    radius = min(frame.radius, LARGEST_RADIUS)
    scaled = Spread(
        spread.rows,
        nearest_float(frame.centre + frame.radius * spread.mean),
        radius**2 * spread.sampling,
        radius**2 * spread.noise,
        spread.noise_kurtosis,
        radius * spread.skew,
    )
    lost_below, lost_above = (
        (ALLOWED_LOSS * lost + frame.radius * slack) / max(spread.rows, FEWEST_ROWS)
        for lost, slack in zip(clipped.cut.lost, clipped.cells.slack(1), strict=True)
    )
    seen = spread.rows * epsilon >= SEEN_NATS and SMALLEST_RADIUS <= frame.radius <= LARGEST_RADIUS
    return Contrast(scaled, seen, lost_below, lost_above)


def difference_of(first: Contrast, second: Contrast) -> Contrast:
    """The first mean less the second, of different rows."""
    one, other = first.spread, second.spread
    sampling, noise = one.sampling + other.sampling, one.noise + other.noise
    noise_kurtosis = (one.noise_kurtosis * one.noise**2 + other.noise_kurtosis * other.noise**2) / (noise**2 or 1.0)
    skew = (one.skew * one.sampling - other.skew * other.sampling) / (sampling or 1.0)
    spread = Spread(1 + welch_df(one, other), nearest_float(one.mean - other.mean), sampling, noise, noise_kurtosis, skew)
    seen = first.seen and second.seen
    return Contrast(spread, seen, first.lost_below + second.lost_above, first.lost_above + second.lost_below)


def welch_df(one: Spread, other: Spread) -> float:
    """Welch's degrees of freedom, of the sampling error."""
    parts = [(each.sampling, max(each.rows - 1, 1.0)) for each in (one, other)]
    summed = sum(part**2 / df for part, df in parts)
    return sum(part for part, _ in parts) ** 2 / summed if summed > 0 else sum(df for _, df in parts)
