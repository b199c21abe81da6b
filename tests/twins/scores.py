"""Broken twins of correlation and covariance by scores: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.paired.apart import OtherScores
from dpstats.statistics.paired.tails import SIDE
from dpstats.statistics.paired.walk import UNITS, Floats, PairUnits, PointMoments, ScoreOctaves, ScoreSums


@dataclass(frozen=True)
class UnboundedMoments(PointMoments):
    """Moments. Mistake: each coordinate is cut off by itself, so that a row in a corner lies outside of the ball."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_x, raw_y = np.trunc(np.clip(self.units.of(raw_rows) * (UNITS / self.radius), -UNITS, UNITS)).T
        raw_parts = [raw_x * (5 * UNITS // 2), raw_y * (5 * UNITS // 2), 5 * raw_x**2, 5 * raw_y**2, 7 * raw_x * raw_y]
        return np.array([raw_part.sum() for raw_part in raw_parts], dtype=np.int64)


@dataclass(frozen=True)
class ScoresOfCutColumns(ScoreSums):
    """Sums of scores. Mistake: columns are cut off where scores should be, and a score grows with the square of them."""

    units: PairUnits

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points = np.clip(self.units.of(raw_rows), -self.cut, self.cut)
        raw_cut = raw_points * self.units.scales + self.units.middles
        raw_held = np.trunc(self.scores.of(raw_cut) * (UNITS / self.cut))
        return np.array([raw_held.sum(), np.trunc(np.square(raw_held) / UNITS).sum()], dtype=np.int64)


@dataclass(frozen=True)
class RowsBeyond(ScoreOctaves):
    """Counts of octaves. Mistake: each counts all rows beyond its beginning, so that a row far out is in all of them."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        raw_counts = super().__call__(raw_rows)
        raw_beyond = [np.cumsum(raw_side[::-1])[::-1] for raw_side in (raw_counts[:SIDE], raw_counts[SIDE:])]
        return np.concatenate(raw_beyond)


@dataclass(frozen=True)
class ScoresOfAllRows(OtherScores):
    """The scores of rows that are not apart. Mistake: rows apart keep theirs, and are in both parts."""

    def of(self, raw_rows: Floats) -> Floats:
        """The scores of rows."""
        return self.scores.of(raw_rows)
