"""Broken twins of chosen keys and of group privacy: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction

from dpstats.mechanisms.thresholding import threshold_for
from tests.laws.keys import HIDDEN
from tests.laws.mechanisms import discrete_laplace_law


def low_threshold(epsilon: Fraction, delta: Fraction) -> int:
    """Mistake: the threshold for noise alone, although a key of one row starts from a count of 1."""
    return threshold_for(epsilon, delta) - 1


def half_noise_scale(epsilon: Fraction) -> Fraction:
    """Mistake: half the noise, as if a row were shared between two tables that differ by it."""
    return 1 / (2 * epsilon)


def bare_count_law(count: int, epsilon: Fraction, delta: Fraction) -> dict[Hashable, Fraction]:
    """Mistake: the count meets the threshold, and leaves, without noise: at the threshold one row decides."""
    return {count if count >= threshold_for(epsilon, delta) else HIDDEN: Fraction(1)}


def late_noise_law(count: int, epsilon: Fraction, delta: Fraction, low: int, high: int) -> dict[Hashable, Fraction]:
    """Mistake: the raw count meets the threshold, and noise is added to what leaves afterwards: one row still decides."""
    if count < threshold_for(epsilon, delta):
        return {HIDDEN: Fraction(1)}
    return discrete_laplace_law(count, 1 / epsilon, min(low, count), max(high, count))


def order_of_appearance(row_keys: Sequence[Hashable]) -> list[Hashable]:
    """Mistake: keys leave in the order of the first row that has each, as a dict keeps them. Without that row it changes."""
    return list(dict.fromkeys(row_keys))


def evenly_shared_delta(delta: Fraction, steps: int) -> Fraction:
    """Mistake: a row gets delta / steps, as it gets epsilon / steps, although each step multiplies the deltas before it."""
    return delta / steps


def steps_of_one_change(rows_per_unit: int) -> int:
    """Mistake: a changed unit counts once for each row, although its rows leave one group and enter another."""
    return rows_per_unit
