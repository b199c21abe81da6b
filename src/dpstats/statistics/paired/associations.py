"""Associations: correlations with intervals that know that none is beyond -1 or 1, and rank correlations from noisy votes.

A correlation is the more certain the nearer it is to -1 or 1. So an end of the interval lies where its distance from the
released number is just as many standard errors as the level asks for, standard errors as they would be if that end were the
truth. That has the effect of Fisher's transformation (1915), and works where noise puts a correlation on its limits, too.

Drawing other rows moves Kendall's tau by a variance of about 4/9 (1 - tau**2)**2 / n where the rows come from a normal law
(Fieller, Hartley & Pearson 1957), and Spearman's rho by (1 + rho**2 / 2) (1 - rho**2)**2 / n (Bonett & Wright 2000). Other laws
have more of it, so both are taken larger by CAUTION, and ties have more of it too. All of this is arithmetic on released numbers:
no claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpstats.foundations.portable import inner_product
from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value, laplace_kurtosis
from dpstats.statistics.paired.votes import KENDALL, Votes

_HALVINGS = 60
CAUTION = 1.35
"""How much larger than for normal rows the variance is taken: about what heavy tails in both columns (Student's, three degrees of
freedom) need."""
FEWEST_SCALES = 6.0
"""A column with fewer untied votes, in scales of the noise, may as well be constant: nothing is known of its correlations."""
_MOST_TIED = 0.5
_TIED_POWER = 3.0
"""The more pairs are tied, the less a variance shrinks near -1 and 1; from two thirds tied on not at all."""
_PAIRS_PER_TRIPLE = 2 / 3
"""Where a share of all triples is tied, about this power of it is the share of tied pairs."""


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


def kendall_of(votes: Votes) -> Association:
    """Kendall's tau-b."""

    def variance(truth: float, tied: tuple[float, float]) -> float:
        return 4 / 9 * math.prod(1 + min(share, _MOST_TIED) for share in tied)

    return _association(votes, variance)


def spearman_of(votes: Votes) -> Association:
    """Spearman's rho, tied rows at their mean rank."""
    return _association(votes, lambda truth, tied: 1 + truth**2 / 2)


def _association(votes: Votes, variance: Callable[[float, tuple[float, float]], float]) -> Association:
    agree, against = (float(noisy) for noisy in votes.noisy[:2])
    only_x, only_y, both = (max(0.0, float(noisy)) for noisy in votes.noisy[2:])
    x_votes, y_votes = (agree + against + only for only in (only_y, only_x))  # where only y is tied, x has an order
    rows = max(votes.rows_per_share * float(np.sum(votes.noisy)) + 1, FEWEST_ROWS)
    if min(x_votes, y_votes) < FEWEST_SCALES * votes.scale:
        return Association(0.0, rows, lambda truth: math.inf, 0.0, 0.0)  # nothing is known: an interval from -1 to 1
    norm = math.sqrt(x_votes * y_votes)
    value = max(-1.0, min(1.0, (agree - against) / norm))
    pull = value / 2 * (1 / x_votes + 1 / y_votes)
    slopes = np.array([1 / norm - pull, -1 / norm - pull, value / 2 / y_votes, value / 2 / x_votes])
    total = max(agree + against, 0.0) + only_x + only_y + both
    tied = (_share(only_x + both, total), _share(only_y + both, total))
    tied_pairs = max(tied) ** (1.0 if votes.rows_per_share == KENDALL.rows_per_share else _PAIRS_PER_TRIPLE)
    power = max(0.0, 2 - _TIED_POWER * tied_pairs)

    def sampling(truth: float) -> float:
        return CAUTION * variance(truth, tied) * math.pow(1 - truth**2, power) / rows

    return Association(value, rows, sampling, 2 * votes.scale**2 * inner_product(slopes, slopes), laplace_kurtosis(slopes))


def _share(part: float, whole: float) -> float:
    return min(1.0, part / whole) if whole > 0 else 0.0
