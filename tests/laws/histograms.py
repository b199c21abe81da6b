"""Exact output laws of histograms, from their definition and apart from the sampler: bins are independent of each other."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

from tests.laws.mechanisms import discrete_laplace_law


def counts_law(counts: Sequence[int], scale: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """The law of noisy counts, each seen inside the window low ... high or as one of its two tails."""
    return joint_law(discrete_laplace_law(count, scale, low, high) for count in counts)


def joint_law(laws: Iterable[Mapping[Hashable, Fraction]]) -> dict[Hashable, Fraction]:
    """The law of the tuple of independent outcomes."""
    joint: dict[Hashable, Fraction] = {}
    for combined in itertools.product(*(law.items() for law in laws)):
        chance = Fraction(1)
        for _, each in combined:
            chance *= each
        joint[tuple(outcome for outcome, _ in combined)] = chance
    return joint
