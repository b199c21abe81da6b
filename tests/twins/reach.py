"""Broken twins of sums that are cut off at a reach: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.points import POINT, Floats
from dpstats.statistics.regression.reach_sums import LENGTH, CutCurves, CutScores, unit_of


@dataclass(frozen=True)
class ResidualCutScores(CutScores):
    """Scores. Mistake: residuals are cut off at the reach, and not what they are multiplied by."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points, raw_residuals = self.scores.residuals(raw_rows)
        unit = POINT * unit_of(self.reach, raw_points.shape[1])
        raw_held = np.clip(raw_residuals, -self.reach, self.reach) / unit
        raw_score = np.rint(raw_points * raw_held[:, None]).sum(axis=0).astype(np.int64)
        return np.concatenate([raw_score, super().__call__(raw_rows)[len(raw_score) :]])


@dataclass(frozen=True)
class LongestRowCurves(CutCurves):
    """Curvatures. Mistake: the reach is that of the longest row of the table, so that no row is cut off."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points, raw_roots = self.scores.curves(raw_rows)
        with np.errstate(over="ignore"):
            longest = float(np.max(raw_roots * np.sqrt(np.square(raw_points).sum(axis=1)) / POINT, initial=self.reach))
        return CutCurves(self.scores, longest)(raw_rows)


@dataclass(frozen=True)
class UncheckedScores(CutScores):
    """Scores. Mistake: a vector at the reach is LENGTH long before it is rounded, and nobody looks at how long it is then."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points, raw_residuals = self.scores.residuals(raw_rows)
        raw_most = self.reach * POINT / np.sqrt(np.square(raw_points).sum(axis=1))
        raw_steps = np.clip(raw_residuals, -raw_most, raw_most) * (LENGTH / (POINT * self.reach))
        return np.rint(raw_points * raw_steps[:, None]).sum(axis=0).astype(np.int64)
