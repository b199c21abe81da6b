"""Score intervals for a share, from a noisy count of the rows that have something and one of the rows that have it not.

For a share p, the difference (1 - p) yes - p no has mean 0, however many rows there are: Wilson's idea and Fieller's at once.
So the number of rows need not be known. It is estimated for the variance alone, which is that of sampling and of the noise. The
interval holds the shares that the difference does not contradict. Counts below 0 stay as they were drawn: without the negative
ones, noise would have a mean.

Claim      Nothing is spent here: all of it is arithmetic on released counts
Source     Wilson 1927; Fieller 1954
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from dpstats.foundations.portable import OWN_DIGITS, rounded

_HALVINGS = 40
"""They settle more digits than are shown."""


@dataclass(frozen=True)
class CountNoise:
    """Laplace noise in two counts: independent and alike, or where `turned`, so in their sum and in their difference."""

    variance: float
    """Of the noise in each count; where `turned`, in their sum and in their difference."""
    turned: bool = False

    @classmethod
    def laplace(cls, epsilon: float, *, turned: bool = False) -> CountNoise:
        """Whole-number Laplace noise of scale 1 / epsilon."""
        return cls(2 * math.exp(-epsilon) / (math.expm1(-epsilon) * math.expm1(-epsilon)), turned)

    def moments(self, share: float) -> tuple[float, float]:
        """Variance and fourth cumulant of the noise in (1 - share) yes - share no."""
        one, other = ((1 - 2 * share) / 2, 0.5) if self.turned else (1 - share, share)
        one, other = one * one * self.variance, other * other * self.variance
        return one + other, 3 * (one * one + other * other)


def score_interval(yes: float, no: float, noise: CountNoise, level: float) -> tuple[float, float]:
    """The shares that two noisy counts do not contradict at a confidence level, both ends from 0 to 1.

    Where noise takes a count below 0, the end of the interval on its side is 0 or 1. No interval is shorter than one that counts
    without noise would give: none of as many rows.
    """
    if yes + no <= 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    return _shown(1 - _upper_end(no, yes, noise, z)), _shown(_upper_end(yes, no, noise, z))


def thinned(yes: float, no: float, noise: CountNoise, times: float) -> tuple[float, float, CountNoise]:
    """Both counts and their noise divided by `times`: the score interval of these is that of rows whose sampling variance is so
    many times as large as that of independent ones."""
    return yes / times, no / times, CountNoise(noise.variance / (times * times), noise.turned)


def share_of_counts(yes: float, no: float) -> float:
    """The share that two noisy counts tell, from 0 to 1; one half where they tell nothing."""
    return min(max(yes / (yes + no), 0.0), 1.0) if yes + no > 0 else 0.5


def _upper_end(yes: float, no: float, noise: CountNoise, z: float) -> float:
    """The largest share that the counts do not contradict."""
    if no <= 0:
        return 1.0
    rows = max(yes + no, 1.0)
    inside = max(share_of_counts(yes, no), z * z / (rows + z * z))  # Wilson's upper end for none of so many rows
    outside = 1.0
    if _contradicts(inside, yes, no, noise, z):
        return inside  # yes lies so far below 0 that every share beyond is contradicted, too
    if not _contradicts(outside, yes, no, noise, z):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        if _contradicts(middle, yes, no, noise, z):
            outside = middle
        else:
            inside = middle
    return outside


def _contradicts(share: float, yes: float, no: float, noise: CountNoise, z: float) -> bool:
    """Whether the counts lie further from what a share makes of them than sampling and noise explain.

    The difference is held to be normal but for its kurtosis, which the noise gives it, and its skewness, which the rows do
    (Cornish & Fisher's expansion). Both only lengthen the reach. What they would take off it, on the shorter side and at levels
    below 92%, they take too much of: intervals would hold less often where only one or two rows are expected.
    """
    noise_variance, fourth = noise.moments(share)
    sampling = max(yes + no, 1.0) * share * (1 - share)
    variance = sampling + noise_variance
    if not variance > 0:
        return (1 - share) * yes != share * no
    kurtosis, skewness = fourth / (variance * variance), sampling * (1 - 2 * share) / (variance * math.sqrt(variance))
    difference = ((1 - share) * yes - share * no) / math.sqrt(variance)
    heavier = max((z * z * z - 3 * z) / 24 * kurtosis, 0.0)
    longer = max((z * z - 1) / 6 * math.copysign(skewness, skewness * difference), 0.0)
    return abs(difference) > z + heavier + longer


def _shown(end: float) -> float:
    """An end to the digits that are the same on every machine."""
    return rounded(end, 1.0, OWN_DIGITS)
