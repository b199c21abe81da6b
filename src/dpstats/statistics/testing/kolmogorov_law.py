"""The law of a largest gap with noise on it.

Under the null hypothesis the gap of m rows is about sqrt(m) times Kolmogorov's variable, m = n for one sample and
n1 n2 / (n1 + n2) for two. The released gap has noise, and the numbers of rows have noise of their own: p-values are means over
both, the latter over numbers of rows that may be behind the noisy ones, from those upward: too many rows make a test careful. For
few rows the law itself errs to the careful side. Everything here is arithmetic on released numbers.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.testing.noise import Floats, laplace_points

_GAP_POINTS = 400
_ROW_POINTS = 12


@dataclass(frozen=True)
class NoisyGap:
    """A released gap in rows, with released numbers of rows."""

    gap: float
    rows: tuple[float, ...]
    gap_epsilon: float
    rows_epsilon: float

    def divided(self, rows: int) -> NoisyGap:
        """The gap of a part of the rows, one of `rows`, with its noise."""
        parts = tuple(each / rows for each in self.rows)
        return NoisyGap(self.gap / rows, parts, self.gap_epsilon * rows, self.rows_epsilon * rows)

    @property
    def share(self) -> float:
        """The gap as a share: D."""
        return min(max(self.gap / _effective(self.rows), 0.0), 1.0)

    def p_value(self) -> float:
        """The chance of a noisy gap as large as this."""
        noise = laplace_points(1 / self.gap_epsilon, _GAP_POINTS)
        tails = [gap_tail(self.gap, rows, noise) for rows in likely_rows(self.rows, self.rows_epsilon)]
        return sum(tails) / len(tails)

    def interval(self, level: float) -> tuple[float, float]:
        """Gaps of the population that the noisy one does not contradict: it differs by no more than sampling and noise give."""
        sizes = np.abs(laplace_points(1 / self.gap_epsilon, _GAP_POINTS))
        likely = _effective(self.rows)
        low, high = 0.0, 10 * (math.sqrt(likely) + 1 / self.gap_epsilon)
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if gap_tail(middle, likely, sizes) > 1 - level else (low, middle)
        reach = 2 / self.rows_epsilon
        most, least = (_effective(tuple(each + sign * reach for each in self.rows)) for sign in (1, -1))
        return min(max((self.gap - high) / most, 0.0), 1.0), min(max((self.gap + high) / least, 0.0), 1.0)


def gap_tail(gap: float, rows: float, noise: Floats) -> float:
    """P(null gap + noise >= gap), a mean over values of the noise."""
    return float(np.mean(special.kolmogorov(np.maximum(gap - noise, 0.0) / math.sqrt(rows))))


def likely_rows(rows: tuple[float, ...], rows_epsilon: float) -> list[float]:
    """Effective numbers of rows that may be behind the noisy ones, all as likely; the larger half of them, which rejects less."""
    points = laplace_points(1 / rows_epsilon, _ROW_POINTS)
    drawn = itertools.product(points, repeat=len(rows))
    likely = sorted(_effective(tuple(each - point for each, point in zip(rows, noise, strict=True))) for noise in drawn)
    step = len(likely) // _ROW_POINTS
    return likely[len(likely) // 2 + step // 2 :: step]


def _effective(rows: tuple[float, ...]) -> float:
    """The number of rows that one sample would have had; no group has less than one."""
    held = [max(each, 1.0) for each in rows]
    return held[0] if len(held) == 1 else held[0] * held[1] / (held[0] + held[1])
