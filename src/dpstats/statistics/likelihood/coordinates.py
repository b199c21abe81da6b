"""Free coordinates of parameters: numbers without limits in place of those that have some, so that no step leaves the space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats

FARTHEST = 300.0
"""No free coordinate of a bounded parameter is taken further: its exponential is still a float."""
NEAREST = 1e-12
"""A parameter counts as no closer to a limit than so much of its range, or of 1."""


@dataclass(frozen=True)
class Coordinates:
    """For each parameter: the logarithm of how far it is from its one limit, its log odds between two, or itself."""

    space: tuple[tuple[float, float], ...]

    def free(self, theta: Floats) -> Floats:
        """The coordinates of parameters."""
        return np.array([_free(float(value), *limits) for value, limits in zip(theta, self.space, strict=True)])

    def held(self, coordinates: Floats) -> Floats:
        """The parameters at coordinates: always inside the space."""
        return np.array([_held(float(value), *limits) for value, limits in zip(coordinates, self.space, strict=True)])

    def slopes(self, theta: Floats) -> Floats:
        """How fast each parameter grows with its coordinate."""
        return np.array([_slope(float(value), *limits) for value, limits in zip(theta, self.space, strict=True)])

    def inside(self, theta: Sequence[float] | Floats) -> Floats:
        """The nearest parameters that lie inside the space."""
        return self.held(self.free(np.asarray(theta, dtype=np.float64)))


def _free(value: float, low: float, high: float) -> float:
    if math.isinf(low) and math.isinf(high):
        return value
    if math.isinf(high):
        return math.log(max(value - low, NEAREST * NEAREST))
    if math.isinf(low):
        return -math.log(max(high - value, NEAREST * NEAREST))
    share = min(max((value - low) / (high - low), NEAREST), 1 - NEAREST)
    return math.log(share / (1 - share))


def _held(coordinate: float, low: float, high: float) -> float:
    if math.isinf(low) and math.isinf(high):
        return coordinate
    near = min(max(coordinate, -FARTHEST), FARTHEST)
    if math.isinf(high):
        return low + math.exp(near)
    if math.isinf(low):
        return high - math.exp(-near)
    share = 1 / (1 + math.exp(-near))
    return low + (high - low) * min(max(share, NEAREST), 1 - NEAREST)


def _slope(value: float, low: float, high: float) -> float:
    if math.isinf(low) and math.isinf(high):
        return 1.0
    if math.isinf(high):
        return value - low
    if math.isinf(low):
        return high - value
    return (value - low) * (high - value) / (high - low)
