"""A limit of degrees, chosen privately: the first power of two beyond which twice the limit gains few edges.

Claim      epsilon-DP for the limit
Neighbors  NODE: one node added or removed with all its edges
Why        F(limit), twice the edges under a limit (flows.py), rises by at most 2 * limit if a node is added, and never falls. So
           F(2 * limit) - F(limit) moves by at most 4 * limit. Divided by that, it is an answer of sensitivity 1 for sparse vector
           (mechanisms/sparse_vector.py), which asks limit after limit and stops at the first whose gain is below a threshold.
Numerics   Exact rationals, exact noise
Source     The threshold is searched as the largest "good" one of Kasiviswanathan et al. 2013. The generalised exponential
           mechanism of Raskhodnikova & Smith 2016, tried on the same gains, took far too large limits more often: there are
           many of them, and their scores are alike
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from dpstats.foundations.privacy import GraphNeighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.sparse_vector import AboveThreshold

LIMITS = tuple(1 << power for power in range(25))
"""The limits to choose among; public."""
ENOUGH, UNJUDGED = Fraction(4, 5), 5
"""A limit of 2**k is taken if it is told to gain less than ENOUGH * (k - UNJUDGED) / epsilon, in what one node can move its gain
by. That rises with the limit, so that an unlucky threshold does not lead far beyond all degrees."""


def choose_limit(raw_doubled: Callable[[int], int], epsilon: Fraction, rng: RandomSource) -> int:
    """One of the limits; `raw_doubled` is F, which takes a limit."""
    run = AboveThreshold(0, sensitivity=1, epsilon=epsilon, neighbors=GraphNeighbors.NODE, rng=rng)
    for doublings, limit in enumerate(LIMITS[:-1]):
        if run.ask(ENOUGH * (doublings - UNJUDGED) / epsilon - raw_gain(raw_doubled, limit)):
            return limit
    return LIMITS[-1]


def raw_gain(raw_doubled: Callable[[int], int], limit: int) -> Fraction:
    """What twice the limit gains, in units of the most that one node can move it by."""
    return Fraction(raw_doubled(2 * limit) - raw_doubled(limit), 4 * limit)
