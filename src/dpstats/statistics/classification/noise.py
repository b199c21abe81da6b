"""Noise for whole numbers of which a row moves one code's by a bounded length, out of a share of a budget."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable, Coding
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.gaussian import sample_discrete_gaussian
from dpstats.statistics.classification.residuals import AgreementSum, Predicts
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget

Floats = NDArray[np.float64]
Budget = PureTableBudget | ConcentratedTableBudget

AGREEMENT_SHARE = Fraction(3, 100)
"""What counting the rows that a classifier gets right takes of a budget."""


def norm_of(budget: Budget) -> int:
    """In which norm a row's numbers are bounded: l1 for Laplace noise, l2 for Gaussian."""
    return 2 if isinstance(budget, ConcentratedTableBudget) else 1


def noisy_sums(
    raw_sums: tuple[int, ...], bound: int, budget: Budget, share: Fraction, rng: RandomSource
) -> tuple[list[int], float]:
    """Sums of which a row moves by whole numbers of at most this length, with noise for a share; and the noise's variance."""
    if isinstance(budget, ConcentratedTableBudget):
        variance = budget.variance_for(share) * bound**2
        noise = sample_discrete_gaussian(variance, len(raw_sums), rng).tolist()
    else:
        scale = bound / budget.draw_epsilon(share)
        variance = 2 * scale**2
        noise = sample_discrete_laplace(scale, len(raw_sums), rng).tolist()
    return [raw + added for raw, added in zip(raw_sums, noise, strict=True)], float(variance)


class Agreement(NamedTuple):
    """The part of the rows whose class a classifier predicts, the standard deviation of the noise in it, and the rows."""

    part: float
    error: float
    rows: int
    """About how many rows there are."""

    def text(self) -> str:
        """In words for a card."""
        return f"{self.part:.4g} of the rows it was fitted to (noise +- {self.error:.2g}); a little less of new ones"


UNSEEN = Agreement(0.0, 0.0, 0)
"""Of a model before its rows are counted."""


def noisy_agreement(
    table: CodedTable, codings: tuple[Coding, ...], model: Predicts, budget: Budget, rng: RandomSource
) -> Agreement:
    """How many rows a released model gets right: a row adds 1 to one of two counts."""
    raw_counts = table.code_sums(codings, AgreementSum(model))
    (right, wrong), variance = noisy_sums(raw_counts, 1, budget, AGREEMENT_SHARE, rng)
    rows = right + wrong
    if rows < 1:
        return Agreement(0.0, 1.0, rows)
    part = min(max(right / rows, 0.0), 1.0)
    error = (variance * (part**2 + (1 - part) ** 2)) ** 0.5 / rows
    return Agreement(round(part, 6), min(float(f"{error:.3g}"), 1.0), rows)
