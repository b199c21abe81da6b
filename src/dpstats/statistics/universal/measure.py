"""The public base measure of the universal quantile: how likely each decimal is before any data is seen.

Every lattice point has a positive whole-number mass, so the measure has atoms where data have ties: whole numbers, prices,
round thousands, zero. Most of a decade's mass lies on all its 15-digit points, the rest on coarser grids of fixed spacing;
decades far from 1 get less, but never nothing. Cumulative masses are exact integers: position p on the line [0, TOTAL)
belongs to the lattice point whose `span` (start, mass) has start <= p < start + mass.

There are three of them, which differ in how a decade's mass is shared among its grids: MIXED for any column, WHOLE for one
of whole numbers, and FINE for one that is not. All numbers are public constants (see benchmarks/accuracy.py for what they
reach); no claim depends on their choice.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np

from dpstats.foundations.rounding import cumulative
from dpstats.statistics.universal.decimals import (
    DECADE_POINTS,
    DIGITS,
    HIGHEST_DECADE,
    LOWEST_DECADE,
    decade_and_mantissa,
)

_PARTS = 10_000
"""A decade's mass is divided in ten-thousandths among its grids."""
_DECADE_UNIT = _PARTS * DECADE_POINTS
_FIXED_POINT = 2**40


def _decade_weight(decade: int) -> int:
    """1/(1 + e/3)**2 for e >= 0 and 10**(e/2)/2 + 0.02/(1 + |e|)**2 below, in fixed point and at least 1."""
    if decade >= 0:
        return max(1, 9 * _FIXED_POINT // (3 + decade) ** 2)
    root = math.isqrt(10 ** (640 + decade))  # 10**(320 + decade/2)
    return max(1, _FIXED_POINT * root // (2 * 10**320) + _FIXED_POINT // (50 * (1 - decade) ** 2))


_WEIGHTS = [_decade_weight(decade) for decade in range(LOWEST_DECADE, HIGHEST_DECADE + 1)]
_WEIGHT_ENDS = [0, *cumulative(_WEIGHTS)]
_HALF = _WEIGHT_ENDS[-1] * _DECADE_UNIT
_ZERO = 2 * _HALF // 250
TOTAL = 2 * _HALF + _ZERO
"""The length of the line, the same for every measure."""


class Measure:
    """Whole-number masses on all lattice points."""

    def __init__(self, grid_parts: Mapping[int, int], small_decade_parts: int) -> None:
        """`grid_parts` maps the exponent of a grid's spacing to its parts of a decade; the rest is on all 15-digit points.

        Below 0.01, where no absolute grid reaches, each of 1, 2 and 3 significant digits gets `small_decade_parts`.
        """
        self._grid_parts = grid_parts
        self._small_decade_parts = small_decade_parts
        self._decades: dict[int, tuple[tuple[int, int, int], ...]] = {}

    def span(self, ordinal: int) -> tuple[int, int]:
        """The stretch of the line that a lattice point owns: where it starts, and its mass."""
        if ordinal == 0:
            return _HALF, _ZERO
        decade, mantissa = decade_and_mantissa(abs(ordinal))
        index = decade - LOWEST_DECADE
        up_to = at = 0
        for mass, spacing, first in self._grids(decade):
            place, rest = divmod(mantissa, spacing)
            up_to += mass * (place - first + 1)
            if not rest:
                at += mass
        weight = _WEIGHTS[index]
        end = _WEIGHT_ENDS[index] * _DECADE_UNIT + weight * up_to
        return (_HALF - end if ordinal < 0 else _HALF + _ZERO + end - weight * at), weight * at

    def spans(self, ordinals: Sequence[int]) -> list[tuple[int, int]]:
        """`span` of many lattice points at once."""
        points = np.array(ordinals, dtype=np.int64)
        indices, offsets = np.divmod(np.abs(points) - 1, DECADE_POINTS)
        indices[points == 0] = -1
        spans: list[tuple[int, int]] = [(_HALF, _ZERO)] * len(points)
        for index in np.unique(indices[indices >= 0]).tolist():
            places = np.flatnonzero(indices == index)
            mantissas = offsets[places] + DECADE_POINTS // 9
            up_to = np.zeros(len(places), dtype=np.int64)  # at most _DECADE_UNIT, below 2**63
            at = np.zeros(len(places), dtype=np.int64)
            for mass, spacing, first in self._grids(index + LOWEST_DECADE):
                counts = mantissas // spacing
                up_to += mass * (counts - (first - 1))
                at += mass * (counts * spacing == mantissas)
            weight, before = _WEIGHTS[index], _WEIGHT_ENDS[index] * _DECADE_UNIT
            above = _HALF + _ZERO + before
            below = _HALF - before
            for place, negative, end, mass in zip(
                places.tolist(), (points[places] < 0).tolist(), up_to.tolist(), at.tolist(), strict=True
            ):
                spans[place] = (below - weight * end if negative else above + weight * (end - mass)), weight * mass
        return spans

    def ordinal_at(self, position: int) -> int:
        """The lattice point that owns a position on the line [0, TOTAL)."""
        if position < _HALF:
            return -self.ordinal_at(TOTAL - 1 - position)
        if position < _HALF + _ZERO:
            return 0
        index = bisect_right(_WEIGHT_ENDS, (position - _HALF - _ZERO) // _DECADE_UNIT) - 1
        low, high = index * DECADE_POINTS, (index + 1) * DECADE_POINTS
        while high - low > 1:  # the first point of the decade that ends beyond the position
            middle = (low + high) // 2
            start, mass = self.span(middle)
            if start + mass > position:
                high = middle
            else:
                low = middle
        return high

    def _grids(self, decade: int) -> tuple[tuple[int, int, int], ...]:
        """(mass per grid point, spacing in mantissa units, index of the grid's first point) for each grid of a decade."""
        if decade not in self._decades:
            parts = [0] * (DIGITS + 1)
            for digits in range(1, DIGITS + 1):
                parts[digits] = self._grid_parts.get(decade - digits + 1, 0)
                if digits <= 3 and decade < -2:
                    parts[digits] = max(parts[digits], self._small_decade_parts)
            parts[DIGITS] += _PARTS - sum(parts)
            self._decades[decade] = tuple(
                (parts[digits] * 10 ** (DIGITS - digits), 10 ** (DIGITS - digits), 10 ** (digits - 1))
                for digits in range(1, DIGITS + 1)
                if parts[digits]
            )
        return self._decades[decade]


MIXED = Measure({0: 1000, -1: 200, -2: 300, -3: 100, -4: 100, 1: 50, 2: 50, 3: 50}, 100)
"""For any column: whole numbers a tenth of the mass, cents three hundredths, and so on."""
WHOLE = Measure({0: 9000, 1: 200, 2: 200, 3: 200, -1: 50, -2: 50}, 100)
"""For a column of whole numbers."""
FINE = Measure({0: 20, -1: 10, -2: 20, -3: 10, -4: 10, 1: 5, 2: 5, 3: 5}, 10)
"""For a column that is not of whole numbers."""
