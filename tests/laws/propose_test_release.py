"""Exact output laws of propose-test-release, from its definition and apart from its samplers.

Probabilities are `Fraction`s, right to a relative 2**-200 or so; a law maps every outcome to its probability, as exact.py
takes it. Releases are in whole grid units.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction

from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from tests.laws.mechanisms import discrete_laplace_law, exponential_of_minus

REFUSED = "no reply"

_WHOLE = 1 << 1024
"""Chances that grow are kept as multiples of 1 / _WHOLE, so that their fractions stay short; good for deltas above 2**-800."""

Outcomes = Mapping[Hashable, Fraction]


def laplace_test_law(test: LaplaceTest, distance: int) -> Fraction:
    """The chance of a pass at a distance: that discrete Laplace noise makes up for what is missing to the threshold.

    A scale of 0 stands for a test without noise.
    """
    missing = test.threshold - min(distance, test.cap)
    if not test.scale:
        return Fraction(missing <= 0)
    ratio = exponential_of_minus(1 / test.scale)
    if missing > 0:
        return exponential_of_minus(missing / test.scale) / (1 + ratio)
    return 1 - exponential_of_minus((1 - missing) / test.scale) / (1 + ratio)


def best_test_law(test: BestTest, distance: int) -> Fraction:
    """The largest chance of a pass at a distance that (epsilon, delta)-DP and at most delta at `unstable_at` allow."""
    chances = _largest_chances(test.epsilon, test.delta)
    return chances[max(0, min((distance - test.unstable_at) // test.sensitivity, len(chances) - 1))]


@functools.lru_cache(maxsize=8)
def _largest_chances(epsilon: Fraction, delta: Fraction) -> list[Fraction]:
    """Those chances a step apart, until they reach 1: p <= e**epsilon q + delta for passing, and the same for failing."""
    shrink = exponential_of_minus(epsilon)
    chances = [delta]
    while chances[-1] < 1:
        by_passing = chances[-1] / shrink + delta
        by_failing = 1 - shrink * max(Fraction(0), 1 - chances[-1] - delta)
        chances.append(_shortened(min(by_passing, by_failing, Fraction(1))))
    return chances


def tested_release_law(
    pass_probability: Fraction, centre_units: int, scale_units: Fraction, low: int, high: int
) -> dict[Hashable, Fraction]:
    """A refusal, or the centre with discrete Laplace noise: inside the window low ... high, and the two tails."""
    return cascade_law([pass_probability], [discrete_laplace_law(centre_units, scale_units, low, high)])


def cascade_law(pass_probabilities: Sequence[Fraction], releases: Sequence[Outcomes]) -> dict[Hashable, Fraction]:
    """Independent tests in order until one passes and its release goes out; a refusal where none does.

    Steps with the same release law cannot be told apart; `marked` makes the releases of different steps differ.
    """
    law: dict[Hashable, Fraction] = {}
    reached = Fraction(1)
    for chance, release in zip(pass_probabilities, releases, strict=True):
        for outcome, probability in release.items():
            law[outcome] = law.get(outcome, Fraction(0)) + reached * chance * probability
        reached *= 1 - chance
    return {REFUSED: reached, **law}


def levels_law(first: Outcomes, then: Callable[[Hashable], Outcomes]) -> dict[Hashable, Fraction]:
    """Two levels: what the first releases decides the law of the second, and a refusal of either is one outcome."""
    law: dict[Hashable, Fraction] = {REFUSED: first.get(REFUSED, Fraction(0))}
    for proposal, probability in first.items():
        for outcome, conditional in then(proposal).items() if proposal != REFUSED else ():
            law[outcome] = law.get(outcome, Fraction(0)) + probability * conditional
    return law


def marked(law: Outcomes, mark: Hashable) -> dict[Hashable, Fraction]:
    """The same law with the mark visible in every outcome but a refusal."""
    return {outcome if outcome == REFUSED else (mark, outcome): probability for outcome, probability in law.items()}


def _shortened(chance: Fraction) -> Fraction:
    return Fraction(math.floor(chance * _WHOLE), _WHOLE)
