"""Rows as points near centres: which centre is nearest, and how far a row lies from it.

Claim      What a row becomes depends on that row and on released numbers alone, to the last bit
Why        Points and centres are whole numbers of at most 2**22 in size, so that squared distances are below 2**53 for up to
           MOST_COLUMNS columns: floats hold them exactly, in whatever order they are added. Of equally near centres the first
           counts
Numerics   Whole numbers in floats
Source     clusters.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.frame.frame import TableFrame
from dpstats.statistics.regression.points import Floats

MOST_COLUMNS = 20
HELD = float(1 << 22)
"""Points are cut off here, at 64 spreads."""

WholeCenters = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class NearCenters:
    """A frame, and centres in whole units of its points."""

    frame: TableFrame
    centers: WholeCenters

    def points(self, raw_rows: Floats) -> Floats:
        """Rows in whole units."""
        return np.asarray(np.clip(self.frame.points(raw_rows), -HELD, HELD))

    def squares(self, raw_points: Floats) -> Floats:
        """Squared distances of points from all centres, points by centres."""
        raw_squares = np.empty((len(raw_points), len(self.centers)))
        for place, center in enumerate(self.centers):
            raw_squares[:, place] = np.square(raw_points - np.array(center, dtype=np.float64)).sum(axis=1)
        return raw_squares

    def nearest(self, raw_points: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
        """For each point the place of its centre, how far it lies from it in each column, and the square of its distance."""
        raw_squares = self.squares(raw_points)
        raw_places = np.argmin(raw_squares, axis=1)
        raw_offsets = raw_points - np.array(self.centers, dtype=np.float64)[raw_places]
        return raw_places, raw_offsets, raw_squares[np.arange(len(raw_points)), raw_places]


def row_totals(values: Floats) -> Floats:
    """The sum of each row, added column by column, so that it is the same on every machine."""
    totals = values[:, 0].copy()
    for place in range(1, values.shape[1]):
        totals += values[:, place]
    return totals


def whole_centers(centers: Floats, frame: TableFrame) -> WholeCenters:
    """Centres in whole units, within the limits of the frame."""
    low, high = np.array([column.units() for column in frame.columns]).T
    held = np.rint(np.clip(centers, np.maximum(low, -HELD), np.minimum(high, HELD)))
    return tuple(tuple(int(each) for each in center) for center in held)
