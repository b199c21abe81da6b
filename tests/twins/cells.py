"""Broken twins of limits and cells: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np

from dpstats.foundations.summaries import Column
from dpstats.statistics.universal.bands import Band, BandEnds
from dpstats.statistics.universal.decimals import HIGHEST_ORDINAL, lowest_value_at
from dpstats.statistics.universal.line import Integers


def unclipped_cells_of_row(place: int, steps: int, degree: int) -> list[int]:
    """The cells of a row. Mistake: a row outside the clip is not cut off, and weighs more the further out it is."""
    return [comb(degree, j) * place**j * (steps - place) ** (degree - j) for j in range(degree + 1)]


def cells_and_shells_of_row(place: int, steps: int, degree: int, apart: int) -> list[int]:
    """The cells of a row and the shell that counts rows from `apart` on. Mistake: a row out there is in the last cell as well."""
    inside = min(max(place, 0), steps)
    cells = [comb(degree, j) * inside**j * (steps - inside) ** (degree - j) for j in range(degree + 1)]
    return [*cells, steps**degree * (place >= apart)]


def overlapping_ranks(column: Column, band: Band) -> tuple[int, int]:
    """The last rank of the lower side and the rank before the first of the upper one. Mistake: rows in the band are on both.

    Sides that share rows cost the sum of what is spent on them, and not the larger part.
    """
    assert column.dtype is not None
    cuts = [lowest_value_at(band.first, column.dtype), lowest_value_at(band.last + 1, column.dtype)]
    raw_below, raw_up_to = column.counts_below(cuts)
    return raw_up_to, raw_below


class BandsOfRows:
    """Bands of distances. Mistake: a row owns all decimals since the row before it, so that one row takes them from another."""

    def __init__(self, middle: int, upward: bool) -> None:
        """Of the decimals above (or below) a middle, to whichever side."""

    def around(self, ordinals: Integers) -> BandEnds:
        """The bands of decimals that ascend."""
        return BandEnds(np.append(-HIGHEST_ORDINAL, ordinals + 1)[:-1], ordinals)

    def band(self, ordinal: int) -> Band:
        """The band of one decimal."""
        return Band(ordinal, ordinal)


def bare_limits(places: Sequence[int]) -> tuple[int, int]:
    """Where rows are cut off. Mistake: at the smallest and the largest row, as they are, so that one row can move the clip."""
    return min(places), max(places)


def radius_scale(steps: int, degree: int, epsilon: Fraction) -> Fraction:
    """The scale of the cells' noise. Mistake: for half of the clip, as if rows lay on either side of 0 and moved no sum by more.

    A row more or less moves the cells by all of steps**degree, wherever it lies.
    """
    return Fraction(steps**degree, 2) / epsilon
