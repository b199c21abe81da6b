"""A walk: what regressions by noisy steps share, from standardised points to coefficients in the units of the columns.

It claims nothing by itself: it hands sums over rows to the budget, and computes with what comes back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import numpy as np

from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.regression.budget_split import BudgetSplit
from dpstats.statistics.regression.octaves import LARGEST
from dpstats.statistics.regression.points import BALL, Floats, Points, WholeLine, line_of, whole_turn
from dpstats.statistics.regression.shares import ROWS, StepShares, plan_shares
from dpstats.statistics.regression.standard import Standard, standardise
from dpstats.statistics.regression.sums import ACROSS, ALONG, Products, matrix_of, weights_of_triangle

DAMPING = 0.4
"""How much of a matrix's noise is added to its eigenvalues: steps fall short rather than overshoot."""
WORTH_TURNING = 0.5
"""Points are turned if the noise of the first matrix is below so much of the number of rows."""
FARTHEST_STRETCH = 512.0
"""Beyond it features follow from each other, and a turn in whole numbers could not tell them apart."""
UNRESOLVED = 0.6
"""A step leaves about so much of what there is in a direction whose eigenvalue is as large as the noise."""
SIGNAL = 1.5
"""Features together may move the linear predictor by about this many of the scales that the walk began with."""

FARTHEST_STEP = 1.0
"""Where there is a link, a step moves predictors by at most so much, in quadratic mean."""
INTERVAL_ERRORS, MOST_LOST = 1.96, 3.0
"""What rows beyond a reach may have cost lengthens an interval of 95%, but makes it at most so much longer, unless they clearly
cost more."""


@dataclass(frozen=True)
class FitContext:
    """What every regression works with."""

    table: Table
    budget: BudgetSplit
    rng: RandomSource
    progress: Progress


@dataclass(frozen=True)
class Estimate:
    """Where a walk led, in the units of the columns."""

    intercept: float
    coefficients: Floats
    covariance: Floats | None
    """The covariance of sampling and noise together, intercept first."""
    noise: Floats
    """Standard deviations of the last step's noise, intercept first."""
    noisy_rows: int
    scale: float | None
    """A median of the residuals' magnitudes."""
    taken: int
    """Steps."""
    weak: int
    """Directions in which the features vary too little to tell."""
    mean: bool = False
    """Whether the intercept is for the mean of the outcome."""
    cut: float | None = None
    """Residuals beyond it counted as at it."""
    going_on: bool = False
    """Whether features determine the outcome, so that there are no coefficients at which steps would end."""
    clipping: Floats | None = None
    """What the allowance for rows beyond a reach adds to each error, as a standard deviation, intercept first."""
    largest: float = 0.0
    """The largest middle or scale of a column."""

    @property
    def is_too_large(self) -> bool:
        """Whether a magnitude that the fit rests on is among the largest that there are, and may stand for any larger one."""
        return max(self.largest, self.scale or 0.0) >= LARGEST


@dataclass(frozen=True)
class InterceptShift:
    """How far the intercept is moved to the mean of the residuals, and by how much it may be off for that reason."""

    by: float
    deviation: float


@dataclass(frozen=True)
class Matrix:
    """A noisy matrix of products, made safe to divide by."""

    eigenvalues: Floats
    vectors: Floats
    noise: float
    """About the largest eigenvalue of its noise."""

    @classmethod
    def of(cls, whole: Floats, noise: float) -> Matrix:
        """A symmetric matrix with this noise, taken apart."""
        eigenvalues, vectors = np.linalg.eigh(whole)
        return cls(eigenvalues, vectors, noise)

    @property
    def of_safe(self) -> Floats:
        """The safe eigenvalues, put together."""
        return np.asarray((self.vectors * self.safe) @ self.vectors.T)

    @property
    def whole(self) -> Floats:
        """The matrix, put together."""
        return np.asarray((self.vectors * self.eigenvalues) @ self.vectors.T)

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues."""
        return float(self.eigenvalues.sum())

    @property
    def safe(self) -> Floats:
        """The eigenvalues, none of them below the noise."""
        return np.asarray(np.maximum(self.eigenvalues, self.noise) + DAMPING * self.noise)

    @property
    def inverse(self) -> Floats:
        """One over the safe matrix."""
        return np.asarray((self.vectors / self.safe) @ self.vectors.T)

    def times(self, part: float) -> Matrix:
        """A part of the matrix, and of its noise."""
        return Matrix(self.eigenvalues * part, self.vectors, self.noise * part)

    def plus(self, more: float) -> Matrix:
        """With so much more in every direction."""
        return replace(self, eigenvalues=self.eigenvalues + more)

    def above_noise(self) -> Matrix:
        """What of the matrix stands out of the noise."""
        return Matrix(np.maximum(self.eigenvalues - self.noise / 2, 0.0), self.vectors, self.noise)

    def length(self, step: Floats) -> float:
        """The length of a step as the rows see it, all of them together."""
        return math.sqrt(float(np.sum(self.safe * (self.vectors.T @ step) ** 2)))

    def unreached(self, moved_by: Sequence[Matrix], size: float, typical: float) -> Floats:
        """The covariance to allow for what steps by these matrices may have left of the way, where a feature moves the predictor
        by about `size` at most; eigenvalues are mostly about `typical`. Each may be smaller than it looks, by the noise."""
        least = np.maximum(self.eigenvalues - self.noise, 0.0)
        left = np.ones(len(least))
        for matrix in moved_by:
            left *= np.maximum(0.0, 1 - least / np.sum(self.vectors * (matrix.of_safe @ self.vectors), axis=0))
        spread = (left * size) ** 2 * typical / np.maximum(self.eigenvalues, min(self.noise / 2, typical))
        return np.asarray((self.vectors * spread) @ self.vectors.T)

    def left_over(self, steps: int, size: float, typical: float) -> Floats:
        """The covariance to allow for what `steps` steps may not have reached, where a feature moves the predictor by about
        `size` at most; eigenvalues are mostly about `typical`."""
        unreached = np.minimum(1.0, UNRESOLVED * self.noise / np.maximum(self.eigenvalues, 1e-300)) ** steps
        unreached[self.eigenvalues <= 0] = 1.0
        spread = (unreached * size) ** 2 * typical / np.maximum(self.eigenvalues, min(self.noise / 2, typical))
        return np.asarray((self.vectors * spread) @ self.vectors.T)


class Walk:
    """One regression on its way."""

    def __init__(self, context: FitContext, standard: Standard, plan: StepShares, noisy_rows: int, *, intercept: bool) -> None:
        self.context = context
        self.plan = plan
        self.rows = noisy_rows
        self.standard = standard
        self.size = len(standard.middles) + intercept
        radius = math.floor(plan.regime.radius * math.sqrt(self.size) * BALL)
        self.points = Points(standard.middles, standard.scales, intercept, radius=radius)
        self.place: Floats = np.zeros(self.size)
        self.moved_by: list[Matrix] = []
        self.matrix = self._turn_and_measure()

    @classmethod
    def begin(
        cls,
        context: FitContext,
        features: int,
        *,
        intercept: bool,
        interval: bool,
        mean: bool = False,
        linked: bool = False,
        full: bool = False,
    ) -> Self | None:
        """Buy a number of rows, and middles and scales of the columns; None with too few rows."""
        noisy_rows = max(1, context.budget.noisy([context.table.column(0).count()], 1, ROWS)[0][0])
        plan = plan_shares(
            context.budget, noisy_rows, features, intercept=intercept, interval=interval, mean=mean, linked=linked, full=full
        )
        if plan is None:
            return None
        shares = (plan.middle, plan.scale)
        standard = standardise(
            context.table, features, intercept, shares, context.budget, context.rng, outcome=not linked, farther=full
        )
        return cls(context, standard, plan, noisy_rows, intercept=intercept)

    @property
    def reach(self) -> float:
        """The radius of the ball in standard units."""
        return self.points.radius / BALL

    @property
    def line(self) -> WholeLine:
        """Where the walk is."""
        return line_of(self.place)

    def move(self, matrix: Matrix, pull: Floats) -> Floats:
        """Take a step; where it leads is what whole numbers can say of it."""
        before = self.place
        self.place = line_of(before + matrix.inverse @ pull).values
        self.moved_by.append(matrix)
        self.context.progress.step()
        return np.asarray(self.place - before)

    def moves_by(self, step: Floats) -> float:
        """By how much a step moves predictors, in quadratic mean; one for each column of a matrix of steps, all together."""
        with np.errstate(over="ignore"):
            return math.sqrt(float(np.sum(step * (self.matrix.of_safe @ step))) / self.rows)

    def noisy_pull(self, raw_score: Sequence[int], l2_units: int, unit: float, share: Fraction) -> tuple[Floats, float]:
        """The noisy sum of scores, and the deviation of its noise; `unit` is what one pull is."""
        noisy, deviation = self.context.budget.noisy(raw_score, l2_units, share)
        return np.array(noisy, dtype=np.float64) * (unit / BALL), deviation * (unit / BALL)

    def noisy_matrix(self, raw_triangle: Sequence[int], radius: int, share: Fraction) -> tuple[Floats, float]:
        """The symmetric matrix of a triangle of vectors within a radius, with noise, and the deviation of it before weights."""
        weights = weights_of_triangle(self.size)
        raw_weighted = [weight * raw for weight, raw in zip(weights, raw_triangle, strict=True)]
        noisy, deviation = self.context.budget.noisy(raw_weighted, ALONG * radius**2, share)
        self.context.progress.step()
        return matrix_of(np.array(noisy, dtype=np.float64) / weights, self.size) / BALL**2, deviation / BALL**2

    def measured(self, raw_triangle: Sequence[int], radius: int, share: Fraction) -> Matrix:
        """The noisy matrix, taken apart."""
        matrix, deviation = self.noisy_matrix(raw_triangle, radius, share)
        return Matrix.of(matrix, largest_eigenvalue(deviation, self.size))

    def spread(self, products: tuple[Floats, float], unit: float, deviation: float, inverse: Floats) -> Floats:
        """The covariance of where a step leads: scores vary by sampling, as their noisy products say, and by noise."""
        matrix, noise = products
        eigenvalues, vectors = np.linalg.eigh(matrix)
        safe = np.maximum(eigenvalues, noise / (2 * ALONG)) * unit**2
        scores = (vectors * safe) @ vectors.T + deviation**2 * np.eye(self.size)
        return np.asarray(inverse @ scores @ inverse.T)

    def _turn_and_measure(self) -> Matrix:
        """The noisy matrix of products, of turned points where that is worth while."""
        plan, entries = self.plan, self.size * (self.size + 1) // 2
        deviation = ALONG * self.reach**2 * self.context.budget.deviation(plan.turn, entries)
        if self.size - self.points.intercept < 2 or largest_eigenvalue(deviation, self.size) > WORTH_TURNING * self.rows:
            return self._products(plan.turn + plan.matrix)
        first = self._products(plan.turn)
        stretch = np.minimum(FARTHEST_STRETCH, np.sqrt(self.rows / np.maximum(first.eigenvalues, first.noise)))
        self.points = replace(self.points, turn=whole_turn((first.vectors * stretch) @ first.vectors.T))
        return self._products(plan.matrix)

    def _products(self, share: Fraction) -> Matrix:
        return self.measured(self.context.table.row_sums(Products(self.points)), self.points.radius, share)

    def in_columns(
        self,
        *,
        covariance: Floats | None,
        step_noise: Floats,
        left_over: Floats,
        taken: int,
        scale: float | None,
        matrix: Matrix,
        raised: InterceptShift | None = None,
        lost: tuple[Floats, Floats] | None = None,
        going_on: bool = False,
    ) -> Estimate:
        """Where the walk is, in the units of the columns; `step_noise` is a factor of the covariance of the last noise, and
        what may be `left_over` counts as noise too. What rows beyond a reach may have `lost`, and what they clearly did,
        lengthens errors."""
        intercept, clipping = self.points.intercept, None
        scales, middles = np.array(self.standard.scales), np.array(self.standard.middles)
        back = np.zeros((self.size, self.size))
        with np.errstate(all="ignore"):
            back[intercept:, intercept:] = np.diag(1 / scales)
            if intercept:
                back[0, 0], back[0, 1:] = 1.0, -middles / scales
            back = back @ self.points.turned
            found = back @ self.place
            spread = None if covariance is None else back @ (covariance + left_over) @ back.T
            noise = np.sqrt(np.diag(back @ (step_noise @ step_noise.T + left_over) @ back.T))
            if lost is not None and spread is not None:
                errors = np.maximum(np.sqrt(np.maximum(np.diag(spread), 0.0)), 1e-300) * INTERVAL_ERRORS
                maybe, clearly = (np.sqrt(np.square(back @ each).sum(axis=1)) / errors for each in lost)
                longer = 1 + np.fmax(np.fmin(maybe, MOST_LOST), clearly)
                clipping = np.sqrt(np.maximum(np.diag(spread), 0.0) * (longer**2 - 1))
                spread = spread * np.outer(longer, longer)
        if raised is not None:
            found[0] += raised.by
            noise[0] = math.hypot(noise[0], raised.deviation)
            if spread is not None:
                spread[0, 0] += raised.deviation**2
        first = float(found[0]) + self.standard.outcome if intercept else 0.0
        weak, mean = int(np.count_nonzero(matrix.eigenvalues < matrix.noise)), raised is not None
        largest = max(map(abs, (*self.standard.middles, *self.standard.scales, self.standard.outcome)))
        reached = Estimate(first, found[intercept:], spread, noise, self.rows, scale, taken, weak, mean, clipping=clipping)
        return replace(reached, going_on=going_on, largest=largest)


def largest_eigenvalue(deviation: float, size: int) -> float:
    """About that of a symmetric matrix of noise of this deviation before weights are taken out."""
    return 2 * math.sqrt(size) * deviation / ACROSS
