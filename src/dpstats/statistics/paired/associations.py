"""Intervals for correlations of any kind, which know that none is beyond -1 or 1.

A correlation is the more certain the nearer it is to -1 or 1. So an end of the interval lies where its distance from the
released number is just as many standard errors as the level asks for, standard errors as they would be if that end were the
truth. That has the effect of Fisher's transformation (1915), and works where noise puts a correlation on its limits, too. It is
arithmetic on released numbers: no claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dpstats.statistics.clipped.margins import critical_value

_HALVINGS = 60


@dataclass(frozen=True)
class Association:
    """A noisy correlation with what makes it differ from the truth."""

    value: float
    rows: float
    sampling: Callable[[float], float]
    """The variance that drawing the rows gives to a correlation, where the true one is this."""
    noise: float
    """The variance that the noise gives."""
    noise_kurtosis: float
    cut: float = 0.0
    """The part of the columns' spread that may lie beyond the cuts, where it may go together in any way."""

    def ends(self, level: float) -> tuple[float, float]:
        """An interval that holds the true correlation with about the probability `level`."""
        return self._end(-1.0, level), self._end(1.0, level)

    def _end(self, limit: float, level: float) -> float:
        """The end in the direction of -1 or 1."""
        towards_zero = limit * self.value < 0
        beyond = self.cut * abs(self.value) * (1.0 if towards_zero else 1 - abs(self.value))
        if abs(limit - self.value) <= self._reach(limit, level, beyond):
            return limit
        inside, outside = self.value, limit
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            reached = abs(middle - self.value) <= self._reach(middle, level, beyond)
            inside, outside = (middle, outside) if reached else (inside, middle)
        return inside

    def _reach(self, truth: float, level: float, beyond: float) -> float:
        variance = self.sampling(truth) + self.noise
        if not 0 < variance < math.inf:
            return beyond + variance
        kurtosis = self.noise_kurtosis * (self.noise / variance) ** 2
        return math.hypot(critical_value(level, kurtosis, self.rows) * math.sqrt(variance), beyond)


def unknown_association(rows: float) -> Association:
    """A correlation of which nothing is known: 0, and an interval from -1 to 1."""
    return Association(0.0, rows, lambda truth: math.inf, 0.0, 0.0)
