"""Sums over rows that are cut off at a reach: the full scores of a likelihood, and the curvature that they give way with.

Claim      Each is a `RowSum`; a row's vector is whole and at most LENGTH long, whatever the row holds
Why        A vector is the row's point times a factor, a residual or the root of a curvature, cut off where the product would be
           longer than the reach. The length of a point is exact, a factor depends on its row alone, and the length of the whole
           vector is checked in whole numbers: one that rounding left outside is put to 0
Numerics   Floats element by element up to the rounding; whole numbers after it, in floats that hold their sums exactly
Source     reach.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.families import LogisticOutcomes, PoissonOutcomes, StraightOutcomes
from dpstats.statistics.regression.octaves import count_cells
from dpstats.statistics.regression.points import POINT, Floats, Points, WholeLine
from dpstats.statistics.regression.sums import upper

LENGTH = 1 << 18
"""A vector at the reach, in whole units."""

Likelihood = StraightOutcomes | LogisticOutcomes | PoissonOutcomes


@dataclass(frozen=True)
class FullScores:
    """The points of rows at a line, with what their outcomes say about it when nothing is cut off."""

    points: Points
    line: WholeLine
    likelihood: Likelihood

    def residuals(self, raw_rows: Floats) -> tuple[Floats, Floats]:
        """The points of rows, and by how much their outcomes differ from what is expected."""
        raw_points = self.points.of(raw_rows)
        return raw_points, self.likelihood.residuals(self.line.at(raw_points), raw_rows[:, -1])

    def curves(self, raw_rows: Floats) -> tuple[Floats, Floats]:
        """The points of rows, and the roots of their curvatures."""
        raw_points = self.points.of(raw_rows)
        return raw_points, np.sqrt(self.likelihood.curves(self.line.at(raw_points)))


@dataclass(frozen=True)
class ScoreLengths:
    """The cells of the lengths of scores."""

    scores: FullScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        raw_points, raw_residuals = self.scores.residuals(raw_rows)
        with np.errstate(over="ignore"):
            return count_cells(np.abs(raw_residuals) * _lengths(raw_points))


@dataclass(frozen=True)
class CurveLengths:
    """The cells of the lengths of points times the roots of their curvatures."""

    scores: FullScores

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        raw_points, raw_roots = self.scores.curves(raw_rows)
        return count_cells(raw_roots * _lengths(raw_points))


@dataclass(frozen=True)
class CutScores:
    """The sum of scores; then, where they are wanted, the products of their coordinates."""

    scores: FullScores
    reach: float
    products: bool = False

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_whole = _within(*self.scores.residuals(raw_rows), self.reach)
        raw_score = raw_whole.sum(axis=0).astype(np.int64)
        return np.concatenate([raw_score, upper(raw_whole)]) if self.products else raw_score


@dataclass(frozen=True)
class CutCurves:
    """Products of the coordinates of points times the roots of their curvatures."""

    scores: FullScores
    reach: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        return upper(_within(*self.scores.curves(raw_rows), self.reach))


@dataclass(frozen=True)
class FarDirections:
    """Of curved points that are longer than the reach, and so cut off: products of their coordinates, if they had length one."""

    scores: FullScores
    reach: float

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points, raw_roots = self.scores.curves(raw_rows)
        raw_far = raw_points[raw_roots * _lengths(raw_points) > self.reach]
        return upper(_within(raw_far, 1 / _lengths(raw_far), 1.0))


def unit_of(reach: float, coordinates: int) -> float:
    """What one whole unit is: rounding lengthens a vector by less than what this leaves of LENGTH."""
    return reach / (LENGTH - coordinates)


def _lengths(raw_points: Floats) -> Floats:
    """The lengths of points in standard units; a point at 0 counts as one unit of points away."""
    return np.asarray(np.maximum(np.sqrt(np.square(raw_points).sum(axis=1)), 1.0) * (1 / POINT))


def _within(raw_points: Floats, raw_factors: Floats, reach: float) -> Floats:
    """Points times factors, cut off at the reach, in whole units."""
    raw_most = reach / _lengths(raw_points)
    raw_held = np.clip(raw_factors, -raw_most, raw_most) * (1 / (POINT * unit_of(reach, raw_points.shape[1])))
    raw_whole = np.rint(raw_points * raw_held[:, None])
    raw_whole[np.square(raw_whole).sum(axis=1) > float(LENGTH) ** 2] = 0.0
    return raw_whole
