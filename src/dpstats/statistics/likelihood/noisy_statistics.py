"""Noisy sufficient statistics: bound-free private means of what the estimate of an exponential family follows from.

Claim      epsilon-DP, no delta, no refusal
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added, at half of epsilon
Why        Each statistic is a number of each row by itself; its mean is that of a column (means.py), at equal parts of epsilon
Numerics   Statistics are floats of one row each; from there on exact up to the noise, as means are
Source     cells.proof.md, limits.proof.md; Dwork & Smith 2009, section 3.1.3
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.aggregation.votes_column import VotesColumn
from dpstats.statistics.clipped.clips import ROOM
from dpstats.statistics.likelihood.family import ExponentialFamily
from dpstats.statistics.likelihood.quartiles import LARGEST
from dpstats.statistics.means import MEAN_DEGREE, clipped_for, mean_and_interval

LEVEL = Fraction(95, 100)
SIMULATED = 1 << 14
SEED = 7
_STEP = 1e-4


@dataclass(frozen=True)
class Solved:
    """The estimate at noisy means, and how far off it may be."""

    theta: Floats
    covariance: Floats
    """The covariance of the parameters, for sampling and noise."""
    noisy_rows: int


def solve_noisy(family: ExponentialFamily, table: Table, epsilon: Fraction, rng: RandomSource) -> Solved:
    """Spend epsilon, for one row added or removed, on the means of the statistics."""
    with np.errstate(all="ignore"):
        raw_statistics = family.statistics(table.matrix())
    size = raw_statistics.shape[1]
    means, deviations, noisy_rows = [], [], []
    for place in range(size):
        clipped = clipped_for(VotesColumn(raw_statistics[:, place]), epsilon / size, rng, MEAN_DEGREE, ROOM)
        value, interval = mean_and_interval(clipped, LEVEL)
        assert interval is not None
        means.append(value)
        deviations.append((interval.high - interval.low) / 2 / NormalDist().inv_cdf((1 + float(LEVEL)) / 2))
        noisy_rows.append(max(1, clipped.noisy_rows))
    theta = family.solve(np.array(means))
    rows = max(1, round(sum(noisy_rows) / size))
    return Solved(theta, _covariance(family, theta, np.array(means), np.array(deviations), rows), rows)


def _covariance(family: ExponentialFamily, theta: Floats, means: Floats, deviations: Floats, rows: int) -> Floats:
    """By the slopes of the estimate in the means. Errors of means go together as the family says, as far as they are sampling."""
    deviations = np.minimum(deviations, LARGEST)  # so that its square is a number
    slopes = np.empty((len(theta), len(means)))
    for place, deviation in enumerate(deviations):
        moved = np.zeros(len(means))
        moved[place] = deviation or _STEP
        slopes[:, place] = (family.solve(means + moved) - family.solve(means - moved)) / (2 * moved[place])
    sampling = np.zeros((len(means), len(means)))
    sample = getattr(family, "sample", None)
    if sample is not None:
        with np.errstate(all="ignore"):
            simulated = np.nan_to_num(family.statistics(sample(theta, SIMULATED, np.random.default_rng(SEED))))
            sampling = np.atleast_2d(np.cov(simulated.T, bias=True)) / rows
    noise = np.maximum(0.0, deviations**2 - np.diag(sampling))
    scale = np.minimum(1.0, deviations / np.sqrt(np.maximum(np.diag(sampling), 1e-300)))
    with np.errstate(all="ignore"):
        covariance = slopes @ (sampling * np.outer(scale, scale) + np.diag(noise)) @ slopes.T
    return np.where(np.isnan(covariance), np.inf, covariance)
