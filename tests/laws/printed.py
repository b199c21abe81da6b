"""Exact laws of the founding papers' algorithms as they are printed, so that docs/errata.md can be checked.

Tests with continuous Laplace noise have closed forms; what is released after a pass goes on a lattice, where discrete Laplace
noise loses exactly what continuous noise loses. Everything is a float, right to about 1e-12. Never use any of it on data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction

from tests.laws.mechanisms import discrete_laplace_law

NO_REPLY = "no reply"


def pass_probability(distance: float, threshold: float, epsilon: float) -> float:
    """P(distance + Lap(1/epsilon) > threshold)."""
    tail = math.exp(-epsilon * abs(distance - threshold)) / 2
    return tail if distance <= threshold else 1 - tail


def fail_probability(distance: float, threshold: float, epsilon: float) -> float:
    """P(distance + Lap(1/epsilon) <= threshold), without cancellation."""
    return pass_probability(threshold, distance, epsilon)


def some_pass(passes: Iterable[float]) -> float:
    """The probability that at least one of several independent tests passes: 1 - prod(1 - p)."""
    return 1 - math.prod(1 - p for p in passes)


def reply_law(reply: float, centre: int, bin_steps: int, epsilon: float, low: int, high: int) -> dict[Hashable, float]:
    """With probability `reply` the lattice point `centre` plus noise of scale `bin_steps` / epsilon, otherwise no reply."""
    noise = discrete_laplace_law(centre, bin_steps / Fraction(epsilon), low, high)
    law: dict[Hashable, float] = {outcome: reply * float(p) for outcome, p in noise.items()}
    law[NO_REPLY] = 1 - reply
    return law


def runner_up_wins(gap: float, scale: float) -> float:
    """P(Z' - Z > gap) for independent Lap(scale) and gap >= 0: the noisy maximum is the second of two counts."""
    return math.exp(-gap / scale) * (1 + gap / scale / 2) / 2
