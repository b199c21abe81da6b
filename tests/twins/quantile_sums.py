"""Broken twins of the sums for quantile regressions: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.quantile_sums import PULL, SignScores, SpreadProducts
from dpstats.statistics.regression.sums import upper


@dataclass(frozen=True)
class UnheldProducts(SpreadProducts):
    """Products by spread. Mistake: a spread is not held from below, and a row whose own is small counts for more than one."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        points = self.spreads.residuals.points
        raw_points = points.of(raw_rows)
        raw_ball = points.bounded(raw_points, points.weights(raw_points))
        raw_parts = np.sqrt(self.spreads.least / np.maximum(np.abs(self.spreads.line.at(raw_points)), self.spreads.least / 64))
        return upper(np.trunc(raw_ball * raw_parts[:, None]))


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
