"""Sums over rows for quantile regressions: residuals over a spread that may differ from row to row.

Claim      Each is a `RowSum`; its `l2_units` is at least the Euclidean length of what one row adds, whatever it holds
Why        A spread is held between two public numbers, and a bounded point has a length of at most `radius`; magnitudes and pulls
           are cut off as whole numbers. A line that is moved along one coordinate passes over a row or does not
Numerics   What a row adds is whole: computed from that row by IEEE arithmetic, rounded toward 0, and added up exactly (points.py)
Source     quantile_sums.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.points import POINT, Floats, WholeLine, few_at_a_time
from dpstats.statistics.regression.sums import Residuals, upper

PULL = 1 << 14
"""The most that a smoothed sign is, in units."""


@dataclass(frozen=True)
class ResidualMagnitudes:
    """Magnitudes of residuals, cut off, times their points: what a line for the spread needs."""

    residuals: Residuals
    cut: int
    exponent: int

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        raw_weights = points.weights(raw_points)
        raw_sizes = np.minimum(np.abs(self.residuals.of(raw_rows, raw_points, self.exponent)), self.cut)
        raw_ball = points.bounded(raw_points, raw_weights)
        return np.asarray((raw_ball * np.trunc(raw_sizes * raw_weights)[:, None]).sum(axis=0), dtype=np.int64)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity, in units."""
        return self.cut * self.residuals.points.radius


@dataclass(frozen=True)
class Spreads:
    """Residuals over a spread that is a line of the points, held between two numbers."""

    residuals: Residuals
    line: WholeLine
    least: float
    most: float

    def at(self, raw_points: Floats) -> Floats:
        """The spread at each point."""
        return np.asarray(np.clip(self.line.at(raw_points), self.least, self.most))

    def ratios(self, raw_rows: Floats, raw_points: Floats) -> Floats:
        """Residuals over spreads."""
        with np.errstate(over="ignore"):
            return np.asarray(self.residuals.of(raw_rows, raw_points) / self.at(raw_points))


@dataclass(frozen=True)
class RatioPlaces:
    """How many ratios lie in each of the cells of one width to either side of 0; the outermost hold all beyond."""

    spreads: Spreads
    per_one: int
    """Cells to a ratio of 1."""
    cells: int
    """On either side."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them, from the lowest cell up."""
        raw_ratios = self.spreads.ratios(raw_rows, self.spreads.residuals.points.of(raw_rows))
        raw_places = np.floor(np.clip(raw_ratios, -self.cells, self.cells) * self.per_one)
        raw_cells = np.clip(raw_places, -self.cells, self.cells - 1).astype(np.int64) + self.cells
        return np.bincount(raw_cells, minlength=2 * self.cells).astype(np.int64, copy=False)


@dataclass(frozen=True)
class NearRows:
    """The number of rows whose ratios are within a width of 0."""

    spreads: Spreads
    width: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        raw_ratios = self.spreads.ratios(raw_rows, self.spreads.residuals.points.of(raw_rows))
        return np.array([np.count_nonzero(np.abs(raw_ratios) <= self.width)], dtype=np.int64)


@dataclass(frozen=True)
class Crossings:
    """For each coordinate the bounded points of rows that a line passes over when its coefficient there goes from `by` less to
    `by` more: with the sign of the coordinate, so that they add up to how much the sum of scores gives way."""

    residuals: Residuals
    by: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, coordinate after coordinate."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        raw_ball = points.bounded(raw_points, points.weights(raw_points))
        raw_near = np.abs(self.residuals.of(raw_rows, raw_points))[:, None] < np.abs(raw_points) * (self.by / POINT)
        raw_signs = np.sign(raw_points) * raw_near
        size = points.coordinates
        raw_sums = np.zeros((size, size))
        for rows in few_at_a_time(len(raw_points), size):
            raw_sums += raw_signs[rows].T @ raw_ball[rows]
        return raw_sums.ravel().astype(np.int64)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity, in units: a row is passed over once for each coordinate at most."""
        return math.isqrt(self.residuals.points.coordinates * self.residuals.points.radius**2 - 1) + 1


@dataclass(frozen=True)
class SignScores:
    """The score of a quantile's check function, smoothed over a width of ratios; then the products of its coordinates."""

    spreads: Spreads
    width: float
    offset: int
    """What every row's pull has more than its sign: for another quantile than the middle. At most PULL, up or down."""
    products: bool = False

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        points = self.spreads.residuals.points
        raw_points = points.of(raw_rows)
        raw_ball = points.bounded(raw_points, points.weights(raw_points))
        raw_ratios = np.clip(self.spreads.ratios(raw_rows, raw_points), -self.width, self.width)
        raw_pulls = np.clip(np.trunc(raw_ratios * (PULL / self.width)), -PULL, PULL) + self.offset
        raw_parts = [(raw_ball * raw_pulls[:, None]).sum(axis=0)]
        if self.products:
            raw_parts.append(upper(np.trunc(raw_ball * (raw_pulls * (1.0 / self.strongest))[:, None])))
        return np.concatenate(raw_parts).astype(np.int64)

    @property
    def strongest(self) -> int:
        """The most that a row can pull."""
        return PULL + abs(self.offset)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity of the score, in units."""
        return self.strongest * self.spreads.residuals.points.radius
