"""Broken twins of maximum likelihood: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.aggregation.ranges import STEPS, Range
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.block_estimates import votes_of
from dpstats.statistics.likelihood.bounded_scores import BoundedScores, lengths_of
from dpstats.statistics.likelihood.family import Family
from dpstats.statistics.likelihood.reach_steps import ReachWalk
from dpstats.statistics.likelihood.score_steps import ScoreWalk
from dpstats.statistics.likelihood.score_sums import ScoreSlopes
from dpstats.statistics.regression.octaves import magnitude_of
from tests.twins.aggregates import unprojected_steps

_LARGEST = 1e9  # whole numbers of which many still fit into 64 bits


@dataclass(frozen=True)
class UnboundedScores(BoundedScores):
    """Scores. Mistake: those longer than the bound are not shortened, nor dropped."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; then the number of rows with a score."""
        raw_turned = np.clip(self.turned(raw_rows), -_LARGEST, _LARGEST)
        raw_sums = np.rint(raw_turned * (self.unit / self.bound)).sum(axis=0)
        return np.array([*raw_sums, np.count_nonzero(lengths_of(raw_turned))], dtype=np.int64)


@dataclass(frozen=True)
class MeanScores(BoundedScores):
    """Scores. Mistake: the sum is divided by the number of rows that were shown, so that a row's part depends on the others."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """The mean score in whole units; then the number of rows with a score."""
        raw_sums = super().__call__(raw_rows)
        raw_sums[:-1] = np.rint(raw_sums[:-1] / max(len(raw_rows), 1))
        return raw_sums


class RawStartWalk(ScoreWalk):
    """Score steps. Mistake: they start from the quantiles as they are, and the parameters of all steps follow from these."""

    def _quantiles(self, place: int, shares: Sequence[Fraction], levels: int, share: Fraction) -> dict[float, float]:
        """Pay for private quantiles, and read off the raw ones."""
        self.budget.draw_epsilon(share)
        raw_quantiles = np.quantile(self.table.matrix()[:, place], [float(each) for each in shares])
        return dict(zip(map(float, shares), raw_quantiles.tolist(), strict=True))


class RawReachWalk(ReachWalk):
    """Reach steps. Mistake: scores are cut off at a length that the raw counts tell, which rows can move."""

    def _length(self, raw_counts: Sequence[int], epsilon: Fraction, share: float, likely: float) -> float:
        """Draw a private length, and read off the raw one."""
        super()._length(raw_counts, epsilon, share, likely)
        raw_below = np.cumsum(raw_counts)
        return magnitude_of(int(np.searchsorted(raw_below, raw_below[-1] * (1 - share))))


@dataclass(frozen=True)
class UncutSlopes(ScoreSlopes):
    """Slopes of scores. Mistake: those longer than the bound are not shortened."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_triangles = np.clip(self.triangles(raw_rows), -_LARGEST, _LARGEST)
        return np.rint(raw_triangles * (self.unit / self.bound)).sum(axis=0).astype(np.int64)


def unprojected_t_star(family: Family, table: Table, within: Range, blocks: int, epsilon: Fraction, rng: RandomSource) -> float:
    """T* for a family of one parameter, as it is printed. Mistake: an estimate beyond the space stays there, while the noise is
    for estimates within it."""
    raw_steps = sum(unprojected_steps(np.nan_to_num(votes_of(family, table, blocks, rng)[:, 0]), within))
    noisy_steps = raw_steps + int(sample_discrete_laplace(STEPS / epsilon, 1, rng)[0])
    return within.low + float(Fraction(noisy_steps, blocks * STEPS)) * within.width


def range_by_raw_votes(raw_column: Floats) -> Range:
    """A range for votes. Mistake: its middle is their raw median and its reach their raw spread, which one vote can move."""
    middle = float(np.median(raw_column))
    reach = float(np.abs(raw_column - middle).max()) or 1.0
    return Range(middle - reach, middle + reach)
