"""Rank leads: by how much the rows of one group outrank those of another, in rows; with its law.

    lead = (pairs in which the first group is higher - pairs in which it is lower) / (rows of both groups)

Claim      One row added to a group, or removed, moves `raw_lead` by less than 1
Numerics   Comparisons and counts are exact, and the lead is an exact ratio. p-values and intervals are floats made from released
           numbers
Source     rank_leads.proof.md; Mann & Whitney 1947; Hanley & McNeil 1982 (the variance behind an interval)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.foundations.portable import OWN_DIGITS, rounded, rounded_ends
from dpstats.foundations.summaries import NumberRuns
from dpstats.statistics.clipped.margins import critical_value, laplace_kurtosis
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.testing.gaps import exact_products
from dpstats.statistics.testing.kolmogorov_law import likely_rows
from dpstats.statistics.testing.noise import laplace_points
from dpstats.statistics.testing.results import GREATER, LESS

_POINTS = 400
_HALVINGS = 60
_FEWEST = 2.0


def raw_lead(first: NumberRuns, second: NumberRuns) -> Fraction:
    """By how many pairs the first group is higher, over the rows of both; ties count for neither. 0 without rows."""
    raw_rows = int(first.raw_counts.sum() + second.raw_counts.sum())
    if not raw_rows:
        return Fraction(0)
    raw_up_to = np.concatenate([[0], np.cumsum(second.raw_counts)])
    raw_below = raw_up_to[np.searchsorted(second.raw_values, first.raw_values, side="left")]
    raw_not_above = raw_up_to[np.searchsorted(second.raw_values, first.raw_values, side="right")]
    raw_wins, raw_counts = exact_products(raw_rows, raw_below + raw_not_above - raw_up_to[-1], first.raw_counts)
    return Fraction(int((raw_wins * raw_counts).sum()), raw_rows)


@dataclass(frozen=True)
class NoisyLead:
    """A released lead, with released numbers of rows."""

    lead: float
    rows: tuple[float, float]
    lead_epsilon: float
    rows_epsilon: float

    def divided(self, rows: int) -> NoisyLead:
        """The lead of a part of the rows, one of `rows`, with its noise."""
        first, second = self.rows
        return NoisyLead(self.lead / rows, (first / rows, second / rows), self.lead_epsilon * rows, self.rows_epsilon * rows)

    @property
    def chance(self) -> float:
        """The chance that a row of the first group is higher than one of the second; ties count half."""
        first, second = self._rows
        return min(max(0.5 + self.lead * (first + second) / (2 * first * second), 0.0), 1.0)

    def statistic(self) -> float:
        """The lead in its standard deviations under the null hypothesis, those of the noise included."""
        return self.lead / math.sqrt(self._effective / 3 + 2 / self.lead_epsilon**2)

    def p_value(self, alternative: str) -> float:
        """The chance of a noisy lead as far out as this, where both groups have the same law."""
        lead = {GREATER: self.lead, LESS: -self.lead}.get(alternative, abs(self.lead))
        noise = laplace_points(1 / self.lead_epsilon, _POINTS)
        likely = likely_rows(self.rows, self.rows_epsilon)
        tails = [float(np.mean(special.ndtr((noise - lead) / math.sqrt(max(rows, 0.5) / 3)))) for rows in likely]
        mean = math.fsum(tails) / len(tails)
        tail = min(1.0, rounded(mean, mean, OWN_DIGITS))
        return tail if alternative in (GREATER, LESS) else min(1.0, 2 * tail)

    def interval(self, level: float) -> tuple[float, float]:
        """The chances that the noisy lead does not contradict."""
        return rounded_ends(self._end(level, 0.0), self._end(level, 1.0))

    def _end(self, level: float, end: float) -> float:
        inside, outside = self.chance, end
        if not self._contradicts(outside, level):
            return outside
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2
            inside, outside = (inside, middle) if self._contradicts(middle, level) else (middle, outside)
        return outside

    def _contradicts(self, chance: float, level: float) -> bool:
        """Whether the lead is farther from what a chance gives than sampling and noise go."""
        first, second = self._rows
        scale = (first + second) / (2 * first * second)
        noise = 2 * (scale / self.lead_epsilon) ** 2
        above, below = chance / (2 - chance), 2 * chance**2 / (1 + chance)
        pairs = chance * (1 - chance) + (first - 1) * (above - chance**2) + (second - 1) * (below - chance**2)
        sampling = max(pairs, 0.0) / (first * second)
        variance = sampling + noise
        z = critical_value(level, laplace_kurtosis([1.0]) * (noise / variance) ** 2)
        return abs(self.chance - chance) > z * math.sqrt(variance)

    @property
    def _rows(self) -> tuple[float, float]:
        return max(self.rows[0], _FEWEST), max(self.rows[1], _FEWEST)

    @property
    def _effective(self) -> float:
        first, second = self._rows
        return first * second / (first + second)
