"""Broken twins of variances by unit: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.summaries import SquareOctaves


def uncapped_shares(raw_octaves: SquareOctaves, low: int, high: int) -> list[int]:
    """Shares at powers of two. Mistake: squares beyond the last one count there by their size, and not once."""
    shares = [0] * (high - low + 1)
    shares[-1] = sum(total for octave, total in enumerate(raw_octaves.raw_squares) if octave > high)
    return shares


def scale_of_a_row(rows_per_unit: int, high: int, epsilon: Fraction) -> Fraction:
    """The scale of the shares' noise. Mistake: a whole unit's scale over its rows, as if each of these paid for a share."""
    return (1 << high) / (epsilon * rows_per_unit)


def squares_of_rows(units: Sequence[Sequence[int]]) -> list[int]:
    """The squares that are shared out. Mistake: of every row by itself, as if no two ids were taken for the same one."""
    return [score**2 for scores in units for score in scores]
