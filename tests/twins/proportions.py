"""Broken twins of proportions: each makes one known mistake, and the exact law or the coverage must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from statistics import NormalDist

from tests.laws.hypotheses import counts_law, joint_law

Law = dict[Hashable, Fraction]


def public_base_law(yes: int, no: int, others: int, epsilon: Fraction, low: int, high: int) -> Law:
    """Mistake: the rows where the condition can be told are taken as public, and only those where it is true get noise."""
    return joint_law({yes + no: Fraction(1)}, counts_law([yes, others], 1 / epsilon, low, high))


def cells_law(yes: int, no: int, others: int, epsilon: Fraction, low: int, high: int) -> Law:
    """Mistake where a row may change: all counts get the whole of epsilon, although the row leaves one for the other."""
    return counts_law([yes, no, others], 1 / epsilon, low, high)


def lead_and_base_law(yes: int, no: int, others: int, epsilon: Fraction, low: int, high: int) -> Law:
    """Mistake where a row may change: difference and sum get noise for 1, and the difference moves by 2."""
    return counts_law([yes - no, yes + no, others], 1 / epsilon, low, high)


def noiseless_interval(yes: float, no: float, level: float) -> tuple[float, float]:
    """Mistake of the level: Wald's interval of the noisy counts, without the noise."""
    rows, share = max(yes + no, 1.0), min(max(yes / max(yes + no, 1.0), 0.0), 1.0)
    half = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(share * (1 - share) / rows)
    return share - half, share + half
