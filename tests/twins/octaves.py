"""Broken twins of the octaves of rows per unit: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from dpstats.foundations.privacy import Neighbors


def scale_of_one_count(epsilon: Fraction, neighbors: Neighbors) -> Fraction:
    """Mistake: a changed unit counts once, although it leaves one octave and enters another."""
    return 1 / epsilon


def units_of_at_least(raw_counts: Sequence[int]) -> list[int]:
    """Mistake: units of at least so many rows, with the noise of disjoint octaves: one unit moves several of these."""
    return list(accumulate(reversed(raw_counts)))[::-1]


def rows_in_octaves(raw_counts: Sequence[int], ends: Sequence[int]) -> list[int]:
    """Mistake: rows in place of units: one unit moves a count by as many as it has."""
    return [count * end for count, end in zip(raw_counts, (*ends, 2 * ends[-1]), strict=True)]
