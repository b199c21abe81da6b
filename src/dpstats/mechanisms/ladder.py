"""A ladder of proposals: the first of many proposed bounds that a private test finds safe.

Claim      (epsilon, delta)-DP for the place of the rung, and a rung whose distance is 0 is chosen with probability at most
           delta in all
Neighbors  Whichever relation every distance moves by at most 1 under
Why        Sparse vector: one noise for the threshold, fresh noise for every rung, and the first rung that reaches the threshold
           ends the run, at one price however many rungs there are. At distance 0 the two noises must bridge the whole
           threshold, and the threshold is so high that all rungs together do so with probability at most delta.
Numerics   Whole distances, exact discrete Laplace noises; the tail of their difference is a closed form, rounded up
Source     Dwork & Roth 2014, Algorithm 1, on the distances of propose-test-release
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.distance_tests import MOST_STEPS, SURE_NATS

THRESHOLD_SHARE = Fraction(3, 10)
"""The threshold's part of epsilon; the rungs' noise, which decides alone whether a safe rung is found, gets the rest."""
_GUARD = 128


@dataclass(frozen=True)
class Ladder:
    """A run over `rungs` proposals, the most accurate first."""

    epsilon: Fraction
    delta: Fraction
    rungs: int

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise that all rungs share."""
        return 1 / (self.epsilon * THRESHOLD_SHARE)

    @property
    def rung_scale(self) -> Fraction:
        """The scale of every rung's own noise."""
        return 2 / (self.epsilon * (1 - THRESHOLD_SHARE))

    @functools.cached_property
    def threshold(self) -> int:
        """A threshold that both noises bridge with probability at most delta / rungs."""
        allowed = self.delta / self.rungs
        bits = 2 * (_GUARD + math.ceil(1 / allowed).bit_length())
        low, high = 0, 1
        while tail_of_sum(self.threshold_scale, self.rung_scale, high, bits) > allowed:
            low, high = high, high * 2
        while high - low > 1:
            middle = (low + high) // 2
            too_low = tail_of_sum(self.threshold_scale, self.rung_scale, middle, bits) > allowed
            low, high = (middle, high) if too_low else (low, middle)
        return high

    @property
    def cap(self) -> int:
        """A public distance from which on all distances are treated alike."""
        return min(self.threshold + math.ceil(SURE_NATS * self.rung_scale), MOST_STEPS)

    def first_safe(self, raw_distance: Callable[[int], int], rng: RandomSource) -> int | None:
        """The first rung that reaches the threshold, given each rung's distance; None if none does."""
        noisy_threshold = self.threshold + int(sample_discrete_laplace(self.threshold_scale, 1, rng)[0])
        for rung in range(self.rungs):
            noise = int(sample_discrete_laplace(self.rung_scale, 1, rng)[0])
            if min(raw_distance(rung), self.cap) + noise >= noisy_threshold:
                return rung
        return None


def tail_of_sum(first: Fraction, second: Fraction, least: int, bits: int = 2 * _GUARD) -> Fraction:
    """An upper bound of P(X + Y >= least), least >= 1, for independent discrete Laplace X and Y of two different scales.

    With a, b = exp(-1 / scale) the sum over y of P(Y = y) P(X >= least - y) is made of geometric series. The exponentials are
    known to `bits` bits; what their errors can do to the sum is far below the 2**(-bits / 2) that is added.
    """
    a, b = (Fraction(exp_bounds(1 / scale, bits)[1], 1 << bits) for scale in (first, second))
    if a == b:  # both below every bit that is looked at: so is the sum
        return Fraction(1, 1 << (bits // 2))
    power_a, power_b = (Fraction(exp_bounds(least / scale, bits)[1], 1 << bits) for scale in (first, second))
    near = power_a * a * b / (1 - a * b) + a * (power_a - power_b) / (a - b)
    far = power_b / (1 - b) - a * power_b / ((1 - a * b) * (1 + a))
    exact = (1 - b) / (1 + b) * (near / (1 + a) + far)
    return exact + Fraction(1, 1 << (bits // 2))
