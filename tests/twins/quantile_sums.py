"""Broken twins of the sums for quantile regressions: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.points import POINT, Floats
from dpstats.statistics.regression.quantile_sums import PULL, Crossings, SignScores


@dataclass(frozen=True)
class OnceCrossed(Crossings):
    """Rows that a line passes over. Mistake: a row is taken to be passed over along one coordinate only."""

    @property
    def l2_units(self) -> int:
        """The radius of the ball."""
        return self.residuals.points.radius


@dataclass(frozen=True)
class WideCrossings(Crossings):
    """Rows that a line passes over. Mistake: points count as they are, and not as they are within the ball."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points = self.residuals.points.of(raw_rows)
        raw_near = np.abs(self.residuals.of(raw_rows, raw_points))[:, None] < np.abs(raw_points) * (self.by / POINT)
        return ((np.sign(raw_points) * raw_near).T @ raw_points).ravel().astype(np.int64)


@dataclass(frozen=True)
class UncutSigns(SignScores):
    """Scores of a quantile. Mistake: the ratio itself pulls, beyond the width too."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, the scores alone."""
        points = self.spreads.residuals.points
        raw_points = points.of(raw_rows)
        raw_ball = points.bounded(raw_points, points.weights(raw_points))
        raw_pulls = np.trunc(np.clip(self.spreads.ratios(raw_rows, raw_points), -1.0, 1.0) * (PULL / self.width)) + self.offset
        return (raw_ball * raw_pulls[:, None]).sum(axis=0).astype(np.int64)
