"""Reaches: how far the noise in a cell may reach, when the cell is a sum of independent noise of known laws.

The sum has a known characteristic function f, real because all laws are symmetric, and

    P(|sum| <= r) = (2 / pi) * integral over t > 0 of sin(r t) / t * f(t)

which is added up on a grid so fine that what it misses lies 40 standard deviations away, and so far that f has vanished. Because
noise on whole numbers has a characteristic function that comes back, the sum is smoothed over the smallest distance between its
values first, and the reach is longer by that.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from dpstats.statistics.coded.budget import Floats, NoiseLaw

CellNoise = tuple[tuple[float, int, NoiseLaw], ...]
"""Weights of independent draws, how many have each, and their law."""

_FARTHEST = 40.0
"""Standard deviations within which all of the noise lies, for the grid."""
_VANISHED = 1e-9
_STEPS = 1 << 14
_HALVINGS = 40


def variance_of(noise: CellNoise) -> float:
    """The variance of a cell."""
    return math.fsum(count * weight**2 * law.variance for weight, count, law in noise)


@functools.lru_cache(maxsize=256)
def reach_of(noise: CellNoise, level: float) -> float:
    """The distance within which the noise of a cell lies with this probability, or a little more, rounded to 4 digits."""
    deviation = math.sqrt(variance_of(noise) + _finest(noise) ** 2 / 12)
    frequencies, weights = _spectrum(noise, deviation)
    low, high = 0.0, _FARTHEST * deviation / 2
    if _within(high, frequencies, weights) < level:  # beyond what the grid can tell
        return math.inf
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, frequencies, weights) < level else (low, middle)
    return _rounded_up(high + _finest(noise))


def _spectrum(noise: CellNoise, deviation: float) -> tuple[Floats, Floats]:
    """Frequencies, and the characteristic function at them with the weights of the sum over the grid."""
    step = 2 * math.pi / (2 * _FARTHEST * deviation)
    frequencies: Floats = (np.arange(_STEPS, dtype=np.float64) + 0.5) * step
    values = np.sinc(_finest(noise) * frequencies / (2 * math.pi))
    for weight, count, law in noise:
        values = values * law.characteristic(weight * frequencies) ** count
    kept = int(np.flatnonzero(np.abs(values) > _VANISHED)[-1]) + 1 if (np.abs(values) > _VANISHED).any() else 1
    return frequencies[:kept], np.asarray(2 / math.pi * step * values[:kept] / frequencies[:kept])


def _within(reach: float, frequencies: Floats, weights: Floats) -> float:
    """The probability that the noise lies within a reach."""
    return float((np.sin(reach * frequencies) * weights).sum())


def _finest(noise: CellNoise) -> float:
    """At least the smallest distance between two values that the noise of a cell can have."""
    return min(weight for weight, _, _ in noise)


def _rounded_up(value: float) -> float:
    """A positive number to its first 4 digits."""
    digits = 3 - math.floor(math.log10(value))
    return round(math.ceil(value * 10.0**digits) / 10.0**digits, digits)
