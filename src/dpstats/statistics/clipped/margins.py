"""Margins: how far a number that was computed from noisy cells may be from the truth, all errors together.

Sampling error comes from the noisy variance of the rows, noise from the known law of the noise, and what the clip cuts off from
the tail rule (clips.py); sampling error and noise add up in variance, and the noise's heavier tails lengthen the margin by the
kurtosis that they give to the sum. Everything here is arithmetic on released numbers: floats do, and no claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Clip
from dpstats.statistics.clipped.cells import Floats, NoisyCells

_LAPLACE_KURTOSIS = 3.0
_NORMAL = NormalDist()
CAUTION = 0.7
"""Standard deviations of its own noise by which a noisy variance is taken to be larger."""
SKEW = 2.0
"""The part of the usual skewness correction that the margin takes: more than 1, because clipped rows are less skewed."""
MOST_SKEW = 0.6
FEWEST_ROWS = 5.0


@dataclass(frozen=True)
class Frame:
    """Where u = -1 to 1 lies among numbers."""

    centre: float
    radius: float

    @classmethod
    def of(cls, clip: Clip) -> Frame:
        """The frame of a clip; the largest float where a clip of all floats, rounded outward, is wider than that."""
        return cls(nearest_float((clip.low + Fraction(clip.steps, 2)) * clip.unit), nearest_float(clip.steps * clip.unit / 2))


@dataclass(frozen=True)
class Spread:
    """A mean of rows in u, with the variances of what makes it differ from the truth."""

    rows: float
    mean: float
    sampling: float
    """The sampling variance of the mean."""
    noise: float
    noise_kurtosis: float
    """Excess kurtosis of the noise alone."""
    skew: float
    """The shift of an interval's far end for skewness, per squared critical value."""
    stretch: float = 1.0
    """By how much the sampling variance is larger than for independent rows."""

    @property
    def variance(self) -> float:
        """Sampling and noise together."""
        return self.sampling + self.noise

    @property
    def kurtosis(self) -> float:
        """Excess kurtosis of both together."""
        return self.noise_kurtosis * (self.noise / self.variance) ** 2 if self.variance > 0 else 0.0

    def reach(self, level: float) -> tuple[float, float]:
        """How far an interval reaches below and above the mean, for sampling and noise."""
        half = critical_value(level, self.kurtosis, self.rows) * math.sqrt(self.variance)
        z = _NORMAL.inv_cdf((1 + level) / 2)
        shift = max(-MOST_SKEW * half, min(MOST_SKEW * half, SKEW * self.skew * (1 + 2 * z * z)))
        return half + max(-shift, 0.0), half + max(shift, 0.0)


def mean_of(cells: NoisyCells) -> float:
    """The mean of the rows in u, from cells of any degree from 1 on."""
    least, most = min([-1.0, *cells.near, *cells.far]), max([1.0, *cells.near, *cells.far])
    return float(max(least, min(most, cells.total(1) / max(cells.total(0), FEWEST_ROWS))))


def spread_of(cells: NoisyCells) -> Spread:
    """The mean of the rows in u, and how certain it is; the cells are of degree 2 or more."""
    rows = max(cells.total(0), FEWEST_ROWS)
    first = cells.weights(1)
    mean = mean_of(cells)
    square = cells.total(2) / rows
    variance = max(square - mean**2, 0.0) + CAUTION * variance_doubt(cells)
    skew = 0.0
    if variance > 0 and cells.degree >= 3:
        skew = (cells.total(3) / rows - 3 * mean * square + 2 * mean**3) / (6 * variance * rows)
    elif variance > 0:
        skew = _cubes_outside(cells, mean) / (6 * variance * rows**2)
    weights = first - mean
    stretch = spread_of(cells.inside).stretch if len(cells.near) and cells.units else cells.stretch(variance * rows)
    noise = cells.noise_variance(weights) / rows**2
    return Spread(rows, mean, variance / rows * stretch, noise, laplace_kurtosis(weights), skew, stretch)


def _cubes_outside(cells: NoisyCells, mean: float) -> float:
    """The sum of the cubes of distances from the mean over the rows in shells, which weigh more than all others."""
    return math.fsum(
        max(float(rows), 0.0) * ((near + far) / 2 - mean) ** 3
        for rows, near, far in zip(cells.noisy[cells.degree + 1 :], cells.near.tolist(), cells.far.tolist(), strict=True)
    )


def variance_doubt(cells: NoisyCells) -> float:
    """The standard deviation that the noise gives to the variance of the rows in u; the cells are of degree 2 or more."""
    rows, mean = max(cells.total(0), FEWEST_ROWS), mean_of(cells)
    first, second = cells.weights(1), cells.weights(2)
    return math.sqrt(cells.noise_variance(second - cells.total(2) / rows - 2 * mean * (first - mean))) / rows


def laplace_kurtosis(weights: Floats | Sequence[float]) -> float:
    """The excess kurtosis of a weighted sum of independent Laplace variables."""
    squares = [float(weight) ** 2 for weight in weights]
    return _LAPLACE_KURTOSIS * sum(square**2 for square in squares) / (sum(squares) or 1.0) ** 2


def critical_value(level: float, kurtosis: float, rows: float = math.inf) -> float:
    """Standard deviations to either side that hold a share `level` (Cornish & Fisher's expansion; Student's for few rows)."""
    z = _NORMAL.inv_cdf((1 + level) / 2)
    return z + (z**3 - 3 * z) / 24 * kurtosis + (z**3 + z) / (4 * max(rows, FEWEST_ROWS))
