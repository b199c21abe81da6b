"""Exponential laws."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_groups import Truths
from dpstats.statistics.likelihood.family import ExponentialLaw
from dpstats.statistics.likelihood.quartiles import LARGEST, SMALLEST, sorted_quartiles


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
        shares: Floats = -np.expm1(-np.maximum(points, 0.0) / theta[0])
        return shares

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """From the median."""
        _, middle, _ = sorted_quartiles(quantiles, SMALLEST, LARGEST)
        return np.array([middle / math.log(2)])

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        return (raw_values,)

    def solve(self, means: Floats) -> Floats:
        """The mean, which is positive."""
        return np.array([max(float(means[0]), SMALLEST)])
