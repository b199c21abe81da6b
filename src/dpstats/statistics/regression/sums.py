"""Sums over the points of rows: counts of magnitudes, products of coordinates, and scores with bounded influence.

Claim      Each is a `RowSum`; its `l2_units` is at least the Euclidean length of what one row adds, whatever it holds
Why        A bounded point u has a length of at most `radius`, and a residual is cut off at `cut` and drawn toward 0 with its
           point: the score is cut * u at most. The products u_i u_j have the length |u|**2 where those of two coordinates count
           once and weigh sqrt(2), of which 7/5 is a little less
Numerics   Whole numbers throughout, in floats that hold them exactly (points.py)
Source     steps.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.octaves import count_cells
from dpstats.statistics.regression.points import Floats, Points, WholeLine, few_at_a_time

GRID = 2.0**-47
"""A released decimal has 15 digits: a row that is nearer to it than this part of it may well be at it."""
ACROSS, ALONG = 7, 5
"""Weights of products of two coordinates and of squares: 7/5 is below sqrt(2)."""


@dataclass(frozen=True)
class Distances:
    """For each feature the cells of how far rows lie from its middle; rows at the middle, to 15 digits, are left out.
    Features are the first columns of a row."""

    middles: tuple[float, ...]

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them, feature after feature."""
        with np.errstate(over="ignore"):
            raw_distances = np.abs(raw_rows[:, : len(self.middles)] - self.middles)
        raw_distances[raw_distances <= GRID * np.abs(self.middles)] = 0.0
        return np.concatenate([count_cells(raw_distances[:, place]) for place in range(len(self.middles))])


@dataclass(frozen=True)
class Residuals:
    """Outcomes less what a line says."""

    points: Points
    centre: float
    """What is subtracted from every outcome."""
    line: WholeLine

    def of(self, raw_rows: Floats, raw_points: Floats, exponent: int = 0) -> Floats:
        """The residuals of rows, in units of two to that power."""
        with np.errstate(over="ignore"):
            return np.ldexp(raw_rows[:, -1] - self.centre - self.line.at(raw_points), -exponent)


@dataclass(frozen=True)
class ResidualSizes:
    """The cells of the magnitudes of residuals."""

    residuals: Residuals

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them; none that is a rounding error of the centre."""
        raw_sizes = np.abs(self.residuals.of(raw_rows, self.residuals.points.of(raw_rows)))
        return count_cells(raw_sizes[raw_sizes > GRID * abs(self.residuals.centre)])


@dataclass(frozen=True)
class Products:
    """Products of the coordinates of bounded points: the upper triangle of a matrix, row by row."""

    points: Points

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points = self.points.of(raw_rows)
        return upper(self.points.bounded(raw_points, self.points.weights(raw_points)))


@dataclass(frozen=True)
class Scores:
    """What a step needs, at one line: the score, then the squared lengths of points whose residuals are not cut off, then the
    products of the scores' coordinates."""

    residuals: Residuals
    cut: int
    """Where residuals are cut off, in their unit."""
    exponent: int
    """The unit of residuals is two to this power."""
    products: bool = False
    """Whether the products are wanted."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        raw_weights = points.weights(raw_points)
        raw_ball = points.bounded(raw_points, raw_weights)
        raw_residuals = self.residuals.of(raw_rows, raw_points, self.exponent)
        raw_inside = np.abs(raw_residuals) <= self.cut
        raw_pulls = np.trunc(np.clip(raw_residuals, -self.cut, self.cut) * raw_weights)
        raw_squares = np.square(raw_ball).sum(axis=1)
        raw_parts = [(raw_ball * raw_pulls[:, None]).sum(axis=0), np.sum(raw_squares, where=raw_inside, keepdims=True)]
        if self.products:
            raw_parts.append(upper(np.trunc(raw_ball * (raw_pulls * (1.0 / self.cut))[:, None])))
        return np.concatenate(raw_parts).astype(np.int64)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity of the score, in units."""
        return self.cut * self.residuals.points.radius


@dataclass(frozen=True)
class ResidualLevels:
    """Residuals that are cut off far out, times the squares of their points' weights; then, in quarters of the cut, these squares
    by themselves, and times those of residuals over the cut: what a mean of residuals needs, and its error."""

    residuals: Residuals
    cut: int
    exponent: int

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        raw_squares = points.weights(raw_points) ** 2
        raw_held = np.clip(self.residuals.of(raw_rows, raw_points, self.exponent), -self.cut, self.cut)
        raw_quarters = raw_squares * (self.cut / 4)
        raw_errors = np.square(raw_held * (1.0 / self.cut)) * raw_quarters
        raw_parts = [np.trunc(raw_held * raw_squares), np.trunc(raw_quarters), np.minimum(np.trunc(raw_errors), self.cut // 4)]
        return np.array([raw_part.sum() for raw_part in raw_parts], dtype=np.int64)

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity of all sums together, in units: the root of 18/16 is below 17/16."""
        return -(-17 * self.cut // 16)


def upper(raw_vectors: Floats) -> NDArray[np.int64]:
    """The upper triangle of the sum of the vectors' outer products."""
    size = raw_vectors.shape[1]
    raw_matrix = np.zeros((size, size))
    for rows in few_at_a_time(len(raw_vectors), size):
        raw_matrix += raw_vectors[rows].T @ raw_vectors[rows]
    return raw_matrix[np.triu_indices(raw_matrix.shape[0])].astype(np.int64)


def weights_of_triangle(coordinates: int) -> list[int]:
    """The weights of the entries of a triangle: squares and products of two."""
    return [ALONG if row == column else ACROSS for row in range(coordinates) for column in range(row, coordinates)]


def matrix_of(triangle: Floats, coordinates: int) -> Floats:
    """The symmetric matrix of an upper triangle."""
    matrix = np.zeros((coordinates, coordinates))
    matrix[np.triu_indices(coordinates)] = triangle
    return matrix + np.triu(matrix, 1).T
