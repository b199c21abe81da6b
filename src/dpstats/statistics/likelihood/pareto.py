"""Pareto laws, whose minimum is estimated too.

Why        With n rows, their smallest is independent of the sum of the logs of rows over it, which follows a gamma law of shape
           n-1: so both corrections are exact
Scores     There are none: the density of a row jumps at the minimum, which the smallest row meets faster than any score would.
           So this is a `Family` and no `SmoothFamily`
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.line_rows import by_name, column_of, estimates, keep_rows, lowest
from dpstats.statistics.likelihood.logarithms import log_of

_LEAST_ROWS = 3


@dataclass(frozen=True)
class Pareto:
    """Numbers above a positive minimum, the scale; the share of those above x falls with the power `shape` of x."""

    name: str = "pareto"
    parameters: tuple[str, ...] = ("shape", "scale")
    space: tuple[tuple[float, float], ...] = ((0.0, math.inf), (0.0, math.inf))
    bias_correction: str = "exact, for the shape and for the smallest row of a block"

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Shape and minimum of each block, both without bias; NaN where rows do not differ, or are fewer than 3."""
        raw_values = column_of(raw_blocks.raw_rows)
        raw_kept = keep_rows(raw_blocks, (raw_values > 0) & (raw_values < math.inf))
        raw_values = column_of(raw_kept.raw_rows)
        raw_counts = raw_kept.raw_counts
        raw_lows = lowest(raw_kept, raw_values)
        with np.errstate(all="ignore"):
            raw_sums = raw_kept.sums(log_of(raw_values) - raw_kept.of_rows(log_of(raw_lows)))
            raw_scales = raw_lows * (1.0 - raw_sums / (raw_counts * (raw_counts - 1.0)))
            return estimates(self.space, raw_counts >= _LEAST_ROWS, (raw_counts - 2.0) / raw_sums, raw_scales)

    def shaped(self, values: Floats) -> Mapping[str, float]:
        """Shape and scale by their names."""
        return by_name(self.parameters, values)

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        rows: Floats = theta[1] * (1.0 + generator.pareto(theta[0], (count, 1)))
        return rows

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        shares: Floats = -np.expm1(theta[0] * (math.log(theta[1]) - log_of(np.maximum(points, theta[1]))))
        return shares
