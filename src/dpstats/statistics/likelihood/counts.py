"""Laws of counts with one parameter: Poisson and binomial.

Rows that are no whole numbers from 0 on, or above the number of trials, are left out. An estimate is a mean and so unbiased; a
block of zeros gives 0, which lies on the edge of the space, because averages of blocks would be too large without it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_groups import Truths
from dpstats.statistics.likelihood.family import ExponentialLaw
from dpstats.statistics.likelihood.quartiles import QUARTILES, sorted_quartiles

LARGEST_COUNT = 2.0**53
"""Counts are whole numbers up to here, beyond which floats leave some out."""
LEAST = 1e-9
"""The least that a rate, a share or a dispersion is taken for in a guess."""
_CANDIDATES = 128


class CountLaw(ExponentialLaw):
    """A law of counts whose estimate follows from their mean."""

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The mean of each block."""
        raw_counts = self._possible(raw_blocks)
        return raw_counts.means(raw_counts.raw_rows[:, 0])[:, None]

    def _inside(self, raw_values: Floats) -> Truths:
        return whole_numbers(raw_values)

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        return (raw_values,)


@dataclass(frozen=True)
class Poisson(CountLaw):
    """Counts with a rate."""

    bias_correction = "none needed: the mean is unbiased"
    name = "poisson"
    parameters = ("rate",)
    space = ((0.0, np.inf),)

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        return (raw_values / theta[0] - 1,)

    def information(self, theta: Floats) -> Floats:
        """One over the rate."""
        return np.array([[1 / theta[0]]])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated counts."""
        return generator.poisson(min(float(theta[0]), LARGEST_COUNT), (count, 1)).astype(np.float64)

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """By the incomplete gamma function."""
        return at_counts(points, lambda counts: special.gammaincc(counts + 1, theta[0]))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The rate that has quartiles nearest to these, among those that a Poisson law with such a median may have."""
        near = count_quartiles(quantiles)[1] + np.linspace(-1 / 3, 0.7, _CANDIDATES)
        return best_of(self.distribution, near[near > 0][:, None], quantiles)

    def solve(self, means: Floats) -> Floats:
        """The mean, where it is positive."""
        return np.maximum(means, LEAST)


@dataclass(frozen=True)
class Binomial(CountLaw):
    """Successes in a public number of trials, with a chance of each."""

    trials: int
    bias_correction = "none needed: the share of successes is unbiased"
    parameters = ("p",)
    space = ((0.0, 1.0),)

    @property
    def name(self) -> str:
        """What it is asked for by, with the number of trials."""
        return f"binomial(trials={self.trials})"

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The share of successes in each block."""
        return super().fit_blocks(raw_blocks) / self.trials

    def _inside(self, raw_values: Floats) -> Truths:
        return whole_numbers(raw_values) & (raw_values <= self.trials)

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        return ((raw_values - self.trials * theta[0]) / (theta[0] * (1 - theta[0])),)

    def information(self, theta: Floats) -> Floats:
        """Trials over the variance of one."""
        return np.array([[self.trials / (theta[0] * (1 - theta[0]))]])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated successes."""
        return generator.binomial(self.trials, theta[0], (count, 1)).astype(np.float64)

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """By the incomplete beta function."""
        last = self.trials - 1.0  # the incomplete beta function has no place for the last count
        failure = 1 - theta[0]
        shares = at_counts(points, lambda counts: special.betainc(self.trials - np.minimum(counts, last), counts + 1, failure))
        return np.where(points >= self.trials, 1.0, shares)

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The chance that has quartiles nearest to these."""
        near = (count_quartiles(quantiles)[1] + np.linspace(-1, 1, _CANDIDATES)) / self.trials
        everywhere = (np.arange(_CANDIDATES) + 0.5) / _CANDIDATES
        candidates = np.concatenate([near[(near > 0) & (near < 1)], everywhere])
        return best_of(self.distribution, candidates[:, None], quantiles)

    def solve(self, means: Floats) -> Floats:
        """The share of successes, where it lies between 0 and 1."""
        return np.clip(means / self.trials, LEAST, 1 - LEAST)


def whole_numbers(raw_numbers: Floats) -> Truths:
    """Which of these are whole numbers from 0 on."""
    return np.asarray((raw_numbers >= 0) & (raw_numbers <= LARGEST_COUNT) & (np.floor(raw_numbers) == raw_numbers))


def at_counts(points: Floats, share: Callable[[Floats], Floats]) -> Floats:
    """A distribution of counts at any points: that of the next count below."""
    counts = np.floor(np.clip(points, 0.0, LARGEST_COUNT))
    shares = np.where(points < 0, 0.0, np.where(points >= LARGEST_COUNT, 1.0, share(counts)))
    return np.asarray(shares, dtype=np.float64)


def count_quartiles(quantiles: Mapping[float, float]) -> tuple[float, float, float]:
    """The quartiles in ascending order, as counts that can be."""
    return sorted_quartiles(quantiles, 0.0, LARGEST_COUNT / 2)


def best_of(distribution: Callable[[Floats, Floats], Floats], candidates: Floats, quantiles: Mapping[float, float]) -> Floats:
    """The candidates (one a row) whose quartiles are nearest to these; their mean if there are several.

    A count is a quantile when the share lies between the distribution just below it and at it; how far it lies from there is how
    far off a candidate is.
    """
    off = np.zeros(len(candidates))
    for share, count in zip(QUARTILES, np.rint(count_quartiles(quantiles)), strict=True):
        at, below = (distribution(np.full(len(candidates), point), candidates.T) for point in (count, count - 1))
        off += np.maximum(share - at, 0) + np.maximum(below - share, 0)
    return np.asarray(np.exp(np.log(candidates[off <= off.min() + 1e-9]).mean(axis=0)))
