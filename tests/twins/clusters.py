"""Broken twins of clusters: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.clusters.cluster_sums import ClusterOffsets, cells_of_squares
from dpstats.statistics.regression.points import BALL_BITS, POINT_BITS, Floats


@dataclass(frozen=True)
class LateOffsets(ClusterOffsets):
    """Offsets. Mistake: they are added up first, and the sum of a cluster is cut off at the radius times its rows.

    A row far out then moves a large cluster as far as it lies out.
    """

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, centre after centre."""
        raw_places, raw_offsets, raw_squares = self.near.nearest(self.near.points(raw_rows))
        sums = np.zeros((len(self.near.centers), self.coordinates), dtype=np.int64)
        for place in range(len(sums)):
            raw_own = np.trunc(raw_offsets[raw_places == place] * 2.0 ** (BALL_BITS - POINT_BITS))
            raw_sum, most = raw_own.sum(axis=0), self.radius * len(raw_own)
            columns = raw_own.shape[1]
            sums[place, :columns] = np.trunc(raw_sum * min(1.0, most / max(1.0, float(np.sqrt(np.square(raw_sum).sum())))))
            sums[place, columns] = self.count_units * len(raw_own)
        return np.concatenate([sums.ravel(), cells_of_squares(raw_squares)])


def largest_distance(raw_cells: Any, *public: Any) -> float:
    """The radius of a step. Mistake: it is the largest distance of all rows, which one row alone makes."""
    from dpstats.statistics.regression.octaves import magnitude_of

    filled = [cell for cell, count in enumerate(raw_cells) if count]
    return magnitude_of(filled[-1]) if filled else 1.0
