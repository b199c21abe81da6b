"""The released tree: its last boxes with noisy counts of rows, and what follows from them at no further cost.

Claim      What the shares of the budget cost, for one row added or removed
Neighbors  ADD_REMOVE of one row
Why        Which boxes there are is one step (growth.py); a row then adds 1 to one cell of the table of last boxes by classes.
           Everything else is post-processing
Numerics   Exact up to the noisy counts; floats see released numbers only
Source     growth.proof.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.box_tree.growth import Boxes, GrowthNoise, grow
from dpstats.statistics.box_tree.halvings import Floats, Halvings, PathCounts, Whole
from dpstats.statistics.coded.budget import NoisyTable, TableBudget

FEW = 1 / 500
"""The part of all rows that may lie beyond either end of a window."""


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Last boxes, in the order of their paths, with noisy counts of rows, boxes by classes; without labels there is one class."""

    halvings: Halvings
    boxes: Boxes
    noisy: NoisyTable
    growth_scale: float
    """The scale of the noise that decided which boxes were halved."""

    @property
    def size(self) -> int:
        """How many last boxes there are."""
        return len(self.boxes.paths)

    @cached_property
    def counts(self) -> Floats:
        """Rows of each class in each box: none negative, and each class with the total that it was counted to have."""
        return np.column_stack([without_negatives(noisy) for noisy in self.noisy.noisy_counts.T])

    @cached_property
    def rows(self) -> Floats:
        """Rows in each box."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def corners(self) -> tuple[Floats, Floats]:
        """The lower and the upper corners of the boxes, boxes by axes."""
        return self.halvings.corners(self.boxes.depths, self.boxes.paths)

    @property
    def centers(self) -> Floats:
        """The middles of the boxes, boxes by axes."""
        lows, highs = self.corners
        return (lows + highs) / 2

    def sides_by_name(self, names: Sequence[str]) -> dict[str, Floats]:
        """Where the boxes begin and end along each axis, for a table of them."""
        lows, highs = self.corners
        ends = (("from", lows), ("to", highs))
        return {f"{name} {end}": corners[:, axis] for axis, name in enumerate(names) for end, corners in ends}

    def window(self) -> tuple[tuple[float, float], ...]:
        """Along each axis the range of the boxes that hold nearly all rows; that of the first box where there are none."""
        few = FEW * float(self.rows.sum())
        if not few:
            return tuple((side.low, side.high) for side in self.halvings.sides)
        ends = []
        for axis in range(len(self.halvings.sides)):
            lows, highs = (corners[:, axis] for corners in self.corners)
            upward, downward = np.argsort(lows, kind="stable"), np.argsort(-highs, kind="stable")
            first, last = (order[np.searchsorted(np.cumsum(self.rows[order]), few, side="right")] for order in (upward, downward))
            ends.append((float(lows[first]), float(highs[last])))
        return tuple(ends)

    @cached_property
    def volumes(self) -> Floats:
        """The volumes of the boxes: of the first one, halved with every depth."""
        return np.asarray(self.halvings.volume * np.ldexp(1.0, -self.boxes.depths))

    @cached_property
    def starts(self) -> Whole:
        """The first of all paths that each box holds."""
        return self.boxes.starts(self.halvings.depth)

    @cached_property
    def cumulative(self) -> Floats:
        """Rows of each class in all boxes before each, and at the end in all."""
        return np.vstack([np.zeros(self.counts.shape[1]), np.cumsum(self.counts, axis=0)])

    def boxes_of(self, points: Floats) -> Whole:
        """The place of the last box in which each point lies."""
        return np.searchsorted(self.starts, self.halvings.paths(points), side="right") - 1

    def counts_around(self, points: Floats, depth: int) -> Floats:
        """Rows of each class in the box of at most `depth` in which each point lies, points by classes."""
        shift = self.halvings.depth - depth
        first = (self.halvings.paths(points) >> shift) << shift
        begins = np.searchsorted(self.starts, first, side="right") - 1
        ends = np.searchsorted(self.starts, first + (1 << shift), side="left")
        return np.asarray(self.cumulative[ends] - self.cumulative[begins])

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "halvings": self.halvings.to_dict(),
            "depths": self.boxes.depths.tolist(),
            "paths": self.boxes.paths.tolist(),
            "rows": self.noisy.to_dict(),
            "growth_scale": self.growth_scale,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> BoxTree:
        """The tree that `to_dict` made plain."""
        depths, paths = (np.array(plain[name], dtype=np.int64) for name in ("depths", "paths"))
        halvings, noisy = Halvings.from_dict(plain["halvings"]), NoisyTable.from_dict(plain["rows"])
        return cls(halvings, Boxes(depths, paths), noisy, plain["growth_scale"])


def measure_tree(
    tables: Sequence[Table],
    halvings: Halvings,
    budget: TableBudget,
    shares: tuple[Fraction, Fraction],
    rng: RandomSource,
    *,
    halved_anyway: int = 0,
) -> BoxTree:
    """Grow a tree on rows, one table for each class, and count them: for a share of the budget each. One pass over each table."""
    raw_classes = [np.array(table.row_sums(PathCounts(halvings)), dtype=np.int64) for table in tables]
    noise = GrowthNoise.bought(budget, shares[0])
    boxes = grow(np.sum(raw_classes, axis=0), halved_anyway, noise, rng)
    starts = boxes.starts(halvings.depth)
    raw_boxes = np.column_stack([np.add.reduceat(raw_counts, starts) for raw_counts in raw_classes])
    return BoxTree(halvings, boxes, budget.noisy(raw_boxes, shares[1]), float(noise.scale))


def without_negatives(noisy: Whole) -> Floats:
    """The nearest numbers, by least squares, of the same total, none of them negative; zeros where the total is not positive."""
    total = int(noisy.sum())
    if total <= 0:
        return np.zeros(noisy.size)
    ordered = np.sort(noisy)[::-1]
    cuts = (np.cumsum(ordered) - total) / np.arange(1, noisy.size + 1)
    cut = cuts[np.flatnonzero(ordered > cuts)[-1]]
    return np.asarray(np.maximum(noisy - cut, 0.0))
