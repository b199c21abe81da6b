"""Sums over rows by their nearest centres: costs, distances, and offsets within a radius.

Claim      Each is a `RowSum`. A row adds to one part of `ClusterOffsets` alone, and `units` is at least the length of it; it adds
           from 0 to STEPS to each sum of `CappedCosts`; it is in one cell of `DistanceCells`, or in none
Why        Offsets are drawn toward their centre to lie within the radius, and their length is checked in whole numbers. Squares
           of offsets o over 2 radius have the length |o|**2 / 2 radius at most: half of the radius
Numerics   Whole numbers in floats that hold them exactly (cluster_points.py)
Source     clusters.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.clusters.cluster_points import NearCenters, WholeCenters
from dpstats.statistics.frame.frame import TableFrame
from dpstats.statistics.regression.octaves import count_cells
from dpstats.statistics.regression.points import BALL_BITS, POINT_BITS, Floats

STEPS = 1 << 16
"""A row that lies as far out as the cap, or farther, costs this much."""
COUNT_PART = 2 / 3
"""What a row adds to the count of its cluster, in radii."""


@dataclass(frozen=True)
class DistanceCells:
    """How many rows lie at what distance from their nearest centre, in public cells."""

    near: NearCenters

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return cells_of_squares(self.near.nearest(self.near.points(raw_rows))[2])


def cells_of_squares(raw_squares: Floats) -> NDArray[np.int64]:
    """How many of these squared distances lie in each cell, as distances."""
    return count_cells(np.sqrt(raw_squares) * 2.0**-POINT_BITS)


@dataclass(frozen=True)
class CappedCosts:
    """For each of several sets of centres the sum of squared distances of rows from the nearest one, each of at most `cap`."""

    frame: TableFrame
    choices: tuple[WholeCenters, ...]
    cap: float
    """A squared distance, in whole units."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, in parts of the cap."""
        raw_points = NearCenters(self.frame, ()).points(raw_rows)
        sums = np.zeros(len(self.choices), dtype=np.int64)
        for place, centers in enumerate(self.choices):
            raw_squares = NearCenters(self.frame, centers).squares(raw_points).min(axis=1)
            raw_steps = np.floor(np.minimum(raw_squares / self.cap, 1.0) * STEPS).astype(np.int64)
            sums[place] = np.minimum(raw_steps, STEPS).sum()
        return sums


@dataclass(frozen=True)
class ClusterOffsets:
    """For each centre: sums of offsets of its rows, their number times `count_units`, and, where wanted, squares of offsets.

    Behind all of these stand the cells of distances from the nearest centre.
    """

    near: NearCenters
    radius: int
    """In units of 2**-BALL_BITS."""
    squares: bool = False

    @property
    def count_units(self) -> int:
        """What a row adds to the count."""
        return max(1, math.floor(COUNT_PART * self.radius))

    @property
    def units(self) -> int:
        """The length of what a row adds is at most this."""
        parts = 4 * self.radius**2 + 4 * self.count_units**2 + self.radius**2 * self.squares
        return -(-(math.isqrt(parts - 1) + 1) // 2)

    @property
    def coordinates(self) -> int:
        """How many sums a cluster has."""
        columns = len(self.near.centers[0])
        return columns * (2 if self.squares else 1) + 1

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, centre after centre."""
        raw_places, raw_offsets, raw_squares = self.near.nearest(self.near.points(raw_rows))
        raw_held = held_within(raw_offsets, raw_squares, self.radius)
        raw_parts = [raw_held, np.full((len(raw_rows), 1), float(self.count_units))]
        if self.squares:
            raw_parts.append(np.trunc(np.square(raw_held) / (2 * self.radius)))
        raw_all = np.column_stack(raw_parts)
        sums = np.zeros((len(self.near.centers), self.coordinates), dtype=np.int64)
        for place in range(len(sums)):
            sums[place] = raw_all[raw_places == place].sum(axis=0)
        return np.concatenate([sums.ravel(), cells_of_squares(raw_squares)])

    def split(self, raw_sums: tuple[int, ...]) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """The parts of all centres, and the cells."""
        end = len(self.near.centers) * self.coordinates
        return np.array(raw_sums[:end], dtype=np.int64).reshape(-1, self.coordinates), raw_sums[end:]


def held_within(raw_offsets: Floats, raw_squares: Floats, radius: int) -> Floats:
    """Offsets in whole units of 2**-BALL_BITS, drawn toward 0 to lie within the radius. None is longer, whatever a row holds."""
    reach = radius * 2.0 ** (POINT_BITS - BALL_BITS)
    raw_weights = np.minimum(1.0, reach / np.maximum(np.sqrt(raw_squares), 1.0))
    raw_held = np.trunc(raw_offsets * (raw_weights * 2.0 ** (BALL_BITS - POINT_BITS))[:, None])
    raw_held[np.square(raw_held).sum(axis=1) > radius**2] = 0.0
    return np.asarray(raw_held)
