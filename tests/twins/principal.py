"""Broken twins of moments: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.principal.moments import HeldMoments, _factors, _sums
from dpstats.statistics.regression.points import POINT, Floats
from dpstats.statistics.regression.sums import upper


@dataclass(frozen=True)
class FloatCheckedMoments(HeldMoments):
    """Moments. Mistake: sizes are compared in floats before points are rounded to whole units, and never after it."""

    def held(self, raw_points: Floats) -> Floats:
        """Points of at most the bound's size, then rounded."""
        raw_factors = _factors(*_sums(raw_points), self.bound, self.absolute)
        return np.asarray(np.rint(raw_points * (raw_factors * (self.unit / POINT))[:, None]))


@dataclass(frozen=True)
class MomentsClippedAfterwards(HeldMoments):
    """Moments. Mistake: not rows but their sum is held within what so many rows may add up to."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add all rows up as they are, and clip the sum."""
        raw_points = np.trunc(self.frame.points(raw_rows) * (self.unit / POINT))
        raw_sums = upper(np.column_stack([np.full(len(raw_rows), float(self.one)), raw_points]))[1:] * np.array(self.weights)
        most = self.sensitivity * max(1, len(raw_rows))
        return np.asarray(np.clip(raw_sums, -most, most))
