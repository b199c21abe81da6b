"""Keys that many rows share, by Gaussian noise: for many choices out of one concentrated budget.

Claim      delta-approximate rho-zCDP: but for an event of probability delta it is rho-zCDP
Neighbors  ADD_REMOVE of one row, and a row has one key
Why        A key of fewer than LEAST_ROWS rows is never released. One row moves the count of one other key by 1, which discrete
           Gaussian noise of variance 1 / (2 rho) hides; a key that has LEAST_ROWS rows on one side, and one fewer on the
           other, is released only if its noise reaches the threshold, which has probability at most delta
Numerics   Counts are whole, the noise is exact, and the threshold is rounded up: P(Z >= t) <= P(N >= t - 1) for the discrete and
           the continuous law, and P(N >= x) <= exp(-x**2 / (2 variance)) / 2
Source     gaussian_thresholding.proof.md; Canonne, Kamath & Steinke 2020, Proposition 25; Bun & Steinke 2016, section 8
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import log_bounds, sqrt_bounds
from dpstats.mechanisms.gaussian import sample_discrete_gaussian

LEAST_ROWS = 20
"""Keys of fewer rows are not looked at, so that a column of millions of different values costs no noise for each."""


def threshold_at(variance: Fraction, delta: Fraction) -> int:
    """The noisy count from which on a key is released."""
    nats = log_bounds(1 / (2 * delta))[1]
    return LEAST_ROWS + 1 + math.ceil(sqrt_bounds(2 * variance * max(nats, Fraction(0)))[1])


def choose_by_count(
    raw_counts: NDArray[np.int64], variance: Fraction, delta: Fraction, rng: RandomSource
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places of keys whose noisy count reaches the threshold, in the order in which they are given, and these counts.

    The order of the keys must not depend on the rows, but for which keys there are.
    """
    raw_places = np.flatnonzero(raw_counts >= LEAST_ROWS)
    noise = np.asarray(sample_discrete_gaussian(variance, raw_places.size, rng), dtype=np.int64)
    noisy_counts = raw_counts[raw_places] + noise
    chosen = noisy_counts >= threshold_at(variance, delta)
    return raw_places[chosen], noisy_counts[chosen]
