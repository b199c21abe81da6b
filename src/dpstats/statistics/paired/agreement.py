"""Rank correlations from noisy votes, and how certain they are.

Drawing other rows moves Kendall's tau by a variance of about 4/9 (1 - tau**2)**2 / n where the rows come from a normal law
(Fieller, Hartley & Pearson 1957), and Spearman's rho by (1 + rho**2 / 2) (1 - rho**2)**2 / n (Bonett & Wright 2000). Other laws
have more of it, so both are taken larger by CAUTION, and ties have more of it too. This is arithmetic on released numbers: no
claim depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpstats.foundations.portable import inner_product
from dpstats.statistics.clipped.margins import FEWEST_ROWS, laplace_kurtosis
from dpstats.statistics.paired.associations import Association, unknown_association
from dpstats.statistics.paired.votes import KENDALL, Votes

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
        return unknown_association(rows)
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
