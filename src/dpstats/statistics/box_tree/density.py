"""A released density: rows in boxes, smoothed by any bandwidth, at any point, at no further cost.

Every box spreads its rows evenly, and a normal law of the bandwidth smooths them, column by column. Where a box is as wide as the
kernel is, it has done part of the smoothing already: the kernel and the box have together the variance that was asked for.
Without a bandwidth, the kernel of several columns leans as the rows do: each box becomes one normal law, whose covariance is that
of the rows, by Scott's rule, and that of the box.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.portable import OWN_DIGITS, rounded
from dpstats.foundations.results import value_text
from dpstats.foundations.tabular import Tabular
from dpstats.foundations.text_tables import counted
from dpstats.statistics.box_tree.halvings import Floats
from dpstats.statistics.box_tree.points import checked_points
from dpstats.statistics.box_tree.tree import BoxTree
from dpstats.statistics.clipped.margins import critical_value
from dpstats.statistics.lazy_scipy import special

AT_ONCE = 1 << 20
"""Points times boxes that are worked on together."""
UNIFORM = 12
"""A uniform law of width 1 has the variance 1 / UNIFORM."""
SHARPEST = 1e-6
"""Kernels are at least this part of a box wide."""

GRIDS = (1024, 64, 24)
"""Places along each side of a grid, of one column, two and three."""

Bandwidth = float | Sequence[float] | None


class DensityBand(NamedTuple):
    """The ends of intervals at points."""

    low: Any
    high: Any


@dataclass(frozen=True, eq=False)
class Density(Tabular):
    """A density of one column or several, as a function of points: `density(20)`, or `density([[20, 3.5]])` of two columns."""

    names: tuple[str, ...]
    tree: BoxTree

    @property
    def rows(self) -> int:
        """About how many rows there are."""
        return round(float(self.tree.rows.sum()))

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the columns, of rows that lie evenly in their boxes."""
        lows, highs = self.tree.corners
        offsets = self.tree.centers - self._shares @ self.tree.centers
        return np.asarray((self._shares * offsets.T) @ offsets + np.diag(self._shares @ (highs - lows) ** 2 / UNIFORM))

    @property
    def bandwidth(self) -> tuple[float, ...]:
        """The standard deviation of the kernel along each column where none is given, by Scott's rule, as scipy has it."""
        deviations = self._scott * np.sqrt(np.diag(self.covariance))
        return tuple(rounded(width, math.nan, OWN_DIGITS) for width in deviations.tolist())

    @property
    def _scott(self) -> float:
        return float(max(self.rows, 2) ** (-1 / (len(self.names) + 4)))

    def __call__(self, points: Any, bandwidth: Bandwidth = None) -> Any:
        """The density at each point. A `bandwidth` is a number, or one for each column; 0 takes the boxes as they are."""
        rows, is_single = checked_points(points, self.names)
        values = _rounded(self._sums(rows, bandwidth)[0])
        return float(values[0]) if is_single else values

    def error(self, points: Any, bandwidth: Bandwidth = None) -> Any:
        """The standard error at each point: of noise and of sampling, not of smoothing."""
        rows, is_single = checked_points(points, self.names)
        values, squares, evens = self._sums(rows, bandwidth)
        total = max(self.rows, 1)
        sampling = np.maximum(squares - values**2, 0.0) / total
        errors = _rounded(np.sqrt(sampling + evens * self.tree.noisy.law.variance / total**2))
        return float(errors[0]) if is_single else errors

    def interval(self, points: Any, level: float = 0.95, bandwidth: Bandwidth = None) -> DensityBand:
        """Intervals at points, for the density of the population, smoothed in the same way: they cover noise and sampling."""
        if not 0.5 <= level <= 0.999:
            raise InvalidParameterError(f"level must be from 0.5 to 0.999, such as 0.95; got {level}.")
        value, reach = self(points, bandwidth), critical_value(level, 0.0) * self.error(points, bandwidth)
        low = np.maximum(value - reach, 0.0)
        return DensityBand(low if np.ndim(low) else float(low), value + reach)

    def probability(self, low: Any, high: Any) -> float:
        """The part of the rows between two corners, without smoothing: rows are spread evenly in their boxes."""
        (first,), (last,) = (checked_points(corner, self.names)[0] for corner in (low, high))
        lows, highs = self.tree.corners
        within = np.clip(np.minimum(highs, last) - np.maximum(lows, first), 0.0, None) / (highs - lows)
        return rounded(float((self._shares * within.prod(axis=1)).sum()), 1.0, OWN_DIGITS)

    def distance(self, other: Density) -> float:
        """Half of the integrated absolute difference from another density, on a grid: how much the probability of some region
        differs at most."""
        places = []
        for own, others in zip(self._surroundings(), other._surroundings(), strict=True):
            places.append(np.linspace(min(own[0], others[0]), max(own[1], others[1]), GRIDS[len(self.names) - 1]))
        grid = np.stack(np.meshgrid(*places, indexing="ij"), axis=-1).reshape(-1, len(self.names))
        cell = math.prod(float(each[1] - each[0]) for each in places)
        gaps = np.abs(self._sums(grid, None)[0] - other._sums(grid, None)[0])
        return rounded(min(1.0, cell * float(gaps.sum()) / 2), 1.0, OWN_DIGITS)

    def _surroundings(self) -> list[tuple[float, float]]:
        """The window, and three bandwidths more."""
        return [(low - 3 * width, high + 3 * width) for (low, high), width in zip(self.window(), self.bandwidth, strict=True)]

    def window(self) -> tuple[tuple[float, float], ...]:
        """For each column the range that holds nearly all rows."""
        return self.tree.window()

    @cached_property
    def _shares(self) -> Floats:
        total = float(self.tree.rows.sum())
        return self.tree.rows / total if total else self.tree.volumes / self.tree.halvings.volume

    def _sums(self, points: Floats, bandwidth: Bandwidth) -> tuple[Floats, Floats, Floats]:
        """At each point the sums over boxes of what each would add if it held all rows: by its share, by its share and squared,
        and squared."""
        leans = bandwidth is None and len(self.names) > 1
        widths = self._checked(bandwidth)
        step = max(1, AT_ONCE // self.tree.size)
        parts = []
        for start in range(0, max(len(points), 1), step):
            some = points[start : start + step]
            spread = self._normal_spread(some) if leans else self._even_spread(some, widths)
            parts.append((spread @ self._shares, spread**2 @ self._shares, (spread**2).sum(axis=1)))
        values, squares, evens = (np.concatenate(each) for each in zip(*parts, strict=True))
        return values, squares, evens

    def _even_spread(self, points: Floats, bandwidth: Floats) -> Floats:
        """The density of each box at each point, if it held all rows: even, smoothed column by column."""
        lows, highs = self.tree.corners
        spread = np.ones((len(points), self.tree.size))
        for axis, width in enumerate(bandwidth.tolist()):
            low, high, place = lows[:, axis], highs[:, axis], points[:, axis, np.newaxis]
            spread *= (_smooth(place, low, high, width) if width else (place >= low) & (place < high)) / (high - low)
        return spread

    def _normal_spread(self, points: Floats) -> Floats:
        """The same where each box is one normal law; boxes of one depth share their covariance."""
        lows, highs = self.tree.corners
        spread = np.empty((len(points), self.tree.size))
        for depth in np.unique(self.tree.boxes.depths):
            own = self.tree.boxes.depths == depth
            sides = (highs - lows)[own][0]
            covariance = self._scott**2 * self.covariance + np.diag(sides**2 / UNIFORM)
            scales = np.sqrt(np.diag(covariance))
            root = np.linalg.cholesky(np.linalg.inv(covariance / np.outer(scales, scales)))
            here, there = (points / scales) @ root, (self.tree.centers[own] / scales) @ root
            squares = ((here[:, np.newaxis] - there) ** 2).sum(axis=2)
            height = math.prod(np.diag(root).tolist()) / math.prod((scales * math.sqrt(2 * math.pi)).tolist())
            spread[:, own] = height * np.exp(-squares / 2)
        return spread

    def _checked(self, bandwidth: Bandwidth) -> Floats:
        given = np.atleast_1d(np.asarray(self.bandwidth if bandwidth is None else bandwidth, dtype=np.float64))
        if given.shape not in ((1,), (len(self.names),)) or not (np.isfinite(given) & (given >= 0)).all():
            raise InvalidParameterError("bandwidth must be a number that is 0 or more, or one for each column.")
        return np.broadcast_to(given, (len(self.names),))

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"names": list(self.names), "tree": self.tree.to_dict()}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Density:
        """The density that `to_dict` made plain."""
        return cls(tuple(plain["names"]), BoxTree.from_dict(plain["tree"]))

    def table_columns(self) -> dict[str, Any]:
        """The boxes, a row for each: where it begins and ends in each column, and about how many rows it has."""
        return self.tree.sides_by_name(self.names) | {"rows": self.tree.rows}

    def __str__(self) -> str:
        ends = ", ".join(
            f"{name} {value_text(float(f'{low:.4g}'))} to {value_text(float(f'{high:.4g}'))}"
            for name, (low, high) in zip(self.names, self.window(), strict=True)
        )
        return f"a density in {counted(self.tree.size, 'box', 'boxes')} of about {counted(self.rows, 'row')}: {ends}"


def _smooth(place: Floats, low: Floats, high: Floats, width: float) -> Floats:
    """How much of a uniform law between `low` and `high`, smoothed by a normal one, lies at a place, times its width."""
    kernel = np.sqrt(np.maximum(width**2 - (high - low) ** 2 / UNIFORM, (SHARPEST * (high - low)) ** 2))
    return np.asarray(special.ndtr((high - place) / kernel) - special.ndtr((low - place) / kernel))


def _rounded(values: Floats) -> Floats:
    return np.array([rounded(value, math.nan, OWN_DIGITS) for value in values.tolist()])
