"""A limit of degrees, chosen privately: where what a larger one would gain no longer pays for the noise that it brings.

Claim      epsilon-DP for the limit
Neighbors  NODE: one node added or removed with all its edges
Why        Every limit i has a loss, of which only differences between two limits are known: how much j > i gains over i. Such a
           gain moves by at most a public amount for one node, and is divided by it; the score of i is the largest of these
           quotients, over all j, and moves by at most 1. Report-noisy-max picks the lowest score (mechanisms/noisy_max.py).
Numerics   Exact rationals
Source     Raskhodnikova & Smith 2016, the generalised exponential mechanism, with gains in place of losses
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dpstats.foundations.privacy import GraphNeighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.noisy_max import noisy_max

LIMITS = tuple(2**power for power in range(21))
"""The limits to choose among; public."""

Gain = Callable[[int, int], int]
"""How much the limit at the second, larger index gains over that at the first."""


def choose_limit(
    raw_gain: Gain, moved: Callable[[int, int], int], price: Fraction, epsilon: Fraction, rng: RandomSource
) -> int:
    """One of the limits. One node moves the gain of j over i by at most moved(i, j) > 0; a limit costs `price` times itself."""
    scores = limit_scores(raw_gain, moved, price)
    released = noisy_max([-score for score in scores], sensitivity=1, epsilon=epsilon, neighbors=GraphNeighbors.NODE, rng=rng)
    return LIMITS[int(released.value)]


def limit_scores(raw_gain: Gain, moved: Callable[[int, int], int], price: Fraction) -> Sequence[Fraction]:
    """For each limit the most that another one is better by, in units of what one node moves; each moves by at most 1."""
    indices = range(len(LIMITS))
    better: list[list[Fraction]] = [[Fraction(0)] for _ in indices]
    for low in indices:
        for high in indices[low + 1 :]:
            ahead = raw_gain(low, high) - price * (LIMITS[high] - LIMITS[low])
            better[low].append(ahead / moved(low, high))
            better[high].append(-ahead / moved(low, high))
    return [max(each) for each in better]
