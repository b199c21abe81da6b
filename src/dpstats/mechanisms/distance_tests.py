"""Private tests of a distance: is this table far enough from every table on which the proposal fails?

Claim      LaplaceTest: passing and failing are epsilon-DP, and it passes with probability at most delta where the proposal
           may fail. BestTest: passing and failing are (epsilon, delta)-DP, and it passes with probability at most delta there
Neighbors  Whichever relation the distance moves by at most `sensitivity` under
Why        LaplaceTest adds discrete Laplace noise of scale sensitivity / epsilon to the distance and passes from a threshold
           on that the noise alone reaches with probability delta. BestTest tosses one coin whose chance of a pass grows with
           the distance as fast as (epsilon, delta)-DP allows; no test of that cost passes more often at any distance.
Numerics   The threshold is rounded up and the chances are rounded down, in integers; noise and coin are exact
Source     Dwork & Lei 2009 for the test; the growing chance: Desfontaines, Voss, Gipson & Mandayam 2022, for counts
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource, random_below
from dpstats.foundations.rounding import exp_bounds, log_bounds
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.grid import integer_ratio, is_plus_infinity

SURE_NATS = 30
"""At a LaplaceTest's cap the noise makes it fail with probability below exp(-SURE_NATS)."""
MOST_STEPS = 1 << 18
"""No test looks further than this many steps; one that would need more passes less often, and is as private."""
LARGEST_UNSTABLE = 1000
_GUARD = 128


@dataclass(frozen=True)
class _TestTerms:
    """What a test may spend, and on which distances."""

    epsilon: Fraction
    delta: Fraction
    unstable_at: int = 0
    """The largest distance at which the proposal may still fail: 0 for a distance to instability, 1 for one to another bin."""
    sensitivity: int = 1

    def __post_init__(self) -> None:
        if self.epsilon <= 0 or not 0 < self.delta < Fraction(1, 2) or self.sensitivity < 1:
            raise InvalidParameterError(
                "a test needs a positive epsilon, a delta between 0 and 0.5, and a sensitivity of 1 or more."
            )
        if type(self.unstable_at) is not int or not 0 <= self.unstable_at <= LARGEST_UNSTABLE:
            raise InvalidParameterError(
                "unstable_at must be 0 for a distance to instability, or 1 for a distance to another bin."
            )


@dataclass(frozen=True)
class LaplaceTest(_TestTerms):
    """Distance plus discrete Laplace noise against a threshold: the test of propose-test-release as it was first described."""

    least_threshold: int = 0
    """A public lower limit for the threshold, for algorithms that print one."""

    @property
    def scale(self) -> Fraction:
        """The scale of the noise."""
        return self.sensitivity / self.epsilon

    @functools.cached_property
    def threshold(self) -> int:
        """The test passes when distance + noise is at least this."""
        return max(self.unstable_at + noise_quantile(self.scale, self.delta), self.least_threshold)

    @property
    def cap(self) -> int:
        """A public distance from which on all distances are treated alike: nobody needs to compute a larger one."""
        return min(self.threshold + math.ceil(SURE_NATS * self.scale), MOST_STEPS)

    def passes(self, raw_distance: int, rng: RandomSource) -> bool:
        """Whether the test passes this time."""
        return min(raw_distance, self.cap) + int(sample_discrete_laplace(self.scale, 1, rng)[0]) >= self.threshold

    def pass_probability(self, distance: int) -> float:
        """The chance of a pass at a distance."""
        ratio = math.exp(-1 / float(self.scale))
        missing = self.threshold - min(distance, self.cap)
        if missing > 0:
            return ratio**missing / (1 + ratio)
        return 1 - ratio ** (1 - missing) / (1 + ratio)


@dataclass(frozen=True)
class BestTest(_TestTerms):
    """One coin whose chance of a pass grows with the distance as fast as (epsilon, delta)-DP allows."""

    @property
    def cap(self) -> int:
        """The distance from which on the test passes for sure, or the most steps that any test looks."""
        return self.unstable_at + self.sensitivity * (len(self._chances) - 1)

    def passes(self, raw_distance: int, rng: RandomSource) -> bool:
        """Whether the test passes this time."""
        return random_below(rng, self._whole) < self._chances[self._steps(raw_distance)]

    def pass_probability(self, distance: int) -> float:
        """The chance of a pass at a distance."""
        return float(Fraction(self._chances[self._steps(distance)], self._whole))

    def _steps(self, distance: int) -> int:
        return max(0, min((distance - self.unstable_at) // self.sensitivity, len(self._chances) - 1))

    @property
    def _whole(self) -> int:
        return 1 << _chance_bits(self.delta)

    @property
    def _chances(self) -> tuple[int, ...]:
        return growing_chances(self.epsilon, self.delta, _chance_bits(self.delta))


DistanceTest = LaplaceTest | BestTest
"""A private yes-or-no question about a distance."""


@functools.lru_cache(maxsize=256)
def noise_quantile(scale: Fraction, delta: Fraction) -> int:
    """An integer t >= 1 that discrete Laplace noise reaches with probability at most delta < 1/2; the least one, or one more.

    P(Z >= t) = r**t / (1 + r) with r = exp(-1 / scale).
    """
    ratio_low = Fraction(exp_bounds(1 / scale, _GUARD)[0], 1 << _GUARD)
    return max(1, math.ceil(log_bounds(1 / (delta * (1 + ratio_low)))[1] * scale))


@functools.lru_cache(maxsize=32)
def growing_chances(epsilon: Fraction, delta: Fraction, bits: int) -> tuple[int, ...]:
    """Chances of a pass in units of 2**-bits at 0, 1, 2, ... steps from instability, until they reach 1 or MOST_STEPS.

    They begin at delta or just below, never fall, and neighbours p, q among them keep p <= e**epsilon q + delta both for
    passing and for failing.
    """
    whole = 1 << bits
    floor_delta = delta.numerator * whole // delta.denominator
    shrink_high = exp_bounds(epsilon, bits + _GUARD)[1]
    chances = [floor_delta]
    while chances[-1] < whole and len(chances) <= MOST_STEPS:
        last = chances[-1]
        by_passing = (last << bits + _GUARD) // shrink_high + floor_delta
        failing = max(0, whole - last - floor_delta)
        by_failing = whole - -(-failing * shrink_high >> bits + _GUARD)
        chances.append(min(by_passing, by_failing, whole))
    return tuple(chances)


def steps_within(raw_distance: object, cap: int) -> int:
    """A distance as a caller computed it, as whole steps from 0 to the cap: rounded down, and 0 where it is no number."""
    ratio = integer_ratio(raw_distance)
    if ratio is None:
        return cap if is_plus_infinity(raw_distance) else 0
    return max(0, min(ratio[0] // ratio[1], cap))


def _chance_bits(delta: Fraction) -> int:
    return _GUARD + (delta.denominator // delta.numerator).bit_length()
