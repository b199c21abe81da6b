"""Normal laws, of numbers or of their logarithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.line_rows import (
    Truths,
    by_name,
    column_of,
    counted_scores,
    estimates,
    keep_rows,
    row_statistics,
    vary,
)
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.quartiles import LARGEST, SMALLEST, sorted_quartiles

_SPACE = ((-math.inf, math.inf), (0.0, math.inf))
_CORRECTION = "none for the mean; the deviation with n-1 in place of n, over its exact expectation at 1"
_QUARTILES_APART = 1.3489795003921634
"""How many standard deviations lie between the quartiles."""
_MANY_ROWS = 10_000
"""From this many rows on a series is closer than the difference of two large logarithms."""
_LEAST_SHARE = 1e-14
"""The least variance, as a share of the mean square, that means of x and x^2 can show."""


@dataclass(frozen=True)
class Normal:
    """Numbers around a mean, with a standard deviation."""

    name: str = "normal"
    parameters: tuple[str, ...] = ("mean", "std")
    space: tuple[tuple[float, float], ...] = _SPACE
    bias_correction: str = _CORRECTION

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Mean and deviation of each block, both without bias; NaN where rows do not differ."""
        raw_kept = keep_rows(raw_blocks, np.isfinite(column_of(raw_blocks.raw_rows)))
        return _fit(raw_kept, column_of(raw_kept.raw_rows))

    def shaped(self, values: Floats) -> Mapping[str, float]:
        """Mean and std by their names."""
        return by_name(self.parameters, values)

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density."""
        raw_values = column_of(raw_rows)
        return _scores(np.isfinite(raw_values), raw_values, theta)

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        return _information(theta)

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.normal(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return _distribution(points, theta)

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The median, and the distance of the quartiles in units of a normal law's."""
        return _guess(*sorted_quartiles(quantiles, -LARGEST, LARGEST))

    def statistics(self, raw_rows: Floats) -> Floats:
        """x and x^2."""
        raw_values = column_of(raw_rows)
        return _statistics(np.isfinite(raw_values), raw_values)

    def solve(self, means: Floats) -> Floats:
        """Mean and deviation at these means of x and x^2."""
        return _solve(means)


@dataclass(frozen=True)
class Lognormal:
    """Positive numbers whose logarithms are normal, with mean mu and standard deviation sigma."""

    name: str = "lognormal"
    parameters: tuple[str, ...] = ("mu", "sigma")
    space: tuple[tuple[float, float], ...] = _SPACE
    bias_correction: str = _CORRECTION

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Mean and deviation of the logarithms of each block, both without bias; NaN where rows do not differ."""
        raw_logs = log_of(column_of(raw_blocks.raw_rows))
        raw_inside = np.isfinite(raw_logs)
        return _fit(keep_rows(raw_blocks, raw_inside), raw_logs[raw_inside])

    def shaped(self, values: Floats) -> Mapping[str, float]:
        """Mu and sigma by their names."""
        return by_name(self.parameters, values)

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The gradient of each row's log density."""
        raw_logs = log_of(column_of(raw_rows))
        return _scores(np.isfinite(raw_logs), raw_logs, theta)

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        return _information(theta)

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.lognormal(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return _distribution(log_of(np.maximum(points, 0.0)), theta)

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The normal guess at the logarithms of the quartiles."""
        lower, middle, upper = sorted_quartiles(quantiles, SMALLEST, LARGEST)
        return _guess(math.log(lower), math.log(middle), math.log(upper))

    def statistics(self, raw_rows: Floats) -> Floats:
        """log(x) and its square."""
        raw_logs = log_of(column_of(raw_rows))
        return _statistics(np.isfinite(raw_logs), raw_logs)

    def solve(self, means: Floats) -> Floats:
        """Mu and sigma at these means of log(x) and its square."""
        return _solve(means)


def _fit(raw_blocks: RowBlocks, raw_values: Floats) -> Floats:
    """Means and deviations of blocks; the deviation of n rows is expected at c4(n) times the true one, which is divided out."""
    with np.errstate(all="ignore"):
        raw_means = raw_blocks.means(raw_values)
        raw_squares = raw_blocks.sums((raw_values - raw_blocks.of_rows(raw_means)) ** 2)
        raw_stds = np.sqrt(raw_squares / (raw_blocks.raw_counts - 1.0)) / _expected_deviation(raw_blocks.raw_counts)
    return estimates(_SPACE, vary(raw_blocks, raw_values), raw_means, raw_stds)


def _expected_deviation(raw_counts: Floats) -> Floats:
    """What the deviation (by n-1) of n rows is on average where the true one is 1."""
    from scipy.special import gammaln

    raw_expected: Floats = np.sqrt(2.0 / (raw_counts - 1.0)) * np.exp(
        gammaln(raw_counts / 2.0) - gammaln((raw_counts - 1.0) / 2.0)
    )
    return raw_expected


def _scores(raw_inside: Truths, raw_values: Floats, theta: Floats) -> Floats:
    """The gradient of the normal log density."""
    mean, std = theta.tolist()
    with np.errstate(all="ignore"):
        raw_standard = (raw_values - mean) / std
        return counted_scores(raw_inside, raw_standard / std, (raw_standard * raw_standard - 1.0) / std)


def _information(theta: Floats) -> Floats:
    """Fisher's information of mean and deviation."""
    return np.diag([1.0, 2.0]) / float(theta[1]) ** 2


def _distribution(points: Floats, theta: Floats) -> Floats:
    """The normal distribution function."""
    from scipy.special import ndtr

    shares: Floats = ndtr((points - theta[0]) / theta[1])
    return shares


def _guess(lower: float, middle: float, upper: float) -> Floats:
    """Median and standardised distance of the quartiles; where they are one point, a small part of where it lies."""
    return np.array([middle, max((upper - lower) / _QUARTILES_APART or abs(middle) / 1000 or 1.0, SMALLEST)])


def _statistics(raw_inside: Truths, raw_values: Floats) -> Floats:
    """A number and its square."""
    with np.errstate(all="ignore"):
        return row_statistics(raw_inside, raw_values, raw_values * raw_values)


def _solve(means: Floats) -> Floats:
    """Mean and deviation; where the mean square does not exceed the squared mean, the least deviation that could be seen."""
    mean = min(max(float(means[0]), -LARGEST), LARGEST)
    square = min(float(means[1]), LARGEST**2)
    least = _LEAST_SHARE * mean**2 or SMALLEST
    return np.array([mean, math.sqrt(max(square - mean**2, least))])
