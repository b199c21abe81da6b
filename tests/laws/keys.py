"""Exact output laws of chosen keys, from their definition and apart from the sampler.

Probabilities are `Fraction`s, right to a relative 2**-200 or so; a law maps every outcome to its probability, as exact.py
takes it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

from tests.laws.mechanisms import BELOW, discrete_laplace_law, exponential_of_minus

HIDDEN = "not released"


def key_law(count: int, scale: Fraction, threshold: int, high: int) -> dict[Hashable, Fraction]:
    """What becomes of a key with so many rows: hidden, or released with a noisy count up to `high`, or with one above that.

    A key without rows is not there to be counted: it is hidden.
    """
    if count < 1:
        return {HIDDEN: Fraction(1)}
    low = min(count, threshold)
    noisy = discrete_laplace_law(count, scale, low, max(high, count))
    law: dict[Hashable, Fraction] = {HIDDEN: noisy.pop(BELOW)}
    for outcome, chance in noisy.items():
        seen = HIDDEN if isinstance(outcome, int) and outcome < threshold else outcome
        law[seen] = law.get(seen, Fraction(0)) + chance
    return law


def release_chance(count: int, scale: Fraction, threshold: int) -> Fraction:
    """The probability that a key with so many rows is released: that noise makes up for what is missing to the threshold."""
    if count < 1:
        return Fraction(0)
    whole, missing = 1 + exponential_of_minus(1 / scale), threshold - count
    if missing > 0:
        return exponential_of_minus(missing / scale) / whole
    return 1 - exponential_of_minus((1 - missing) / scale) / whole


def released_keys_law(chances: Mapping[Hashable, Fraction], order: Iterable[Hashable]) -> dict[Hashable, Fraction]:
    """Which keys are released, as the tuple of them in that order, from the chance of each: keys are decided independently."""
    law: list[tuple[tuple[Hashable, ...], Fraction]] = [((), Fraction(1))]
    for key in order:
        without = [(keys, chance * (1 - chances[key])) for keys, chance in law]
        law = without + [((*keys, key), chance * chances[key]) for keys, chance in law]
    return dict(law)
