"""Weibull laws.

Why        Logarithms of rows have a law with a place, log(scale), and a width, 1/shape. So the estimated shape over the true one,
           and the estimated place in true widths, have laws of their own, which depend on the number of rows alone, and their
           moments are numbers that can be found once: by simulation, here of 30 to 60 million rows for each of 12 numbers of
           rows from 4 to 100, with scores as control variates. `_average_shape` is what an estimated shape is on average where
           the true one is 1. The scale is exp(place), and `_SHIFTS` are, by powers of the estimated width, what must be added to
           the place so that the scale has no bias
Numerics   Powers of rows are taken over the largest row of their block, by an exponential function that is the same in every
           place of an array and does not go below exp(-30)
Source     laws that depend on the number of rows alone: Thoman, Bain & Antle 1969
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_groups import lowest, vary
from dpstats.statistics.likelihood.family import SmoothLaw
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.quartiles import LARGEST, SMALLEST, sorted_quartiles
from dpstats.statistics.regression.families import exp_of

_ROUNDS = 7
_LEAST_ROWS = 4
_WIDTH = math.pi / math.sqrt(6)
"""The standard deviation of log(x) where the shape is 1."""
_EULER = 0.5772156649015329
_QUARTILES_APART = math.log(math.log(4)) - math.log(math.log(4 / 3))
"""How far apart the logarithms of the quartiles are where the shape is 1."""
_SHAPES = (0.01, 1e6)
"""Guesses of shapes stay between these."""
_SHIFTS = (
    (0.0, 0.37026, 0.48321, 0.24191, 0.90665),
    (0.0, -0.55433, -0.60227, -0.27008, -1.42998),
    (0.0, 0.0, -0.08921, 0.17123, 1.17993),
    (0.0, 0.0, 0.0, -0.30646, -0.88098),
)
"""For the powers 1 to 4 of the width, the coefficients of the powers 0 to 4 of 1/n."""


@dataclass(frozen=True)
class Weibull(SmoothLaw):
    """Positive numbers; shape 1 is exponential; a share of 1/e of them lies above the scale."""

    name = "weibull"
    parameters = ("shape", "scale")
    space = ((0.0, math.inf), (0.0, math.inf))
    bias_correction = "by the expectations of what depends on the number of rows alone, which were simulated once"

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Shape and scale of each block; none where rows do not differ, or are fewer than 4."""
        raw_logs, raw_counts = log_of(raw_values), raw_blocks.raw_counts
        raw_has_one = (raw_counts >= _LEAST_ROWS) & vary(raw_blocks, raw_logs)
        raw_shapes, raw_places = likeliest(raw_blocks, raw_logs)
        raw_scales = np.exp(raw_places + _shift(1.0 / raw_shapes, raw_counts))
        return raw_has_one, raw_shapes / _average_shape(raw_counts), raw_scales

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        """Those of rows far above the scale are held at exp(30)."""
        shape, scale = theta.tolist()
        raw_logs = log_of(raw_values) - math.log(scale)
        raw_powers = exp_of(shape * raw_logs) - 1.0
        return 1.0 / shape - raw_logs * raw_powers, raw_powers * (shape / scale)

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        shape, scale = theta.tolist()
        both = -(1.0 - _EULER) / scale
        return np.array([[(_WIDTH**2 + (1.0 - _EULER) ** 2) / shape**2, both], [both, (shape / scale) ** 2]])

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return np.asarray(theta[1] * generator.weibull(theta[0], (count, 1)))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        with np.errstate(over="ignore"):
            return np.asarray(-np.expm1(-((np.maximum(points, 0.0) / theta[1]) ** theta[0])))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """The shape from how far apart the logarithms of the quartiles are, and the scale from the median."""
        lower, middle, upper = sorted_quartiles(quantiles, SMALLEST, LARGEST)
        apart = math.log(upper) - math.log(lower)
        shape = min(max(_QUARTILES_APART / max(apart, SMALLEST), _SHAPES[0]), _SHAPES[1])
        return np.array([shape, middle / math.log(2) ** (1.0 / shape)])


def likeliest(raw_blocks: RowBlocks, raw_logs: Floats) -> tuple[Floats, Floats]:
    """The shape and the logarithm of the scale of most likelihood in each block, before corrections, by Newton's steps."""
    raw_tops = -lowest(raw_blocks, -raw_logs)
    raw_below = raw_logs - raw_blocks.of_rows(raw_tops)
    raw_centres = raw_blocks.means(raw_below)
    raw_squares = raw_blocks.means((raw_below - raw_blocks.of_rows(raw_centres)) ** 2)
    raw_shapes = _WIDTH / np.sqrt(raw_squares)
    for _ in range(_ROUNDS):
        raw_powers = exp_of(raw_blocks.of_rows(raw_shapes) * raw_below)
        raw_totals = raw_blocks.sums(raw_powers)
        raw_weighted = raw_blocks.sums(raw_powers * raw_below) / raw_totals
        raw_curved = raw_blocks.sums(raw_powers * raw_below**2) / raw_totals - raw_weighted**2
        raw_apart = raw_weighted - raw_centres
        raw_steps = (raw_shapes * raw_apart - 1.0) / (raw_shapes * (raw_apart + raw_shapes * raw_curved))
        raw_shapes = raw_shapes * np.clip(1.0 - raw_steps, 0.25, 4.0)
    raw_powers = exp_of(raw_blocks.of_rows(raw_shapes) * raw_below)
    return raw_shapes, raw_tops + log_of(raw_blocks.means(raw_powers)) / raw_shapes


def _average_shape(raw_counts: Floats) -> Floats:
    """What the likeliest shape is on average where the true one is 1."""
    return 1.0 + 1.37953 / (raw_counts - 1.84 - 0.197 / raw_counts)


def _shift(raw_widths: Floats, raw_counts: Floats) -> Floats:
    """What is added to the place: a polynomial in the width and in one over the number of rows."""
    raw_shift = np.zeros_like(raw_widths)
    for coefficients in reversed(_SHIFTS):
        raw_factor = np.zeros_like(raw_widths)
        for coefficient in reversed(coefficients):
            raw_factor = raw_factor / raw_counts + coefficient
        raw_shift = (raw_shift + raw_factor) * raw_widths
    return raw_shift
