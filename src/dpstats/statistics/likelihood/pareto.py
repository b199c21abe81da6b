"""Pareto laws, whose minimum is estimated too.

Why        With n rows, their smallest is independent of the sum of the logs of rows over it, which follows a gamma law of shape
           n-1: so both corrections are exact
Scores     There are none: the density of a row jumps at the minimum, which the smallest row meets faster than any score would.
           So this is a `Family` and no `SmoothFamily`
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_groups import lowest
from dpstats.statistics.likelihood.family import LineLaw
from dpstats.statistics.likelihood.logarithms import log_of

_LEAST_ROWS = 3


@dataclass(frozen=True)
class Pareto(LineLaw):
    """Numbers above a positive minimum, the scale; the share of those above x falls with the power `shape` of x."""

    name = "pareto"
    parameters = ("shape", "scale")
    space = ((0.0, math.inf), (0.0, math.inf))
    bias_correction = "exact, for the shape and for the smallest row of a block"

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Shape and minimum of each block, both without bias; none where rows do not differ, or are fewer than 3."""
        raw_counts, raw_lows = raw_blocks.raw_counts, lowest(raw_blocks, raw_values)
        raw_sums = raw_blocks.sums(log_of(raw_values) - raw_blocks.of_rows(log_of(raw_lows)))
        raw_scales = raw_lows * (1.0 - raw_sums / (raw_counts * (raw_counts - 1.0)))
        return raw_counts >= _LEAST_ROWS, (raw_counts - 2.0) / raw_sums, raw_scales

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return np.asarray(theta[1] * (1.0 + generator.pareto(theta[0], (count, 1))))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return np.asarray(-np.expm1(theta[0] * (math.log(theta[1]) - log_of(np.maximum(points, theta[1])))))
