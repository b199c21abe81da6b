"""The privacy loss of two exact output laws.

A law maps every outcome to its probability (a `Fraction` or a float). Fractions keep the comparison exact up to the final
logarithm, so that a ratio of exactly e**epsilon is not mistaken for a breach.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

Law = Mapping[Any, Fraction | float]


def largest_log_ratio(law: Law, neighbour_law: Law) -> float:
    """The largest |log(p / q)| over all outcomes; infinite when an outcome is possible under one law only."""
    outcomes = set(law) | set(neighbour_law)
    return max((abs(_log_ratio(law.get(outcome, 0), neighbour_law.get(outcome, 0))) for outcome in outcomes), default=0.0)


def hockey_stick(law: Law, neighbour_law: Law, epsilon: float | Fraction) -> float:
    """The least delta for which (epsilon, delta)-DP holds between the two laws, in both directions."""
    factor = math.exp(float(epsilon))
    outcomes = set(law) | set(neighbour_law)
    pairs = [(float(law.get(outcome, 0)), float(neighbour_law.get(outcome, 0))) for outcome in outcomes]
    forth = math.fsum(max(0.0, p - factor * q) for p, q in pairs)
    back = math.fsum(max(0.0, q - factor * p) for p, q in pairs)
    return max(forth, back)


def _log_ratio(p: Fraction | float, q: Fraction | float) -> float:
    if p == q:
        return 0.0
    if not p or not q:
        return math.inf
    return _log(p) - _log(q)


def _log(probability: Fraction | float) -> float:
    if isinstance(probability, Fraction):  # either part may lie beyond what a float holds
        return math.log(probability.numerator) - math.log(probability.denominator)
    return math.log(probability)
