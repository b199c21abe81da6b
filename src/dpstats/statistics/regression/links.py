"""Regressions with a link: logistic and Poisson regression by noisy steps.

Claim      What it takes from the budget, which is all of it
Neighbors  ADD_REMOVE
Why        As steps.py: a noisy number of rows, middles and scales of the features, a noisy matrix that turns their points; a
           noisy start; then steps along noisy sums of scores, by noisy matrices of curved points, which are measured twice
Numerics   Exact from the rows to the noisy sums (points.py, families.py, link_sums.py); floats after that
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     links.proof.md, steps.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.families import ROOM, STEEPEST_PREDICTOR, LogisticOutcomes, OutcomeFamily, PoissonOutcomes
from dpstats.statistics.regression.full_steps import LONG_SCORE, FullSteps
from dpstats.statistics.regression.link_sums import (
    PULL,
    ClippedOutcomes,
    Counts,
    CountSizes,
    LinkProducts,
    LinkScores,
    OutcomePoints,
)
from dpstats.statistics.regression.octaves import LARGEST, draw_magnitude
from dpstats.statistics.regression.points import Floats, line_of
from dpstats.statistics.regression.walk import FARTHEST_STEP, SIGNAL, Estimate, FitContext, Matrix, Walk

FIRST_STEPS, MORE_STEPS = 2, 4
SEARCH_STEPS = 5
"""Steps that come near at most, where the last ones follow full scores."""
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
"""A standard normal in points and their weights."""
FIRST_INFORMATION = Fraction(4, 10)
CLOSE = (Fraction(3, 10), Fraction(7, 10))
UNMOVED = 1.5
"""Steps have come near when one is no longer than this many times what noise makes it."""
RAREST = 1e-4
"""No part of the rows is taken to be smaller, to begin with."""
PULLS_CUT = 3.0
"""Counts are cut off at this many standard deviations from their mean, more where they vary more than Poisson's."""
USUAL = 0.6
"""A median of how many standard deviations counts are away from their means."""
NO_SIGNAL = 2.0
"""Features together may move log odds or log means by about so much."""


def take_logistic_steps(
    context: FitContext, features: int, *, intercept: bool, interval: bool, full: bool = False
) -> Estimate | None:
    """Spend the budget on a logistic regression of the table's last column; None with too few rows."""
    walk = _LinkWalk.begin(context, features, intercept=intercept, interval=interval, linked=True, full=full)
    if walk is None:
        return None
    if not intercept:
        return walk.arrive(LogisticOutcomes(), 0.25, 0.0)
    noisy, _ = context.budget.noisy(context.table.row_sums(ClippedOutcomes()), PULL, walk.plan.middle)
    share = min(1 - RAREST, max(RAREST, noisy[0] / PULL / walk.rows))
    return walk.arrive(LogisticOutcomes(), share * (1 - share), math.log(share / (1 - share)))


def take_poisson_steps(
    context: FitContext, features: int, *, intercept: bool, interval: bool, full: bool = False
) -> Estimate | None:
    """Spend the budget on a Poisson regression of the table's last column; None with too few rows."""
    walk = _LinkWalk.begin(context, features, intercept=intercept, interval=interval, linked=True, full=full)
    if walk is None:
        return None
    if not intercept:
        return walk.arrive(PoissonOutcomes(1.0, PULLS_CUT), 1 / (1 + ROOM), 0.0)
    raw_counts = context.table.row_sums(Counts())
    typical = draw_magnitude(raw_counts, context.budget.draw_epsilon(walk.plan.middle), context.rng, certain=True)
    noisy, _ = context.budget.noisy([sum(raw_counts)], 1, walk.plan.first_look)
    if typical >= LARGEST:
        return None
    level = typical * min(1.0, max(RAREST, noisy[0] / walk.rows))
    walk.standard = replace(walk.standard, outcome=math.log(level))
    return walk.arrive(PoissonOutcomes(level, PULLS_CUT), level / (level + ROOM), 0.0)


class _LinkWalk(Walk):
    """The walk of a regression with a link."""

    family: OutcomeFamily = LogisticOutcomes()

    def arrive(self, family: OutcomeFamily, curvature: float, start: float) -> Estimate | None:
        """Take the steps and say where they led; at the start all rows have about this curvature and predictor."""
        self.family = family
        if start:
            intercept = np.zeros(self.size)
            intercept[0] = max(-STEEPEST_PREDICTOR / 2, min(STEEPEST_PREDICTOR / 2, start))
            self.place = line_of(np.asarray(np.linalg.solve(self.points.turned, intercept), dtype=np.float64)).values
        return self._arrive_full(curvature) if self.plan.curves else self._arrive_bounded(curvature)

    def _arrive_bounded(self, curvature: float) -> Estimate:
        """Where steps along scores lead in which no row counts for much."""
        share = self.plan.search / (FIRST_STEPS + MORE_STEPS)
        first = self.matrix.times(curvature)
        taken, _ = self._steps(lambda: first, share, FIRST_STEPS)
        second = self._information(self.plan.level * FIRST_INFORMATION)
        more, unspent = self._steps(lambda: second, share, MORE_STEPS)
        matrix = self._information(self.plan.level * (1 - FIRST_INFORMATION))
        covariance, deviation = self._close(matrix, [(self.plan.close + unspent) * part for part in CLOSE])
        taken += more + len(CLOSE)
        return self.in_columns(
            covariance=covariance,
            step_noise=matrix.inverse * deviation,
            left_over=matrix.left_over(taken, SIGNAL * NO_SIGNAL, self.rows * curvature),
            taken=taken,
            scale=None,
            matrix=matrix,
        )

    def _arrive_full(self, curvature: float) -> Estimate | None:
        """Where steps lead to the maximum of the likelihood."""
        unit = self.family.unit
        _, unspent = self._steps(lambda: self._bent().times(1 / unit), self.plan.search / SEARCH_STEPS, SEARCH_STEPS)
        self.moved_by = [matrix.times(unit) for matrix in self.moved_by]
        curved = curvature * unit
        close, likely = self.plan.close + unspent, LONG_SCORE * math.sqrt(curved * self.size)
        unbounded = isinstance(self.family, LogisticOutcomes)
        steps = FullSteps(self, self.family, close, likely=likely, curved=curved, expected=self._bent, unbounded=unbounded)
        return steps.arrive(SIGNAL * NO_SIGNAL)

    def _bent(self) -> Matrix:
        """What the matrix of curved points would be at the line, if points were normal."""
        products = self.matrix.of_safe / self.rows
        middle = np.zeros(self.size)
        if self.points.intercept:
            middle = products @ np.linalg.solve(self.points.turned, np.eye(self.size)[0])
        along = (products - np.outer(middle, middle)) @ self.place
        spread = math.sqrt(max(float(self.place @ along), 1e-12))
        gradient = along / spread
        curves = self.family.curves(float(self.place @ middle) + spread * NODES)
        flat, slope, bend = (float(NODE_WEIGHTS @ (curves * NODES**power)) for power in range(3))
        across = np.outer(middle, gradient)
        whole = flat * products + (bend - flat) * np.outer(gradient, gradient) + slope * (across + across.T)
        return Matrix.of(self.rows * whole, self.matrix.noise * flat)

    @property
    def _outcomes(self) -> OutcomePoints:
        return OutcomePoints(self.points, self.line, self.family)

    def _information(self, share: Fraction) -> Matrix:
        products = LinkProducts(self._outcomes)
        return self.measured(self.context.table.row_sums(products), products.radius, share)

    def _look(self, share: Fraction) -> Fraction:
        """Find out where to cut counts off, and say what that took of a share."""
        if not isinstance(self.family, PoissonOutcomes):
            return Fraction(0)
        raw_counts = self.context.table.row_sums(CountSizes(self.points, self.line, self.family))
        magnitude = draw_magnitude(raw_counts, self.context.budget.draw_epsilon(share), self.context.rng, likely=1.0)
        self.family = replace(self.family, cut=max(PULLS_CUT, PULLS_CUT / USUAL * magnitude))
        return share

    def _steps(self, matrix_here: Callable[[], Matrix], share: Fraction, most: int) -> tuple[int, Fraction]:
        """Take steps until they hardly move: how many were taken, and what was left of the share for them."""
        taken, moved, expected = 0, math.inf, 0.0
        while taken < most and moved > UNMOVED * expected:
            matrix = matrix_here()
            looked = self._look(min(self.plan.look, share / 2))
            scores = LinkScores(self._outcomes)
            pull, deviation = self._pull(self.context.table.row_sums(scores), scores, share - looked)
            moved = matrix.length(self._held_move(matrix, pull))
            expected = deviation * math.sqrt(float(np.sum(1 / matrix.safe)))
            taken += 1
        return taken, (most - taken) * share

    def _close(self, matrix: Matrix, shares: Sequence[Fraction]) -> tuple[Floats | None, float]:
        """The last steps: the covariance of where they led, and the deviation of the last one's noise."""
        covariance = None
        for share in shares:
            looked = self._look(min(self.plan.look, share / 4))
            scores = LinkScores(self._outcomes, products=bool(self.plan.products) and share is shares[-1])
            raw_sums = self.context.table.row_sums(scores)
            pull, deviation = self._pull(raw_sums, scores, share - looked)
            if scores.products:
                products = self.noisy_matrix(raw_sums[self.size :], self.points.radius, self.plan.products)
                covariance = self.spread(products, self.family.pull, deviation, matrix.inverse)
            self._held_move(matrix, pull)
        return covariance, deviation

    def _held_move(self, matrix: Matrix, pull: Floats) -> Floats:
        """Take a step, a shorter one where it would move predictors far: a link is straight only nearby."""
        return self.move(matrix, pull * min(1.0, FARTHEST_STEP / max(self.moves_by(matrix.inverse @ pull), 1e-300)))

    def _pull(self, raw_sums: tuple[int, ...], scores: LinkScores, share: Fraction) -> tuple[Floats, float]:
        return self.noisy_pull(raw_sums[: self.size], scores.l2_units, self.family.pull / PULL, share)
