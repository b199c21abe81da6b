"""Means of several groups: whether they are the same, by Welch's version of the analysis of variance with noise in the weights.

Each group has a mean with a sampling variance and a noise variance. With w = 1 / (both together) and W the sum of the w, the
spread between groups is the sum over pairs of w_i w_j / W * (mean_i - mean_j)**2, which is that of squared distances from the
weighted mean. From each difference what the common clip may have taken from one group more than from the other is subtracted
first. The null law is simulated: normal sampling errors with estimated variances, and noise of its own variance and kurtosis.
Everything here is arithmetic on released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dpstats.foundations.portable import OWN_DIGITS, rounded
from dpstats.statistics.clipped.margins import CAUTION, FEWEST_ROWS, Spread
from dpstats.statistics.means import MOST_LOST
from dpstats.statistics.testing.noise import Floats

SIMULATED = 9_999
_USUAL = 0.95
_LEAST_KURTOSIS = 1e-3
_LARGEST, _LEAST_VARIANCE, _LEAST_LEFT = 1e60, 1e-60, 0.5


@dataclass(frozen=True)
class MeansVerdict:
    """The verdict on several means."""

    statistic: float
    """Welch's F."""
    df: tuple[float, float]
    p_value: float
    share: float
    """The share of the variance that lies between groups: eta squared, less what chance and noise give."""
    excess: float
    null_mean: float
    null_variance: float
    scale: float
    """The variance between groups, over that within them, that one unit of spread stands for."""
    doubt: float = 0.0
    """The standard deviation of the variance within groups, for noise and sampling, as a share of it."""
    p_is_upper_bound: bool = False
    """Whether no simulated spread is as large: p could be smaller with more simulations."""

    def interval(self, level: float) -> tuple[float, float]:
        """Shares that the means do not contradict: 0 is one of them just if the test at this level does not reject."""
        z = NormalDist().inv_cdf((1 + level) / 2)
        groups = self.df[0]
        slope = 2 * z * z * self.null_mean / groups
        spread = math.sqrt(max(slope * (slope + 2 * self.excess) + z * z * self.null_variance, 0.0))
        low = 0.0 if self.p_value >= 1 - level else max(self.excess + slope - spread, 0.0)
        high = max(self.excess + slope + spread, 0.0)
        wide = 1 + z * self.doubt
        return share_of_variance(low * self.scale / wide), max(share_of_variance(high * self.scale * wide), self.share)


def share_of_variance(ratio: float) -> float:
    """The share of a whole whose parts have this ratio, in digits that are the same everywhere."""
    return rounded(ratio / (1 + ratio), 1.0, OWN_DIGITS - 1)


def judge_means(
    spreads: Sequence[Spread], lost: Floats, generator: np.random.Generator, doubts: Sequence[float] | None = None
) -> MeansVerdict:
    """The verdict on groups' means; lost[i, j] is by how much mean i may be too large beside mean j because of the clip.

    `doubts` are what the noise may have done to each group's variance, as a share of it.
    """
    groups = len(spreads)
    rows = np.array([max(each.rows, FEWEST_ROWS) for each in spreads])
    unit = math.sqrt(max(each.variance for each in spreads))
    if not all(each.variance > 0 for each in spreads):
        return _no_verdict(groups)
    means, lost = _in_units(np.array([each.mean for each in spreads]), unit), _in_units(lost, unit, centre=0.0)
    sampling, noise = (np.array([getattr(each, name) / unit / unit for each in spreads]) for name in ("sampling", "noise"))
    variances = np.maximum(sampling + noise, _LEAST_VARIANCE)
    reach = NormalDist().inv_cdf((1 + _USUAL) / 2) * np.sqrt(variances[:, None] + variances[None, :])
    seen = float(spread_between(means[None], variances[None], np.minimum(lost, MOST_LOST * reach))[0])
    observed = _own(seen)
    null = _null_spreads(sampling, noise, rows, [each.noise_kurtosis for each in spreads], generator)
    beyond = int(np.count_nonzero(null >= observed * (1 - 1e-9)))
    weights = 1 / variances
    parts = (1 - weights / weights.sum()) ** 2 / np.maximum(rows - 1, 1.0)
    uneven = math.fsum(parts.tolist())
    denominator = 1 + 2 * (groups - 2) / (groups**2 - 1) * uneven
    null_mean = _own(float(null.mean()))
    excess = observed - null_mean
    relative = np.zeros(groups) if doubts is None else np.array(doubts)
    ratio, scale, doubt = _between_and_within(means, sampling, variances, rows, relative)
    if excess > 0 and ratio > 0:
        scale = ratio / excess
    return MeansVerdict(
        _own(observed / (groups - 1) / denominator),
        (float(groups - 1), (groups**2 - 1) / (3 * uneven)),
        (1 + beyond) / (1 + SIMULATED),
        share_of_variance(ratio if excess > 0 else 0.0),
        excess,
        null_mean,
        _own(float(null.var())),
        scale,
        doubt,
        beyond == 0,
    )


def _own(value: float) -> float:
    """A number to digits that are the same on every machine."""
    return rounded(value, value, OWN_DIGITS)


def _in_units(values: Floats, unit: float, centre: float | None = None) -> Floats:
    """Numbers from a centre, by default the first of them, in units; those that are too large for squares stop there."""
    with np.errstate(all="ignore"):
        moved = (values / unit) - (values[0] / unit if centre is None else centre)
    return np.asarray(np.clip(np.nan_to_num(moved, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST))


def _between_and_within(
    means: Floats, sampling: Floats, variances: Floats, rows: Floats, doubts: Floats
) -> tuple[float, float, float]:
    """The variance between groups, less what errors of the means add to it, over that within them; what one unit of spread is of
    it where groups are alike; and the doubt about that within them, which was raised by CAUTION doubts of each."""
    parts = rows / rows.sum()
    inside = parts * rows * sampling
    within = math.fsum((inside * np.maximum(1 - CAUTION * doubts, _LEAST_LEFT)).tolist())
    if within <= 0:
        return 0.0, 0.0, 0.0
    middle = math.fsum((parts * means).tolist())
    between = math.fsum((parts * (means - middle) ** 2 - parts * (1 - parts) * variances).tolist())
    doubt = math.hypot(*(inside * doubts).tolist()) / within
    scale = 1 / math.fsum((1 / variances).tolist()) / within
    return max(between, 0.0) / within, scale, math.hypot(doubt, 2 / math.sqrt(float(rows.sum())))


def spread_between(means: Floats, variances: Floats, lost: Floats | None = None) -> Floats:
    """The spread between groups of several sets of means, a set in each row."""
    weights = 1 / variances
    differences = means[:, :, None] - means[:, None, :]
    if lost is not None:
        differences = np.maximum(differences - lost, 0.0)  # of each pair one order is positive
        return np.asarray(_weighted(weights, differences**2))
    return np.asarray(_weighted(weights, differences**2) / 2)


def _weighted(weights: Floats, squares: Floats) -> Floats:
    return np.asarray(np.einsum("ri,rj,rij->r", weights, weights, squares) / weights.sum(axis=1))


def _null_spreads(
    sampling: Floats, noise: Floats, rows: Floats, kurtosis: Sequence[float], generator: np.random.Generator
) -> Floats:
    """Spreads of means that are the same but for their errors; noise is a normal variable of random variance."""
    shape = SIMULATED, len(rows)
    drawn = generator.normal(size=shape) * np.sqrt(sampling)
    freedom = np.maximum(rows - 1, 1.0)
    estimated = sampling * generator.chisquare(freedom, size=shape) / freedom + noise
    tail = np.maximum(np.array(kurtosis), _LEAST_KURTOSIS) / 3
    mixed = generator.gamma(1 / tail, tail, size=shape)
    return spread_between(drawn + generator.normal(size=shape) * np.sqrt(noise * mixed), estimated)


def _no_verdict(groups: int) -> MeansVerdict:
    """Where all rows seem to have one value."""
    return MeansVerdict(0.0, (float(groups - 1), 1.0), 1.0, 0.0, 0.0, 1.0, 1.0, 0.0)
