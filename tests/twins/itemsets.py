"""Broken twins of frequent itemsets: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np

from dpstats.mechanisms.exponential import QuickWeights
from tests.laws.itemsets import peeling_law


def lifts_law(pairs: Sequence[tuple[int, int, int]], rows: int, rate: Fraction, how_many: int) -> dict[Hashable, Fraction]:
    """Pairs of items, each by how many rows have both, the one and the other.

    Mistake: drawn by their lift, in rows, at the price of counts. A row that has one item of a pair lowers its score, and may
    raise that of another pair: scores move against each other, and a draw costs more than its rate.
    """
    scores = [Fraction(both) - Fraction(first * last, max(rows, 1)) for both, first, last in pairs]
    return peeling_law(scores, rate, how_many)


def counts_as_they_are(raw_counts: Sequence[int]) -> tuple[int, ...]:
    """The counts of sets that were drawn. Mistake: no noise, because the draw was private."""
    return tuple(raw_counts)


def settled_without_doubt(quick: QuickWeights, word: int) -> int:
    """The level of a word of 64 bits. Mistake: floats are not asked whether they can tell."""
    ends = np.cumsum(quick.weights)
    return int(np.searchsorted(ends, word / 2.0**64 * float(ends[-1]), side="right"))
