"""Moments of rows that are held within a size: sums of their coordinates and of products of these, in whole numbers.

Claim      Each is a `RowSum`. What one row adds to `HeldMoments` is whole, and its L1 norm (`absolute`) or the Euclidean norm of
           the weighted triangle is at most `sensitivity`, whatever the row holds
Why        A row's point is drawn toward 0 until its size is at most the bound, by a factor of the row alone, and is cut to whole
           units. The size of these is checked in whole numbers: a point that rounding left outside is put to 0
Numerics   Floats element by element up to the rounding; whole numbers after it, in floats that hold their sums exactly
Source     moments.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.rounding import sqrt_bounds
from dpstats.statistics.frame.frame import TableFrame
from dpstats.statistics.regression.octaves import count_cells
from dpstats.statistics.regression.points import POINT, Floats
from dpstats.statistics.regression.sums import ALONG, upper, weights_of_triangle

MOST_UNITS = 1 << 36
"""A point's size in whole units is at most this."""
FINEST_UNIT = 1 << 16
SMALLEST, LARGEST = 2.0**-6, 2.0**20
"""Between these lies the bound of sizes."""
NORMAL_MAGNITUDE = 0.8
"""The mean magnitude of a standard normal."""
ABSOLUTE_ONE, ROUND_ONE = 0.5, 0.25
"""The coordinate that every row has alike, by which sums of coordinates are measured: in scales, or in radii of the ball. The
smaller it is, the less noise there is in products, and the more in means, which hardly matters: middles are near them."""


@dataclass(frozen=True)
class PointSizes:
    """Counts of rows by cells of their size (octaves.py): of what a row would add to moments, in squared scales."""

    frame: TableFrame
    absolute: bool

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(_sizes(*_sums(self.frame.points(raw_rows)), self.absolute))

    @property
    def likely(self) -> float:
        """About the size of a row that is normal in all columns."""
        columns = len(self.frame.columns)
        length = NORMAL_MAGNITUDE * columns
        return ABSOLUTE_ONE * length + (length**2 + columns) / 2 if self.absolute else float(columns)


@dataclass(frozen=True)
class HeldMoments:
    """Sums over rows: of each coordinate times `one`, then of products, the upper triangle row by row, all weighted."""

    frame: TableFrame
    absolute: bool
    bound: float
    """The largest size of a point, in squared scales."""

    @property
    def unit(self) -> int:
        """Whole units of a scale: a power of two, the finest with which sizes are at most MOST_UNITS."""
        return min(FINEST_UNIT, 1 << (math.frexp(MOST_UNITS / self.bound)[1] - 1) // 2)

    @property
    def one(self) -> int:
        """The coordinate that every row has alike, in whole units."""
        size = ABSOLUTE_ONE if self.absolute else ROUND_ONE * math.sqrt(self.bound)
        return max(1, math.floor(size * self.unit))

    @property
    def most(self) -> int:
        """The largest size of a point in whole units."""
        return math.floor(Fraction(self.bound) * self.unit**2)

    @property
    def weights(self) -> list[int]:
        """By how much each sum is multiplied."""
        coordinates = len(self.frame.columns) + 1
        return [1] * (coordinates * (coordinates + 1) // 2 - 1) if self.absolute else weights_of_triangle(coordinates)[1:]

    @property
    def sensitivity(self) -> int:
        """The most that a row adds: the L1 norm, or the Euclidean norm, of its weighted sums."""
        if self.absolute:
            return self.most
        return math.ceil(sqrt_bounds(Fraction(ALONG**2 * self.most * (self.most + 2 * self.one**2)))[1])

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_held = np.column_stack([np.full(len(raw_rows), float(self.one)), self.held(self.frame.points(raw_rows))])
        return np.asarray(upper(raw_held)[1:] * np.array(self.weights))

    def held(self, raw_points: Floats) -> Floats:
        """Points whose size is at most the bound, in whole units."""
        raw_lengths, raw_squares = _sums(raw_points)
        raw_factors = _factors(raw_lengths, raw_squares, self.bound, self.absolute)
        raw_held = np.trunc(raw_points * (raw_factors * (self.unit / POINT))[:, None])
        raw_held[self._is_too_large(raw_held)] = 0.0
        return raw_held

    def _is_too_large(self, raw_held: Floats) -> NDArray[np.bool_]:
        """Whether points in whole units are larger than they may be; all numbers here are whole, and exact."""
        raw_lengths, raw_squares = np.abs(raw_held).sum(axis=1), np.square(raw_held).sum(axis=1)
        if not self.absolute:
            return np.asarray(raw_squares > self.most)
        return np.asarray(2.0 * self.one * raw_lengths + np.square(raw_lengths) + raw_squares > 2.0 * self.most)


def _sums(raw_points: Floats) -> tuple[Floats, Floats]:
    """The sum of the coordinates' magnitudes of each point and that of their squares, in scales; exact."""
    return np.abs(raw_points).sum(axis=1) * (1 / POINT), np.square(raw_points).sum(axis=1) * (1 / POINT**2)


def _sizes(raw_lengths: Floats, raw_squares: Floats, absolute: bool) -> Floats:
    """One times the coordinates, and all products once, in magnitude; or the squared length."""
    return ABSOLUTE_ONE * raw_lengths + (np.square(raw_lengths) + raw_squares) / 2 if absolute else raw_squares


def _factors(raw_lengths: Floats, raw_squares: Floats, bound: float, absolute: bool) -> Floats:
    """By how much each point is drawn toward 0 to have at most the size of the bound: at most 1."""
    raw_larger = _sizes(raw_lengths, raw_squares, absolute) > bound
    raw_factors = np.ones(len(raw_lengths))
    lengths, squares = raw_lengths[raw_larger], raw_squares[raw_larger]
    if not absolute:
        raw_factors[raw_larger] = np.sqrt(bound / squares)
        return raw_factors
    products, linear = np.square(lengths) + squares, ABSOLUTE_ONE * lengths  # of the quadratic equation for the factor
    raw_factors[raw_larger] = (np.sqrt(np.square(linear) + 2 * products * bound) - linear) / products
    return raw_factors
