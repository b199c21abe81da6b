"""Broken twins of noisy steps: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Table
from dpstats.statistics.regression.budget_split import BudgetSplit
from dpstats.statistics.regression.points import BALL_BITS, POINT_BITS, Floats, Points
from dpstats.statistics.regression.standard import Standard
from dpstats.statistics.regression.sums import Scores

STEEP_ACROSS, STEEP_ALONG = 3, 2
"""Weights of products of two coordinates and of squares. Mistake: 3/2 is above sqrt(2)."""


@dataclass(frozen=True)
class LeveragePoints(Points):
    """Points. Mistake: the ball is forgotten, and a row far out among the features counts for more the further out it is."""

    def weights(self, raw_points: Floats) -> Floats:
        """The same for all."""
        return np.ones(len(raw_points))

    def bounded(self, raw_points: Floats, raw_weights: Floats) -> Floats:
        """The points in units of the ball."""
        return np.trunc(raw_points * 2.0 ** (BALL_BITS - POINT_BITS))


@dataclass(frozen=True)
class RoundedPoints(Points):
    """Points. Mistake: they are rounded to the nearest whole units, and nobody looks whether they still lie within the ball."""

    def bounded(self, raw_points: Floats, raw_weights: Floats) -> Floats:
        """The points, about within the ball."""
        return np.rint(raw_points * (raw_weights * 2.0 ** (BALL_BITS - POINT_BITS))[:, None])


@dataclass(frozen=True)
class LateScores(Scores):
    """Scores. Mistake: points are not bounded, and the products with residuals are cut off instead, coordinate by coordinate.

    Each coordinate is at most the length that a score may have, but there are several.
    """

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; the other sums are 0."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        with np.errstate(over="ignore"):
            raw_residuals = np.ldexp(self.residuals.of(raw_rows, raw_points), -self.exponent)
        raw_pulls = np.trunc(np.clip(raw_residuals, -self.cut, self.cut))
        raw_scores = np.trunc(raw_pulls[:, None] * raw_points * 2.0 ** (BALL_BITS - POINT_BITS))
        return _scores_alone(np.clip(raw_scores, -self.l2_units, self.l2_units).sum(axis=0))


@dataclass(frozen=True)
class FloatScores(Scores):
    """Scores. Mistake: floats are added up in the order of the rows and rounded at the end.

    One row more changes how those after it are rounded, and so what they all add.
    """

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; the other sums are 0."""
        points = self.residuals.points
        raw_points = points.of(raw_rows)
        raw_weights = points.weights(raw_points)
        with np.errstate(over="ignore"):
            raw_residuals = np.ldexp(self.residuals.of(raw_rows, raw_points), -self.exponent)
        raw_pulls = np.clip(raw_residuals, -self.cut, self.cut) * raw_weights
        raw_total = np.zeros(points.coordinates)
        for raw_pull, raw_point in zip(raw_pulls, raw_points * raw_weights[:, None], strict=True):
            raw_total += raw_pull * raw_point * 2.0 ** (BALL_BITS - POINT_BITS)
        return _scores_alone(raw_total)


class CountingBudgetSplit:
    """A budget. Mistake: the number of rows is handed out as it is."""

    def __init__(self, budget: BudgetSplit) -> None:
        self.left = budget.left
        self._budget = budget
        self._counted = False

    def noisy(self, raw_sums: Sequence[int], l2_units: int, share: Fraction) -> tuple[list[int], float]:
        """Sums with noise, but for the first one."""
        noisy_sums, deviation = self._budget.noisy(raw_sums, l2_units, share)
        self.left = self._budget.left
        if self._counted:
            return noisy_sums, deviation
        self._counted = True
        return list(raw_sums), deviation

    def draw_epsilon(self, share: Fraction) -> Fraction:
        """As the budget has it, like all below."""
        epsilon = self._budget.draw_epsilon(share)
        self.left = self._budget.left
        return epsilon

    def deviation(self, share: Fraction, coordinates: int) -> float:
        """Of noise."""
        return self._budget.deviation(share, coordinates)

    def share_for_draw(self, epsilon: float) -> Fraction:
        """For an epsilon."""
        return self._budget.share_for_draw(epsilon)

    def share_for_deviation(self, deviation: float, coordinates: int) -> Fraction:
        """For a deviation."""
        return self._budget.share_for_deviation(deviation, coordinates)


def standard_by_raw_medians(table: Table, standard: Standard) -> Standard:
    """A standardisation. Mistake: columns are centred at their medians as they are, which a single row can move."""
    *middles, outcome = (float(middle) for middle in np.median(table.matrix(), axis=0))
    return Standard(tuple(middles), standard.scales, outcome)


def steep_weights_of_triangle(coordinates: int) -> list[int]:
    """The weights of the entries of a triangle. Mistake: with these the products are longer than the weight of squares allows."""
    return [STEEP_ALONG if row == column else STEEP_ACROSS for row in range(coordinates) for column in range(row, coordinates)]


def _scores_alone(raw_scores: Floats) -> NDArray[np.int64]:
    return np.append(np.rint(raw_scores), 0.0).astype(np.int64)
