"""The budget of clusters: what its steps may spend, share by share, and noise for vectors of which each row moves few.

Claim      All that is bought from one budget is together epsilon-DP (`PureClusterSplit`) or rho-zCDP
           (`ConcentratedClusterSplit`), for one row added or removed, if what a row adds to the parts that are handed in has
           lengths that add up to at most what is said
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added
Why        Shares add up (regression/budget_split.py). Parts get independent noise. Spherical Laplace noise of scale b changes the
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

from dpstats.accounting.concentration import zcdp_within
from dpstats.accounting.groups import steps_between
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
        self._take(share)
        parts, coordinates = raw_parts.shape
        noise = sample_spherical_laplaces(units / (self._whole * share), coordinates, parts, self.rng)
        return NoisyParts(raw_parts + noise.reshape(parts, coordinates), units * self.deviation(share, coordinates))


class ConcentratedClusterSplit(ConcentratedBudgetSplit):
    """A rho of zero-concentrated privacy to spend."""

    def noisy_parts(self, raw_parts: Whole, units: int, share: Fraction) -> NoisyParts:
        """Discrete Gaussian noise."""
        self._take(share)
        variance = units**2 / (2 * self._whole * share)
        noise = np.asarray(sample_discrete_gaussian(variance, raw_parts.size, self.rng), dtype=np.int64)
        return NoisyParts(raw_parts + noise.reshape(raw_parts.shape), math.sqrt(variance))


class ClusterBudget(NamedTuple):
    """The budget of steps, and that of a tree of boxes."""

    steps: ClusterSplit
    boxes: TableBudget


def cluster_budget(question: Question, boxes_part: Fraction, rng: RandomSource) -> ClusterBudget:
    """The budget of a question, of which a tree of boxes may spend a part; both parts add up to the whole."""
    moves = steps_between(question.neighbors, 1)
    if not question.delta:
        epsilon = question.epsilon / moves
        return ClusterBudget(PureClusterSplit(epsilon * (1 - boxes_part), rng), PureTableBudget(epsilon * boxes_part, rng))
    rho = zcdp_within(question.epsilon, question.delta) / moves**2
    return ClusterBudget(ConcentratedClusterSplit(rho * (1 - boxes_part), rng), ConcentratedTableBudget(rho * boxes_part, rng))
