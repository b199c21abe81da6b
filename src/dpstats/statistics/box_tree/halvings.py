"""Halvings: a box, and the public rule by which it is halved again and again, the widest side first.

All boxes of one depth have the same sides, because each halving cuts all of them along the same axis. So a box of depth d is a
path of d bits, one for each halving, and it holds the rows whose path begins with these bits. The outer boxes are open-ended: a
row beyond the limits of the first box counts as one at the limit.

Numerics   A row's path goes by that row alone: a quotient of floats, rounded down. Any rounding puts each row into one box
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

MOST_HALVINGS = 16
"""Halvings of a box at most: paths of all rows are counted in one pass, which holds a number for each of them."""
FARTHEST = 1e300
"""Limits lie no farther from 0, so that their difference is a float."""
NARROWEST = 1e-300
"""A side that is not wider cannot be halved 16 times among floats."""


@dataclass(frozen=True)
class BoxSide:
    """One side of the first box: its limits, the unit in which it is compared with others, and how often it may be halved."""

    low: float
    high: float
    unit: float
    most: int = MOST_HALVINGS

    @property
    def width(self) -> float:
        """The distance between the limits."""
        return self.high - self.low


def box_side(low: float, high: float, unit: float, *, whole: bool = False) -> BoxSide:
    """The side from about `low` to `high`: wide enough to be halved, and for whole numbers such that each half holds some.

    A side of whole numbers begins half a unit below one and is a power of two wide, so that boxes are cut between them.
    """
    low, high = (min(max(limit, -FARTHEST), FARTHEST) for limit in (low, high))
    if whole:
        first, last = math.floor(low), math.ceil(high)
        halvings = max(1, (last - first).bit_length())
        start = first - ((1 << halvings) - (last - first + 1)) // 2
        if max(abs(start), abs(start + (1 << halvings))) < 1 << 52:
            return BoxSide(start - 0.5, start + (1 << halvings) - 0.5, _usable_unit(unit, float(1 << halvings)), halvings)
    size = max(abs(low), abs(high))
    if high - low <= max(size * 2.0**-32, NARROWEST):
        middle, reach = (low + high) / 2, size / 2 if size > NARROWEST else 0.5
        low, high = middle - reach, middle + reach
    return BoxSide(low, high, _usable_unit(unit, high - low))


def _usable_unit(unit: float, width: float) -> float:
    """The unit, or where it is nothing beside the width or beyond it, the width itself."""
    return unit if width * 2.0**-32 < unit <= width else width


@dataclass(frozen=True)
class Halvings:
    """A box and the axes along which it is halved, one for each depth."""

    sides: tuple[BoxSide, ...]
    axes: tuple[int, ...]

    @classmethod
    def of(cls, sides: Sequence[BoxSide], most: int = MOST_HALVINGS) -> Halvings:
        """Halve the side that is widest, in its unit, each time; the first of several."""
        widths = [side.width / side.unit for side in sides]
        left = [side.most for side in sides]
        axes: list[int] = []
        while len(axes) < most and any(left):
            axis = max((place for place in range(len(sides)) if left[place]), key=lambda place: (widths[place], -place))
            axes.append(axis)
            widths[axis] /= 2
            left[axis] -= 1
        return cls(tuple(sides), tuple(axes))

    @property
    def depth(self) -> int:
        """How many halvings there are."""
        return len(self.axes)

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """For each axis how often it is halved in all."""
        return tuple(self.axes.count(axis) for axis in range(len(self.sides)))

    @property
    def volume(self) -> float:
        """That of the first box."""
        return math.prod(side.width for side in self.sides)

    def paths(self, points: Floats) -> Whole:
        """The path of each point, a row of `points`, through all halvings: its bits as a number, the first halving's highest."""
        cells = [self._cells(axis, points[:, axis]) for axis in range(len(self.sides))]
        paths, seen = np.zeros(len(points), dtype=np.int64), [0] * len(self.sides)
        for axis in self.axes:
            seen[axis] += 1
            paths <<= 1
            paths |= (cells[axis] >> (self.cuts[axis] - seen[axis])) & 1
        return paths

    def _cells(self, axis: int, values: Floats) -> Whole:
        """In which of the equal parts of a side each value lies; beyond the limits in the outer ones."""
        side, parts = self.sides[axis], 1 << self.cuts[axis]
        within = np.minimum(np.maximum(values, side.low), side.high)
        return np.minimum((within - side.low) / side.width * parts, parts - 1).astype(np.int64)

    def corners(self, depths: Whole, paths: Whole) -> tuple[Floats, Floats]:
        """The lower and the upper corners of boxes, each given by its depth and the bits of its path, boxes by axes."""
        cells = np.zeros((len(paths), len(self.sides)), dtype=np.int64)
        halved = np.zeros((len(paths), len(self.sides)), dtype=np.int64)
        for level, axis in enumerate(self.axes):
            below = depths > level
            bits = (paths >> np.maximum(depths - 1 - level, 0)) & 1
            cells[below, axis] = 2 * cells[below, axis] + bits[below]
            halved[below, axis] += 1
        lows, widths = (np.array([getattr(side, name) for side in self.sides]) for name in ("low", "width"))
        each = widths * np.ldexp(1.0, -halved)
        return lows + cells * each, lows + (cells + 1) * each

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"sides": [[side.low, side.high, side.unit, side.most] for side in self.sides], "axes": list(self.axes)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Halvings:
        """The halvings that `to_dict` made plain."""
        return cls(tuple(BoxSide(*side) for side in plain["sides"]), tuple(plain["axes"]))


@dataclass(frozen=True)
class PathCounts:
    """A `RowSum`: how many rows have each path."""

    halvings: Halvings

    def __call__(self, raw_rows: Floats) -> Whole:
        """The counts of some rows."""
        return np.bincount(self.halvings.paths(raw_rows), minlength=1 << self.halvings.depth).astype(np.int64)
