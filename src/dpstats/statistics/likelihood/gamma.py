"""Gamma laws, with the exponential ones, whose shape is 1.

Why        All that a block says on the shape is its gap s = log(mean x) - mean(log x), which does not depend on the scale, and is
           independent of mean x. Its cumulants are known exactly: it is digamma(nk) - log n - digamma(k) on average for shape k,
           and its variance is minus the derivative of that over n. So the equation s = its average has no bias, and what its
           root has is known to first order. That is taken off, of the shape and of one over the shape; times mean x the latter
           is the scale. For large shapes, where s is a chi-square, both are exact
Source     the likelihood of the gap: Yanagimoto 1988; start: Minka 2002
"""

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
from dpstats.statistics.likelihood.quartiles import LARGEST, SMALLEST, sorted_quartiles, where_falls_to

_ROUNDS = 8
_LEAST_ROWS = 4
"""With three rows, the shape that is expected is infinite."""
_LEAST_GAP = 1e-12
_SHAPES = (0.01, 1e6)
"""Guesses of shapes stay between these."""


@dataclass(frozen=True)
class Gamma(ExponentialLaw):
    """Positive numbers; shape 1 is exponential, large shapes are close to normal; the mean is shape times scale."""

    name = "gamma"
    parameters = ("shape", "scale")
    space = ((0.0, math.inf), (0.0, math.inf))
    bias_correction = "the likelihood of the shape alone, given the mean; then analytic to first order"

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Shape and scale of each block; none where rows do not differ, or are fewer than 4."""
        raw_counts = raw_blocks.raw_counts
        raw_has_one = (raw_counts >= _LEAST_ROWS) & vary(raw_blocks, raw_values)
        raw_means = raw_blocks.means(raw_values)
        raw_gaps = np.where(raw_has_one, log_of(raw_means) - raw_blocks.means(log_of(raw_values)), np.nan)
        raw_shapes = shape_at_gap(raw_gaps, raw_counts)
        raw_slopes = _slope(raw_shapes, raw_counts)
        raw_bends = raw_counts**2 * special.polygamma(2, raw_counts * raw_shapes) - special.polygamma(2, raw_shapes)
        raw_biases = raw_bends / (2.0 * raw_counts * raw_slopes**2)
        raw_inverses = 1.0 / raw_shapes + (raw_biases + 1.0 / (raw_counts * raw_slopes * raw_shapes)) / raw_shapes**2
        return raw_has_one, raw_shapes - raw_biases, raw_means * raw_inverses

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        shape, scale = theta.tolist()
        raw_by_shape = log_of(raw_values) - (math.log(scale) + float(special.digamma(shape)))
        return raw_by_shape, (raw_values / scale - shape) / scale

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        shape, scale = theta.tolist()
        return np.array([[float(special.polygamma(1, shape)), 1.0 / scale], [1.0 / scale, shape / scale**2]])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.gamma(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return np.asarray(special.gammainc(theta[0], np.maximum(points, 0.0) / theta[1]))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The shape from how many times the lower quartile the upper one is, and the scale from the median."""
        lower, middle, upper = sorted_quartiles(quantiles, SMALLEST, LARGEST)

        def ratio(shape: float) -> float:
            return float(special.gammaincinv(shape, 0.75) / special.gammaincinv(shape, 0.25))

        shape = where_falls_to(upper / lower, ratio, *_SHAPES)
        return np.array([shape, middle / float(special.gammaincinv(shape, 0.5))])

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        """x and log(x)."""
        return raw_values, log_of(raw_values)

    def solve(self, means: Floats) -> Floats:
        """Shape and scale at these means of x and log(x); a mean of x below its geometric mean is lifted to that."""
        mean, log_mean = means.tolist()
        log_mean = min(max(log_mean, math.log(SMALLEST)), math.log(LARGEST))
        mean = min(max(mean, math.exp(log_mean)), LARGEST)
        gap = max(math.log(mean) - log_mean, _LEAST_GAP)
        shape = float(shape_at_gap(np.array([gap]), None)[0])
        return np.array([shape, mean / shape])


@dataclass(frozen=True)
class Exponential(ExponentialLaw):
    """Numbers from 0 up, the likelier the smaller; scale is their mean."""

    name = "exponential"
    parameters = ("scale",)
    space = ((0.0, math.inf),)
    bias_correction = "none needed: the mean of a block has no bias"

    def _inside(self, raw_values: Floats) -> Truths:
        return (raw_values >= 0) & (raw_values < math.inf)

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """The mean of each block; one row has one, and rows that are all 0 have no estimate."""
        return raw_blocks.raw_counts > 0, raw_blocks.means(raw_values)

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        return ((raw_values / theta[0] - 1.0) / theta[0],)

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        return np.array([[theta[0] ** -2.0]])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.exponential(theta[0], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return np.asarray(-np.expm1(-np.maximum(points, 0.0) / theta[0]))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """From the median."""
        _, middle, _ = sorted_quartiles(quantiles, SMALLEST, LARGEST)
        return np.array([middle / math.log(2)])

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        return (raw_values,)

    def solve(self, means: Floats) -> Floats:
        """The mean, which is positive."""
        return np.array([max(float(means[0]), SMALLEST)])


def shape_at_gap(raw_gaps: Floats, raw_counts: Floats | None) -> Floats:
    """The shape for which blocks of `raw_counts` rows (None: infinitely many) have this gap on average, by Newton's steps for
    1/shape; NaN where the gap is not positive, because polygamma functions of large negative numbers take hours."""
    raw_gaps = np.where(raw_gaps > 0, raw_gaps, np.nan)
    raw_full = raw_gaps if raw_counts is None else raw_gaps * raw_counts / (raw_counts - 1.0)
    raw_shapes = (3.0 - raw_full + np.sqrt((raw_full - 3.0) ** 2 + 24.0 * raw_full)) / (12.0 * raw_full)
    for _ in range(_ROUNDS):
        if raw_counts is None:
            raw_averages = log_of(raw_shapes) - special.digamma(raw_shapes)
        else:
            raw_averages = special.digamma(raw_counts * raw_shapes) - log_of(raw_counts) - special.digamma(raw_shapes)
        raw_steps = (raw_averages - raw_gaps) / (_slope(raw_shapes, raw_counts) * raw_shapes)
        raw_shapes = raw_shapes / np.clip(1.0 + raw_steps, 0.25, 4.0)
    return raw_shapes


def _slope(raw_shapes: Floats, raw_counts: Floats | None) -> Floats:
    """The derivative of the average gap by the shape."""
    raw_by_mean = 1.0 / raw_shapes if raw_counts is None else raw_counts * special.polygamma(1, raw_counts * raw_shapes)
    return np.asarray(raw_by_mean - special.polygamma(1, raw_shapes))
