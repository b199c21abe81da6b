"""Broken twins of propose-test-release: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each stands in for `LaplaceTest` or `BestTest`, or for the scale of the release, and
each docstring names the mistake and, where it has one, its origin.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import log_bounds
from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest, noise_quantile


@dataclass(frozen=True)
class PrintedScaleTest(LaplaceTest):
    """Mistake: the threshold 1 + ln(1/delta) forgets to divide by epsilon, so that below epsilon = 1 noise alone reaches it.

    Dwork & Roth 2014, Algorithm 12, as printed.
    """

    @functools.cached_property
    def threshold(self) -> int:
        """The test passes when distance + noise is at least this."""
        return 1 + math.ceil(log_bounds(1 / self.delta)[1])


@dataclass(frozen=True)
class QuietTest(LaplaceTest):
    """Mistake: the distance gets no noise, so that one row decides whether there is a reply."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise: none."""
        return Fraction(0)

    @functools.cached_property
    def threshold(self) -> int:
        """The threshold of the real test."""
        return self.unstable_at + noise_quantile(self.sensitivity / self.epsilon, self.delta)

    def passes(self, raw_distance: int, rng: RandomSource) -> bool:
        """Whether the bare distance reaches the threshold."""
        return raw_distance >= self.threshold


def other_bin_test(epsilon: Fraction, delta: Fraction) -> LaplaceTest:
    """Mistake: a distance to another value, which is 1 on an unstable table, meets the threshold for one that is 0 there.

    The trap in Dwork & Roth 2014, Algorithm 13 (A_dist): its d counts the steps to an unstable table, one fewer.
    """
    return LaplaceTest(epsilon, delta, unstable_at=0)


def other_bin_best_test(epsilon: Fraction, delta: Fraction) -> BestTest:
    """Mistake: that of `other_bin_test`, with the coin."""
    return BestTest(epsilon, delta, unstable_at=0)


def narrow_test(epsilon: Fraction, delta: Fraction, unstable_at: int = 0) -> LaplaceTest:
    """Mistake: noise of scale 1 / epsilon for a distance that a changed row moves by 2, as one removed and one added.

    Dwork & Lei 2009, the second test of the robust regression R_u.
    """
    return LaplaceTest(epsilon, delta, unstable_at, sensitivity=1)


def eager_test(epsilon: Fraction, delta: Fraction, unstable_at: int = 0) -> BestTest:
    """Mistake: the chance of a pass begins at 2 delta and grows by 2 delta a step: delta was counted once for each side."""
    return BestTest(epsilon, 2 * delta, unstable_at)


def hasty_test(epsilon: Fraction, delta: Fraction, unstable_at: int = 0) -> BestTest:
    """Mistake: the chance of a pass grows by e**(1.1 epsilon) a step."""
    return BestTest(epsilon * Fraction(11, 10), delta, unstable_at)


def half_bound_scale(bound_units: Fraction, release_epsilon: Fraction) -> Fraction:
    """Mistake: noise for half the bound, as if two values in a bin of that width were only half of it apart."""
    return bound_units / 2 / release_epsilon
