"""Noisy correlations of all columns with each other, from which features are selected without blocks.

Claim      What it takes from the budget, which is at most all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; a private median and a private scale of every column; then the noisy products of the columns,
           standardised and drawn toward 0 to lie within a ball. Each hides a row by itself and sees only what earlier ones
           released, so their shares add up
Numerics   Rows are whole numbers within the ball (regression/points.py), and their products are exact, as is the noise; floats
           after that
Source     noisy_correlations.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.accounting.allowance import part
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Table
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.regression.budget_split import BudgetSplit
from dpstats.statistics.regression.octaves import CELLS, draw_magnitude
from dpstats.statistics.regression.points import BALL, Points
from dpstats.statistics.regression.standard import MARKS, MOST, NORMAL
from dpstats.statistics.regression.sums import ALONG, Distances, Products, matrix_of, weights_of_triangle
from dpstats.statistics.selection.lasso_sets import Correlations
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.single import draw_quantile

MOST_COLUMNS = 40
"""Points have at most 41 coordinates, of which one is that of an intercept."""
ROWS = Fraction(2, 100)
MIDDLE_NATS, SCALE_NATS = 54, 45
"""Rows times epsilon that a median of a column and a scale need."""
LEAST_MIDDLES, LEAST_SCALES = 0.06, 0.08
MOST_STANDARD = 0.5
"""A table that needs more than that for medians and scales has too few rows."""
RADIUS = 1.6
"""The radius of the ball, over the root of the number of coordinates."""
EXPLAINED = 3.0
"""About by how much the noise of correlations weighs more where others explain a part of the outcome."""
LEAST_VARIANCE = 3.0
"""A column varies if its variance is so many deviations of its noise."""


@dataclass(frozen=True)
class NoisyCorrelations:
    """Correlations of the features with each other and with the outcome, and the deviation of their noise."""

    known: Correlations
    noise: float

    @property
    def informative_rows(self) -> float:
        """The number of rows whose sampling error is as large as sampling error and noise are here."""
        return 1 / (1 / max(self.known.rows, 1) + self.noise**2)


def noisy_row_count(table: Table, budget: BudgetSplit) -> int:
    """Spend ROWS on a noisy number of rows."""
    return max(1, budget.noisy([table.column(0).count()], 1, ROWS)[0][0])


def likely_informative_rows(noisy_rows: int, columns: int, budget: BudgetSplit) -> float:
    """About the informative rows that correlations of so many columns will have."""
    size = columns + 1
    deviation = RADIUS**2 * size * budget.deviation(Fraction(4, 5), size * (size + 1) // 2)
    return 1 / (1 / noisy_rows + EXPLAINED * (deviation / noisy_rows) ** 2)


def noisy_correlations(
    table: Table, columns: int, noisy_rows: int, budget: BudgetSplit, rng: RandomSource
) -> NoisyCorrelations | None:
    """Spend the rest of the budget on correlations of the last column with the others and of these with each other.

    None with too few rows.
    """

    def for_draw(nats: int, least: float) -> Fraction:
        return max(budget.share_for_draw(nats / noisy_rows), part(least / columns))

    middle, scale = for_draw(MIDDLE_NATS, LEAST_MIDDLES), for_draw(SCALE_NATS, LEAST_SCALES)
    if (middle + scale) * columns > MOST_STANDARD:
        return None
    points = _standard_points(table, columns, (middle, scale), budget, rng)
    size, share = columns + 1, budget.left
    weights = weights_of_triangle(size)
    raw_triangle = table.row_sums(Products(points))
    raw_weighted = [weight * raw for weight, raw in zip(weights, raw_triangle, strict=True)]
    noisy, deviation = budget.noisy(raw_weighted, ALONG * points.radius**2, share)
    matrix = matrix_of(np.array(noisy, dtype=np.float64) / weights, size) / BALL**2
    return _correlations_of(matrix, deviation / BALL**2 / ALONG, noisy_rows)


def _standard_points(
    table: Table, columns: int, shares: tuple[Fraction, Fraction], budget: BudgetSplit, rng: RandomSource
) -> Points:
    """Points of all columns, by private medians and scales."""
    half, relation = Fraction(1, 2), Neighbors.ADD_REMOVE
    middles = []
    for place in range(columns):
        ordinal = draw_quantile(table.column(place), half, budget.draw_epsilon(shares[0]), relation, rng)
        middles.append(nearest_float(fraction_of(ordinal)))
    raw_counts = table.row_sums(Distances(tuple(middles)))
    scales = []
    for place, middle in enumerate(middles):
        raw_own, marks = raw_counts[place * CELLS : (place + 1) * CELLS], middle in MARKS
        distance = draw_magnitude(raw_own, budget.draw_epsilon(shares[1]), rng, quantile=MOST, certain=marks)
        scales.append(distance if marks else distance * NORMAL)
    radius = math.floor(RADIUS * math.sqrt(columns + 1) * BALL)
    return Points(tuple(middles), tuple(scales), intercept=True, radius=radius)


def _correlations_of(matrix: Floats, deviation: float, noisy_rows: int) -> NoisyCorrelations | None:
    """The correlations that a noisy matrix of products tells; None where the outcome varies no more than noise."""
    whole = max(float(matrix[0, 0]), deviation, 1.0)
    covariance = matrix[1:, 1:] - np.outer(matrix[0, 1:], matrix[0, 1:]) / whole
    variances = np.diag(covariance)
    varies = variances > LEAST_VARIANCE * deviation
    if not varies[-1]:
        return None
    places = np.flatnonzero(varies[:-1])
    kept = [*places.tolist(), len(variances) - 1]
    roots = np.sqrt(variances[kept])
    correlations = covariance[np.ix_(kept, kept)] / np.outer(roots, roots)
    each = math.sqrt(deviation / math.sqrt(2)) / roots  # products of two columns have noise of a deviation over the root of 2
    noise = float(np.median(each)) ** 2
    eigenvalues, vectors = np.linalg.eigh(correlations)
    safe = (vectors * np.maximum(eigenvalues, noise)) @ vectors.T
    safe /= np.sqrt(np.outer(np.diag(safe), np.diag(safe)))
    return NoisyCorrelations(Correlations(noisy_rows, safe[:-1, :-1], safe[:-1, -1], places, each), noise)
