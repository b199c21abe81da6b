"""The budget of clusters: what its steps may spend, share by share, and noise for vectors of which each row moves few.

Claim      All that is bought from one budget is together epsilon-DP (`PureClusterSplit`) or rho-zCDP
           (`ConcentratedClusterSplit`), for one row added or removed, if what a row adds to the parts that are handed in has
           lengths that add up to at most what is said
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added
Why        Shares add up (accounting/allowance.py). Parts get independent noise. Spherical Laplace noise of scale b changes the
           density of a part by at most exp(length / b), so that of all by exp(sum of lengths / b); Gaussian noise goes by the
           length of all parts together, which is at most the sum of theirs
Numerics   Shares and scales are rationals; noise is exact
Source     clusters.proof.md
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.allowance import row_allowance
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question
from dpstats.mechanisms.gaussian import sample_discrete_gaussian
from dpstats.mechanisms.spherical_laplace import sample_spherical_laplaces
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget, TableBudget
from dpstats.statistics.regression.budget_split import BudgetSplit, ConcentratedBudgetSplit, PureBudgetSplit

Whole = NDArray[np.int64]


class NoisyParts(NamedTuple):
    """Sums with noise, parts by coordinates, and the standard deviation of the noise in each."""

    noisy_sums: Whole
    deviation: float


class ClusterSplit(BudgetSplit, Protocol):
    """What is left to spend, in shares of the whole."""

    def noisy_parts(self, raw_parts: Whole, units: int, share: Fraction) -> NoisyParts:
        """Sums with noise, where the lengths of what a row adds to the parts add up to at most `units`."""
        ...


class PureClusterSplit(PureBudgetSplit):
    """An epsilon to spend, without delta."""

    def noisy_parts(self, raw_parts: Whole, units: int, share: Fraction) -> NoisyParts:
        """Spherical Laplace noise in each part."""
        parts, coordinates = raw_parts.shape
        noise = sample_spherical_laplaces(units / self.take(share), coordinates, parts, self.rng)
        return NoisyParts(raw_parts + noise.reshape(parts, coordinates), units * self.deviation(share, coordinates))


class ConcentratedClusterSplit(ConcentratedBudgetSplit):
    """A rho of zero-concentrated privacy to spend."""

    def noisy_parts(self, raw_parts: Whole, units: int, share: Fraction) -> NoisyParts:
        """Discrete Gaussian noise."""
        variance = units**2 / (2 * self.take(share))
        noise = np.asarray(sample_discrete_gaussian(variance, raw_parts.size, self.rng), dtype=np.int64)
        return NoisyParts(raw_parts + noise.reshape(raw_parts.shape), math.sqrt(variance))


class ClusterBudget(NamedTuple):
    """The budget of steps, and that of a tree of boxes."""

    steps: ClusterSplit
    boxes: TableBudget


def cluster_budget(question: Question, boxes_part: Fraction, rng: RandomSource) -> ClusterBudget:
    """The budget of a question, of which a tree of boxes may spend a part; both parts add up to the whole."""
    whole = row_allowance(question.epsilon, question.delta, question.neighbors)
    steps, boxes = whole * (1 - boxes_part), whole * boxes_part
    if question.delta:
        return ClusterBudget(ConcentratedClusterSplit(steps, rng), ConcentratedTableBudget(boxes, rng))
    return ClusterBudget(PureClusterSplit(steps, rng), PureTableBudget(boxes, rng))
