"""Means of the rows in the last boxes of a private tree: few weighted points that stand for all rows.

Claim      What the share costs, for one row added or removed, once the boxes are released
Neighbors  ADD_REMOVE
Why        A row is in one box. Its offset from the middle of that box, over half of the box's diagonal, has a length of at most 1
Numerics   A row by itself, then whole numbers, whose length is checked as such. What follows sees released numbers only
Source     clusters.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.box_tree.halvings import Halvings, box_side
from dpstats.statistics.box_tree.tree import BoxTree, measure_tree
from dpstats.statistics.clusters.budget import ClusterBudget
from dpstats.statistics.clusters.cluster_points import WholeCenters, row_totals
from dpstats.statistics.frame.frame import TableFrame
from dpstats.statistics.regression.points import POINT, Floats

MOST_HALVINGS = 14
UNITS = 1 << 12
"""What a row adds is no longer than this."""
FARTHEST = 1e130
"""Half diagonals, in spreads, are below this, so that their squares times squared numbers of rows are floats."""
UNIFORM = 1 / 3
"""The square of a typical offset from the middle of a box along a side, in squares of half that side."""


class WeightedPoints(NamedTuple):
    """Points in whole units of a frame, and about how many rows each stands for."""

    points: Floats
    weights: Floats
    squares: Floats
    """About the mean squared distance of these rows from the point, in squared spreads."""

    def distance_from(self, centers: WholeCenters) -> float:
        """About the root mean square of the distances of rows from their nearest centres, in spreads."""
        away = np.min([np.square((self.points - np.array(center)) / POINT).sum(axis=1) for center in centers], axis=0)
        squares = math.fsum((self.weights * (away + self.squares)).tolist())
        return math.sqrt(squares / max(math.fsum(self.weights.tolist()), 1.0))


@dataclass(frozen=True)
class BoxOffsets:
    """A `RowSum`: offsets of rows from the middles of their boxes, in parts of half the diagonals."""

    frame: TableFrame
    tree: BoxTree

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, box after box."""
        lows, highs = self.tree.corners
        raw_places = self.tree.boxes_of(raw_rows)
        raw_within = np.clip(raw_rows, lows[raw_places], highs[raw_places]) - self.tree.centers[raw_places]
        raw_stretch = (UNITS / half_diagonals(self.frame, self.tree))[raw_places]
        raw_whole = np.trunc(raw_within / np.array(self.frame.scales) * raw_stretch[:, None])
        raw_whole[~(np.square(raw_whole).sum(axis=1) <= UNITS**2)] = 0.0
        columns = raw_rows.shape[1]
        cells = (raw_places[:, None] * columns + np.arange(columns)).ravel()
        sums = np.bincount(cells, weights=raw_whole.ravel(), minlength=self.tree.size * columns)
        return sums.astype(np.int64)


def half_diagonals(frame: TableFrame, tree: BoxTree) -> Floats:
    """Half of the diagonal of each box, in spreads; a little more, so that rounding leaves no row outside."""
    lows, highs = tree.corners
    sides = (highs - lows) / np.array(frame.scales) / 2
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(row_totals(np.square(sides))) * (1 + 2.0**-20))


def find_points(
    table: Table,
    frame: TableFrame,
    budget: ClusterBudget,
    tree_shares: tuple[Fraction, Fraction],
    share: Fraction,
    rng: RandomSource,
) -> WeightedPoints | None:
    """Grow a tree within the limits of the frame out of the budget of boxes, and spend a share of the other one on means.

    None where boxes are too wide for floats.
    """
    sides = [box_side(column.low, column.high, column.scale) for column in frame.columns]
    tree = measure_tree([table], Halvings.of(sides, MOST_HALVINGS), budget.boxes, tree_shares, rng)
    lengths = half_diagonals(frame, tree)
    if not np.all(lengths < FARTHEST):
        return None
    raw_sums = np.array(table.row_sums(BoxOffsets(frame, tree)), dtype=np.int64).reshape(tree.size, -1)
    noisy, deviation = budget.steps.noisy_parts(raw_sums, UNITS, share)
    rows = tree.rows
    lows, highs = ((corner - np.array(frame.middles)) / np.array(frame.scales) for corner in tree.corners)
    noise = np.square(lengths * (deviation / UNITS))[:, None]
    typical = np.square(rows[:, None] * (highs - lows) / 2) * UNIFORM
    moves = noisy * (lengths / UNITS)[:, None] * (typical / (typical + noise)) / np.maximum(rows, 1.0)[:, None]
    points = np.clip((lows + highs) / 2 + moves, lows, highs)
    filled = rows > 0
    squares = row_totals(np.square(highs - lows)) * (UNIFORM / 4)
    return WeightedPoints(np.rint(points[filled] * POINT), rows[filled], squares[filled])
