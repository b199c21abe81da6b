"""Normal laws, of numbers or of their logarithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_groups import Truths, vary
from dpstats.statistics.likelihood.family import ExponentialLaw
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.quartiles import LARGEST, QUARTILES, SMALLEST, sorted_quartiles

_QUARTILES_APART = 1.3489795003921634
"""How many standard deviations lie between the quartiles."""
_LEAST_SHARE = 1e-14
"""The least variance, as a share of the mean square, that means of x and x^2 can show."""


@dataclass(frozen=True)
class Normal(ExponentialLaw):
    """Numbers around a mean, with a standard deviation."""

    name = "normal"
    parameters = ("mean", "std")
    space = ((-math.inf, math.inf), (0.0, math.inf))
    bias_correction = "none for the mean; the deviation with n-1 in place of n, over its exact expectation at 1"

    def _inside(self, raw_values: Floats) -> Truths:
        return np.isfinite(raw_values)

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Mean and deviation of each block, both without bias; none where rows do not differ.

        The deviation of n rows is expected at c4(n) times the true one, which is divided out.
        """
        raw_means = raw_blocks.means(raw_values)
        raw_squares = raw_blocks.sums((raw_values - raw_blocks.of_rows(raw_means)) ** 2)
        raw_stds = np.sqrt(raw_squares / (raw_blocks.raw_counts - 1.0)) / _expected_deviation(raw_blocks.raw_counts)
        return vary(raw_blocks, raw_values), raw_means, raw_stds

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        mean, std = theta.tolist()
        raw_standard = (raw_values - mean) / std
        return raw_standard / std, (raw_standard * raw_standard - 1.0) / std

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        return np.diag([1.0, 2.0]) / float(theta[1]) ** 2

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.normal(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return np.asarray(special.ndtr((points - theta[0]) / theta[1]))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The median, and the distance of the quartiles in units of a normal law's; a part of the median where it is 0."""
        lower, middle, upper = sorted_quartiles(quantiles, -LARGEST, LARGEST)
        return np.array([middle, max((upper - lower) / _QUARTILES_APART or abs(middle) / 1000 or 1.0, SMALLEST)])

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        """x and x^2."""
        return raw_values, raw_values * raw_values

    def solve(self, means: Floats) -> Floats:
        """Mean and deviation; where the mean square does not exceed the squared mean, the least deviation that could be seen."""
        mean = min(max(float(means[0]), -LARGEST), LARGEST)
        square = min(float(means[1]), LARGEST**2)
        least = _LEAST_SHARE * mean**2 or SMALLEST
        return np.array([mean, math.sqrt(max(square - mean**2, least))])


@dataclass(frozen=True)
class Lognormal(Normal):
    """Positive numbers whose logarithms are normal, with mean mu and standard deviation sigma."""

    name = "lognormal"
    parameters = ("mu", "sigma")

    def _inside(self, raw_values: Floats) -> Truths:
        return (raw_values > 0) & (raw_values < math.inf)

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        return super()._estimates(raw_blocks, log_of(raw_values))

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        return super()._gradients(log_of(raw_values), theta)

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.lognormal(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return super().distribution(log_of(np.maximum(points, 0.0)), theta)

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The normal guess at the logarithms of the quartiles."""
        quartiles = sorted_quartiles(quantiles, SMALLEST, LARGEST)
        return super().guess(dict(zip(QUARTILES, map(math.log, quartiles), strict=True)))

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        """log(x) and its square."""
        return super()._numbers(log_of(raw_values))


def _expected_deviation(raw_counts: Floats) -> Floats:
    """What the deviation (by n-1) of n rows is on average where the true one is 1."""
    raw_ratios = np.exp(special.gammaln(raw_counts / 2.0) - special.gammaln((raw_counts - 1.0) / 2.0))
    return np.asarray(np.sqrt(2.0 / (raw_counts - 1.0)) * raw_ratios)
