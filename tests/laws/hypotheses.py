"""Exact output laws of hypothesis tests on one small table, from their definition and apart from the samplers.

What is released of a row's table are noisy counts and, of Kolmogorov's tests, a noisy gap, which is seen through public `cuts`
as in statistic_laws.py. Everything else that a test says is made from these.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

from dpstats.statistics.kolmogorov import GAP_SENSITIVITY, ROWS_SHARE
from tests.laws.mechanisms import discrete_laplace_law
from tests.laws.tested_statistics import Cuts, noisy_law


def counts_law(counts: Sequence[int], scale: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Noisy counts, each inside the window low ... high or in one of its tails."""
    return joint_law(*(_count_law(count, scale, low, high) for count in counts))


@functools.lru_cache(maxsize=1024)
def _count_law(count: int, scale: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    return discrete_laplace_law(count, scale, low, high)


def gap_law(gap: Fraction, rows: Sequence[int], epsilon: Fraction, low: int, high: int, cuts: Cuts) -> dict[Hashable, Fraction]:
    """A noisy gap beside noisy numbers of rows."""
    rows_epsilon = epsilon * ROWS_SHARE
    counts = counts_law(rows, 1 / rows_epsilon, low, high)
    return joint_law(counts, noisy_law(gap, GAP_SENSITIVITY, epsilon - rows_epsilon, cuts))


def joint_law(*laws: Mapping[Hashable, Fraction]) -> dict[Hashable, Fraction]:
    """Independent outcomes together."""
    return {
        tuple(outcome for outcome, _ in each): math.prod((chance for _, chance in each), start=Fraction(1))
        for each in itertools.product(*(law.items() for law in laws))
    }
