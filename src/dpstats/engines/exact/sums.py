"""Sums: the exact sum of the rows between two bounds, each row rounded to a multiple of a unit, in one pass over the rows.

Numerics   A block of rows becomes float64, which changes no number but whole ones beyond 2**53: those are rounded to 15 digits.
           Rows outside the bounds become 0. Scaling by a power of two and rounding to whole numbers are exact. Blocks are
           small enough, and long numbers are split, so that no partial sum leaves the whole numbers that float64 holds;
           where numbers are too long for that, integer mantissas are added up exponent by exponent. Blocks add up as Python
           integers, so neither the order of the rows nor the chunks matter.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import LARGEST_BLOCK, Chunks, block_rows, walk_blocks
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.exact.wholes import are_exact, floats_of_wholes
from dpstats.foundations.units import exponent_of

Floats = NDArray[np.float64]

_DIGITS = 53  # of a float64, in base 2
_PLAIN_DIGITS = _DIGITS - (LARGEST_BLOCK - 1).bit_length()  # numbers of this length add up exactly over a block
_SPLIT = 30  # digits of the lower part of a row that is too long to be added up plainly
_LONGEST = _SPLIT + _PLAIN_DIGITS - 2
_LARGEST_SCALE = 1000  # powers of two up to here scale without a detour
_BEYOND_ALL = 1100  # no float64 has a larger exponent, up or down


def sum_between(chunks: Chunks, low: float | int, high: float | int, unit: Fraction) -> int:
    """The sum over the rows strictly between `low` and `high` of `in_units(row, unit)`.

    Rows are compared exactly and in their own number type, and only then rounded.
    """
    exponent = exponent_of(unit)
    if not low < high:  # also where one of them is NaN
        return 0
    with np.errstate(all="ignore"):  # signalling NaN outside the bounds, numbers that vanish next to the unit
        between = _Between(low, high, chunks[0].dtype)
        return sum(_sum_in_units(*between.kept(block), exponent) for block in walk_blocks(chunks))


class _Between:
    """Two bounds in a column's own number type, with room for a block."""

    def __init__(self, low: float | int, high: float | int, dtype: np.dtype[Any]) -> None:
        self._low, self._high = edge_at(low, dtype), edge_at(high, dtype)
        self._is_above = np.greater if self._low is not None and self._low.item() == low else np.greater_equal
        self._mask, self._other = np.empty((2, block_rows(dtype)), dtype=np.bool_)
        self._floats, self._spare = np.empty((2, block_rows(dtype)))

    def kept(self, block: NDArray[Any]) -> tuple[Floats, Floats]:
        """The rows between the bounds as float64, with 0 in the place of all others, and room for as many."""
        floats, spare = self._floats[: block.size], self._spare[: block.size]
        mask, other = self._mask[: block.size], self._other[: block.size]
        if self._low is None:
            mask.fill(False)
        else:
            self._is_above(block, self._low, out=mask)
        if self._high is not None:
            mask &= np.less(block, self._high, out=other)
        floats[:] = block if block.dtype.kind == "f" or are_exact(block) else floats_of_wholes(block)
        bits, keep = floats.view(np.int64), spare.view(np.int64)
        bits &= np.negative(mask.view(np.int8), out=keep)  # all ones or all zeros: NaN and infinities go, too
        return floats, spare


def _sum_in_units(rows: Floats, spare: Floats, exponent: int) -> int:
    """The sum of one block of finite rows in units of 2**exponent; uses up `rows` and `spare`."""
    largest = max(float(rows.max()), -float(rows.min()))
    digits = math.frexp(largest)[1] - exponent
    if digits > _LONGEST or abs(exponent) > _LARGEST_SCALE:
        return _sum_by_exponent(rows, exponent)
    rows *= 2.0**-exponent
    np.rint(rows, out=rows)
    return int(rows.sum()) if digits < _PLAIN_DIGITS else _sum_in_two_parts(rows, spare)


def _sum_in_two_parts(wholes: Floats, spare: Floats) -> int:
    """The sum of whole numbers of up to `_LONGEST` digits, from a sum of their upper and one of their lower digits."""
    upper = np.multiply(wholes, 2.0**-_SPLIT, out=spare)
    np.rint(upper, out=upper)
    sum_of_upper = int(upper.sum())
    upper *= 2.0**_SPLIT
    wholes -= upper
    return (sum_of_upper << _SPLIT) + int(wholes.sum())


def _sum_by_exponent(rows: Floats, exponent: int) -> int:
    """The sum of rows of any size: multiples of the unit as integers by exponent, and the others rounded."""
    fractions, sizes = np.frexp(rows)
    shifts = sizes.astype(np.int64) - _DIGITS - exponent  # a row is a mantissa times 2**shift units
    wholes = shifts >= 0
    total = 0
    if wholes.any():
        mantissas = (fractions[wholes] * 2.0**_DIGITS).astype(np.int64)
        least = int(shifts[wholes].min())
        places = shifts[wholes] - least
        upper = np.bincount(places, weights=mantissas >> _SPLIT)
        lower = np.bincount(places, weights=mantissas & (2**_SPLIT - 1))
        for place in np.flatnonzero((upper != 0) | (lower != 0)).tolist():
            total += ((int(upper[place]) << _SPLIT) + int(lower[place])) << (least + place)
    if exponent < _BEYOND_ALL and not wholes.all():
        rounded = np.rint(np.ldexp(rows[~wholes], -exponent))
        total += _sum_in_two_parts(rounded, np.empty_like(rounded))
    return total
