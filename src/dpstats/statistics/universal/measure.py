"""The public base measure of the universal quantile: how likely each decimal is before any data is seen.

Every lattice point has a positive whole-number mass, so the measure has atoms where data have ties: whole numbers, prices,
round thousands, zero. Most of a decade's mass lies on all its 15-digit points, the rest on coarser grids of fixed spacing;
decades far from 1 get less, but never nothing. Cumulative masses are exact integers: position p on the line [0, TOTAL)
belongs to the lattice point whose `span` (start, mass) has start <= p < start + mass.

The numbers are public constants (see benchmarks/accuracy.py for what they reach); no claim depends on their choice.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right

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
_GRID_PARTS = {0: 1000, -1: 200, -2: 300, -3: 100, -4: 100, 1: 50, 2: 50, 3: 50}
"""Exponent of a grid's spacing -> its parts: whole numbers a tenth, cents three hundredths, ..."""
_SMALL_DECADE_PARTS = 100
"""Below 0.01, where no absolute grid reaches, each of 1, 2 and 3 significant digits gets this."""
_DECADE_UNIT = _PARTS * DECADE_POINTS
_FIXED_POINT = 2**40


@functools.cache
def _grids(decade: int) -> tuple[tuple[int, int, int], ...]:
    """(mass per grid point, spacing in mantissa units, index of the grid's first point) for each grid of a decade."""
    parts = [0] * (DIGITS + 1)
    for digits in range(1, DIGITS + 1):
        parts[digits] = _GRID_PARTS.get(decade - digits + 1, 0)
        if digits <= 3 and decade < -2:
            parts[digits] = max(parts[digits], _SMALL_DECADE_PARTS)
    parts[DIGITS] += _PARTS - sum(parts)
    return tuple(
        (parts[digits] * 10 ** (DIGITS - digits), 10 ** (DIGITS - digits), 10 ** (digits - 1))
        for digits in range(1, DIGITS + 1)
        if parts[digits]
    )


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


def span(ordinal: int) -> tuple[int, int]:
    """The stretch of the line that a lattice point owns: where it starts, and its mass."""
    if ordinal == 0:
        return _HALF, _ZERO
    decade, mantissa = decade_and_mantissa(abs(ordinal))
    index = decade - LOWEST_DECADE
    up_to = at = 0
    for mass, spacing, first in _grids(decade):
        place, rest = divmod(mantissa, spacing)
        up_to += mass * (place - first + 1)
        if not rest:
            at += mass
    weight = _WEIGHTS[index]
    end = _WEIGHT_ENDS[index] * _DECADE_UNIT + weight * up_to
    return (_HALF - end if ordinal < 0 else _HALF + _ZERO + end - weight * at), weight * at


def ordinal_at(position: int) -> int:
    """The lattice point that owns a position on the line [0, TOTAL)."""
    if position < _HALF:
        return -ordinal_at(TOTAL - 1 - position)
    if position < _HALF + _ZERO:
        return 0
    index = bisect_right(_WEIGHT_ENDS, (position - _HALF - _ZERO) // _DECADE_UNIT) - 1
    low, high = index * DECADE_POINTS, (index + 1) * DECADE_POINTS
    while high - low > 1:  # the first point of the decade that ends beyond the position
        middle = (low + high) // 2
        start, mass = span(middle)
        if start + mass > position:
            high = middle
        else:
            low = middle
    return high
