"""The grain of a column: whether the rows near a target are whole numbers, by a noisy look.

Claim      grain_epsilon-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        Of the 2 * reach rows whose ranks are nearest the target, each whole number counts +1 and each other finite one -1.
           One row added, removed or changed puts at most one row into that set and takes at most one out, so the sum moves
           by at most 2, and discrete Laplace noise of scale 2 / grain_epsilon hides that. What is done with the noisy sum,
           the choice of a public measure, is post-processing.
Numerics   Whole numbers and exact noise
Source     grain.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import OrderWindow
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.universal.measure import FINE, MIXED, WHOLE, Measure

GRAIN_SHARE = Fraction(3, 100)
"""Part of epsilon for the look."""
_REACH_NATS = 200


def grain_reach(epsilon: Fraction) -> int:
    """How many rows to either side of the target are looked at: three scales of the noise."""
    return math.ceil(_REACH_NATS / epsilon)


def suited_measure(window: OrderWindow, quantile: Fraction, reach: int, grain_epsilon: Fraction, rng: RandomSource) -> Measure:
    """The base measure that suits the rows around the target; MIXED where the noisy look leaves it open."""
    noisy_grain = raw_grain(window, quantile, reach) + int(sample_discrete_laplace(2 / grain_epsilon, 1, rng)[0])
    if 2 * noisy_grain >= reach:
        return WHOLE
    return FINE if 2 * noisy_grain <= -reach else MIXED


def raw_grain(window: OrderWindow, quantile: Fraction, reach: int) -> int:
    """Whole rows less other finite rows, of those with ranks floor(target) - reach + 1 to floor(target) + reach."""
    middle = math.floor(quantile * window.raw_rows)
    raw_ends = window.raw_below + np.cumsum(window.raw_counts)
    raw_starts = raw_ends - window.raw_counts
    raw_inside = np.minimum(raw_ends, middle + reach) - np.maximum(raw_starts, middle - reach)
    raw_finite = np.isfinite(window.raw_values)
    raw_whole = raw_finite & (np.rint(window.raw_values) == window.raw_values)
    signs = raw_whole.astype(np.int64) - (raw_finite & ~raw_whole)
    return int((signs * np.maximum(raw_inside, 0)).sum())
