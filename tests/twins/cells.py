"""Broken twins of limits and cells: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

from dpstats.foundations.summaries import Column
from dpstats.statistics.universal.decimals import lowest_value_at


def unclipped_cells_of_row(place: int, steps: int, degree: int) -> list[int]:
    """The cells of a row. Mistake: a row outside the clip is not cut off, and weighs more the further out it is."""
    return [comb(degree, j) * place**j * (steps - place) ** (degree - j) for j in range(degree + 1)]


def overlapping_ranks(column: Column, ordinal: int) -> tuple[int, int]:
    """The last rank of the lower side and the rank before the first of the upper one. Mistake: rows at the decimal are on both.

    Sides that share rows cost the sum of what is spent on them, and not the larger part.
    """
    assert column.dtype is not None
    cuts = [lowest_value_at(ordinal, column.dtype), lowest_value_at(ordinal + 1, column.dtype)]
    raw_below, raw_up_to = column.counts_below(cuts)
    return raw_up_to, raw_below


def bare_limits(places: Sequence[int]) -> tuple[int, int]:
    """Where rows are cut off. Mistake: at the smallest and the largest row, as they are, so that one row can move the clip."""
    return min(places), max(places)


def radius_scale(steps: int, degree: int, epsilon: Fraction) -> Fraction:
    """The scale of the cells' noise. Mistake: for half of the clip, as if rows lay on either side of 0 and moved no sum by more.

    A row more or less moves the cells by all of steps**degree, wherever it lies.
    """
    return Fraction(steps**degree, 2) / epsilon
