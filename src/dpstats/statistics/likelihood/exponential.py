"""Exponential laws."""

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
)
from dpstats.statistics.likelihood.quartiles import LARGEST, SMALLEST, sorted_quartiles


@dataclass(frozen=True)
class Exponential:
    """Numbers from 0 up, the likelier the smaller; scale is their mean."""

    name: str = "exponential"
    parameters: tuple[str, ...] = ("scale",)
    space: tuple[tuple[float, float], ...] = ((0.0, math.inf),)
    bias_correction: str = "none needed: the mean of a block has no bias"

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """The mean of each block; one row has one, and rows that are all 0 have no estimate."""
        raw_kept = keep_rows(raw_blocks, _inside(column_of(raw_blocks.raw_rows)))
        raw_means = raw_kept.means(column_of(raw_kept.raw_rows))
        return estimates(self.space, raw_kept.raw_counts > 0, raw_means)

    def shaped(self, values: Floats) -> Mapping[str, float]:
        """The scale by its name."""
        return by_name(self.parameters, values)

    def scores(self, raw_rows: Floats, theta: Floats) -> Floats:
        """The derivative of each row's log density."""
        raw_values = column_of(raw_rows)
        with np.errstate(all="ignore"):
            return counted_scores(_inside(raw_values), (raw_values / theta[0] - 1.0) / theta[0])

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

    def statistics(self, raw_rows: Floats) -> Floats:
        """x itself."""
        raw_values = column_of(raw_rows)
        return row_statistics(_inside(raw_values), raw_values)

    def solve(self, means: Floats) -> Floats:
        """The mean, which is positive."""
        return np.array([max(float(means[0]), SMALLEST)])


def _inside(raw_values: Floats) -> Truths:
    """Which rows such a law can have."""
    return (raw_values >= 0) & (raw_values < math.inf)
