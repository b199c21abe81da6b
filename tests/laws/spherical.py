"""Exact output laws of spherical Laplace noise, from its definition and apart from its sampler.

Everything is in whole grid units. Odds are `Fraction`s, right to a relative 2**-200 or so; laws of floats to about 1e-11.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction

import numpy as np

from dpstats.foundations.rounding import sqrt_bounds
from tests.laws.mechanisms import ABOVE, exponential_of_minus

Point = tuple[int, ...]
Weight = Callable[[Point, Fraction], Fraction]
"""(noise, scale) -> the weight of that noise; a probability up to a factor that depends on the scale alone."""

_BITS = 256
_REACH = 60  # noise longer than so many scales is left out: for up to 8 coordinates less than exp(-39) of the mass


def spherical_weight(noise: Point, scale: Fraction) -> Fraction:
    """exp(-length / scale), the length Euclidean."""
    return _weight(_squared(noise), scale)


def output_odds(centre: Point, outputs: Iterable[Point], scale: Fraction, weight: Weight) -> dict[Hashable, Fraction]:
    """The odds of each output against noise of zero, when noise of these weights is added to the centre.

    The weights of all noises have one sum, whatever the centre, so odds stand to each other as probabilities do.
    """
    return {output: weight(tuple(a - b for a, b in zip(output, centre, strict=True)), scale) for output in outputs}


def box(coordinates: int, reach: int) -> list[Point]:
    """All points whose coordinates lie in -reach ... reach."""
    return list(itertools.product(range(-reach, reach + 1), repeat=coordinates))


def length(point: Point) -> Fraction:
    """The Euclidean length, right to 2**-256."""
    return sqrt_bounds(Fraction(_squared(point)), _BITS)[0]


def squared_length_law(coordinates: int, scale: Fraction, high: int) -> dict[Hashable, float]:
    """The squared length of the noise: 0 ... high one by one, and all above as one outcome."""
    weights = _squared_length_weights(coordinates, scale, high)
    total = math.fsum(weights)
    law: dict[Hashable, float] = {square: weights[square] / total for square in range(high + 1)}
    law[ABOVE] = math.fsum(weights[high + 1 :]) / total
    return law


def point_law(coordinates: int, scale: Fraction, reach: int) -> dict[Hashable, float]:
    """The noise itself inside the box, and all outside it as one outcome."""
    total = math.fsum(_squared_length_weights(coordinates, scale, 0))
    law: dict[Hashable, float] = {point: float(spherical_weight(point, scale)) / total for point in box(coordinates, reach)}
    law[ABOVE] = 1 - math.fsum(law.values())
    return law


def _squared(point: Point) -> int:
    return sum(part * part for part in point)


@functools.lru_cache(maxsize=4096)
def _weight(squared: int, scale: Fraction) -> Fraction:
    return exponential_of_minus(sqrt_bounds(Fraction(squared), _BITS)[0] / scale)


def _squared_length_weights(coordinates: int, scale: Fraction, high: int) -> list[float]:
    """For 0, 1, 2, ... the number of points of that squared length times the weight of each."""
    longest = max(math.isqrt(high) + 1, math.ceil(_REACH * scale))
    points = np.zeros(longest**2 + 1)
    points[0] = 1.0
    for _ in range(coordinates):
        more = points.copy()
        for part in range(1, longest + 1):
            more[part * part :] += 2 * points[: len(points) - part * part]
        points = more
    weights: list[float] = (points * np.exp(-np.sqrt(np.arange(len(points))) / float(scale))).tolist()
    return weights
