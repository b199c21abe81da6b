"""Covariance and Pearson's correlation from noisy product cells, and how certain they are.

The sampling error comes from the noisy mean of the rows' squared products, the noise from its known law, by the first order of
the covariance or correlation in the cells. For a correlation the fourth moments of single columns are needed too; they are
taken to go with the mean of squared products as in elliptical laws, where one number says how heavy all tails are (Muirhead
1982). This is arithmetic on released numbers: no claim depends on it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.clipped.margins import FEWEST_ROWS, critical_value, laplace_kurtosis
from dpstats.statistics.paired.associations import Association
from dpstats.statistics.paired.products import Floats, ProductCells, centred_weights

CAUTION = 0.7
"""Standard deviations of its own noise by which the mean of squared products is taken to be larger."""
LEAST_PRODUCTS = 0.2
"""The variance of products is taken to be no less than so much of what it is for independent columns."""
LIGHTEST, HEAVIEST = 1.0, 50.0
"""Bounds on how much more than for normal rows the variance of a correlation may be."""

MOST_SHIFT = 2.0
"""What the cuts may take lengthens an interval by at most this many times what sampling error and noise make of it."""


@dataclass(frozen=True)
class SecondMoments:
    """The second moments of u and v about their means, and what makes their covariance differ from the truth."""

    rows: float
    covariance: float
    x_variance: float
    y_variance: float
    squares: float
    """The mean of the squared products of both deviations, on the cautious side."""
    noise: float
    """The variance that the noise gives to the covariance."""
    noise_kurtosis: float
    correlation: float
    correlation_noise: float
    correlation_kurtosis: float

    def covariance_reach(self, level: float, lost: tuple[float, float]) -> tuple[float, float]:
        """How far an interval reaches below and above the covariance, for sampling error, noise, and what the cuts may take.

        Beyond the cuts the columns are taken to go together as within, so that the cuts bring the covariance towards 0.
        """
        least = LEAST_PRODUCTS * self.x_variance * self.y_variance
        variance = max(self.squares - self.covariance**2, least) / self.rows + self.noise
        kurtosis = self.noise_kurtosis * (self.noise / variance) ** 2
        reach = critical_value(level, kurtosis, self.rows) * math.sqrt(variance)
        most = MOST_SHIFT * reach
        x_lost, y_lost = self._parts(lost)
        together = math.sqrt(self.x_variance * self.y_variance) * (x_lost + y_lost) / 2
        shift = max(-most, min(most, self.correlation * together))
        return reach + max(-shift, 0.0), reach + max(shift, 0.0)

    def association(self, lost: tuple[float, float]) -> Association:
        """Pearson's correlation, where the cuts may take so much from the variances of both columns."""
        normal = self.x_variance * self.y_variance * (1 + 2 * self.correlation**2)
        heaviness = min(max(self.squares / normal, LIGHTEST), HEAVIEST)

        cut = 1 - 1 / math.sqrt(math.prod(1 + part for part in self._parts(lost)))

        def sampling(truth: float) -> float:
            return heaviness * (1 - truth**2) ** 2 / self.rows

        return Association(self.correlation, self.rows, sampling, self.correlation_noise, self.correlation_kurtosis, cut)

    def _parts(self, lost: tuple[float, float]) -> tuple[float, float]:
        """What is lost, over what is left of either variance."""
        return lost[0] / self.x_variance, lost[1] / self.y_variance


def moments_of(cells: ProductCells) -> SecondMoments:
    """The moments that noisy cells of degree 2 tell."""
    rows = max(cells.total(np.ones_like(cells.noisy)), FEWEST_ROWS)
    ones = np.ones(cells.degree + 1)
    firsts = [centred_weights(cells.degree, 1, 0.0) for _ in range(2)]
    means = [cells.total(np.outer(firsts[0], ones)) / rows, cells.total(np.outer(ones, firsts[1])) / rows]
    x, y = ([centred_weights(cells.degree, power, _within(mean)) for power in range(3)] for mean in means)
    covariance = cells.total(np.outer(x[1], y[1])) / rows
    x_variance, y_variance = (_variance(cells, weights, rows) for weights in (np.outer(x[2], ones), np.outer(ones, y[2])))
    squares = cells.total(np.outer(x[2], y[2])) / rows
    doubt = _noise(cells, np.outer(x[2], y[2]) - squares, rows)
    slopes = np.outer(x[1], y[1]) - covariance
    norm = math.sqrt(x_variance * y_variance)
    correlation = _within(covariance / norm)
    pull = correlation / 2 * (np.outer(x[2], ones) / x_variance + np.outer(ones, y[2]) / y_variance)
    turns = np.outer(x[1], y[1]) / norm - pull
    return SecondMoments(
        rows,
        covariance,
        x_variance,
        y_variance,
        max(squares, 0.0) + CAUTION * math.sqrt(doubt),
        _noise(cells, slopes, rows),
        laplace_kurtosis(slopes.ravel()),
        correlation,
        _noise(cells, turns, rows),
        laplace_kurtosis(turns.ravel()),
    )


def _variance(cells: ProductCells, weights: Floats, rows: float) -> float:
    """A variance, not less than one standard deviation of its own noise."""
    variance = cells.total(weights) / rows
    return max(variance, math.sqrt(_noise(cells, weights - variance, rows)))


def _noise(cells: ProductCells, weights: Floats, rows: float) -> float:
    """The variance that the noise gives to a mean over the rows with these weights."""
    return cells.noise_variance(weights) / rows**2


def _within(number: float) -> float:
    return max(-1.0, min(1.0, number))
