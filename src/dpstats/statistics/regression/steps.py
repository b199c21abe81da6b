"""Noisy steps: linear regression by Newton's steps on scores in which no row counts for much.

Claim      What it takes from the budget, which is all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; private middles and scales (standard.py); a noisy matrix of products, which turns the points so
           that no direction is weak, and another one of the turned points; then steps. Before each step a private median of the
           residuals' magnitudes says where to cut them off, and the step follows the noisy sum of scores. When steps hardly move
           any more, what is left goes into the last ones. Each of these hides a row by itself and sees only what earlier ones
           released, so their shares add up
Numerics   Exact from the rows to the noisy sums (points.py, sums.py); floats after that, which see nothing but released numbers
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     steps.proof.md; Huber 1973 (the score), Mallows 1975 (weights), Bickel 1975 (one-step estimates)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.families import StraightOutcomes
from dpstats.statistics.regression.full_steps import LONG_SCORE, FullSteps
from dpstats.statistics.regression.octaves import draw_magnitude
from dpstats.statistics.regression.points import BALL, Floats
from dpstats.statistics.regression.shares import FEWEST_STEPS, LEAST_SEARCH, MOST_STEPS, STILL
from dpstats.statistics.regression.standard import MARKS
from dpstats.statistics.regression.sums import ResidualLevels, Residuals, ResidualSizes, Scores
from dpstats.statistics.regression.walk import SIGNAL, Estimate, FitContext, InterceptShift, Matrix, Walk

FIRST_CUT, STEADY = 8.0, 0.15
"""At first residuals are cut off far out, as far as noise of this part of their median magnitude allows."""
SETTLED, UNMOVED = 0.85, 1.5
"""Steps have come near when the residuals' scale falls no more, and the step is no longer than noise makes it."""
TWO_CLOSE, FIRST_CLOSE = 0.15, Fraction(3, 10)
"""Two steps close where the matrix's noise is more than that part of its least eigenvalue; the first gets this share."""
CUT_BITS = 14
LEVEL_CUT, FARTHER = 6.0, 1.5
"""For the mean of the residuals they are cut off at LEVEL_CUT median magnitudes, and further out than for the last steps."""
NORMAL_SPREAD = 1.4826
"""The standard deviation of normal residuals over their median magnitude: what is more counts as the mean's own error."""
WELCOME, CLEAR, UNSEEN, GIVEN_UP = 2.0, 3.0, 2.0, 10.0
"""The intercept moves to the mean of the residuals if its noise is at most WELCOME standard errors of sampling, or if the mean is
CLEAR deviations of its noise away. Else it stays, and UNSEEN of them are its error. Beyond GIVEN_UP the mean is given up."""
LEAST_INSIDE = 0.4


def take_steps(context: FitContext, features: int, *, intercept: bool, interval: bool, full: bool = False) -> Estimate | None:
    """Spend the budget on a linear regression of the table's last column; None with too few rows."""
    walk = _LinearWalk.begin(context, features, intercept=intercept, interval=interval, mean=True, full=full)
    return None if walk is None else walk.arrive_full() if full else walk.arrive()


@dataclass(frozen=True)
class Search:
    """What the steps that come near found."""

    begun: float
    """The first look at the residuals."""
    magnitude: float
    """The last one."""
    taken: int
    unspent: Fraction
    """What was left of the share for them."""


@dataclass(frozen=True)
class Close:
    """What one of the last steps found."""

    covariance: Floats | None
    noise: Floats
    """A factor of the covariance of its noise."""


class ResidualWalk(Walk):
    """A walk that looks at residuals and cuts them off."""

    def _search(self) -> Search:
        """Come near."""
        plan, regime, budget = self.plan, self.plan.regime, self.context.budget
        least = float(self.matrix.safe.min())
        wanted = budget.share_for_deviation(STILL * least * regime.inside / (self.reach * regime.cut), self.size)
        steps = int(plan.search / (max(wanted, LEAST_SEARCH) + plan.look))
        steps = min(MOST_STEPS, max(FEWEST_STEPS, steps))
        share = plan.search / steps - plan.look
        widest = STEADY * self.rows * regime.inside / (budget.deviation(share, self.size) * self.reach)
        width = max(regime.cut, min(FIRST_CUT, widest))
        slope = regime.inside if width < 3 else 0.95
        begun = magnitude = self._look(None, plan.first_look)
        for taken in range(1, steps + 1):
            scores = Scores(self._residuals(), *whole_cut(width * magnitude))
            pull, deviation = self._pull(self.context.table.row_sums(scores), scores, share)
            moved = self.matrix.length(self.move(self.matrix, pull / slope))
            expected = deviation / slope * math.sqrt(float(np.sum(1 / self.matrix.safe)))
            earlier, magnitude = magnitude, self._look(magnitude, plan.look)
            if taken >= FEWEST_STEPS and magnitude > SETTLED * earlier and moved < UNMOVED * expected:
                break
        return Search(begun, magnitude, taken, (steps - taken) * (share + plan.look))

    def _estimate(
        self,
        search: Search,
        closed: Close,
        steps: int,
        matrix: Matrix,
        raised: InterceptShift | None,
        lost: Floats | None = None,
    ) -> Estimate:
        """Where the walk is; its covariance allows for what the steps may not have reached."""
        taken = search.taken + steps
        return self.in_columns(
            covariance=closed.covariance,
            step_noise=closed.noise,
            left_over=matrix.left_over(taken, SIGNAL * search.begun, self.rows),
            taken=taken,
            scale=search.magnitude,
            matrix=matrix,
            raised=raised,
            lost=None if lost is None else (lost, np.zeros_like(lost)),
        )

    def _residuals(self) -> Residuals:
        return Residuals(self.points, self.standard.outcome, self.line)

    def _look(self, likely: float | None, share: Fraction) -> float:
        """A private median of the residuals' magnitudes; that of marks is likely 1, and most of them lie at their middle."""
        raw_counts = self.context.table.row_sums(ResidualSizes(self._residuals()))
        certain = likely is None and self.points.intercept and self.standard.outcome in MARKS
        return draw_magnitude(
            raw_counts, self.context.budget.draw_epsilon(share), self.context.rng, likely=likely, certain=certain
        )

    def _pull(self, raw_sums: tuple[int, ...], scores: Scores, share: Fraction) -> tuple[Floats, float]:
        return self.noisy_pull(raw_sums[: self.size], scores.l2_units, math.ldexp(1.0, scores.exponent), share)

    def _close(self, matrix: Matrix, scores: Scores, raw_sums: tuple[int, ...], inside: float, share: Fraction) -> Close:
        """One of the last steps: where it leads varies by sampling and by noise."""
        pull, deviation = self._pull(raw_sums, scores, share)
        covariance = None
        if scores.products:
            unit = math.ldexp(scores.cut, scores.exponent) / inside
            products = self.noisy_matrix(raw_sums[self.size + 1 :], self.points.radius, self.plan.products)
            covariance = self.spread(products, unit, deviation / inside, matrix.inverse)
        self.move(matrix, pull / inside)
        return Close(covariance, matrix.inverse * (deviation / inside))


class _LinearWalk(ResidualWalk):
    """The walk of a linear regression."""

    def arrive(self) -> Estimate:
        """Take the steps and say where they led."""
        search = self._search()
        close = self.plan.close + search.unspent
        shares = [close]
        if self.matrix.noise > TWO_CLOSE * float(self.matrix.safe.min()):
            shares = [close * FIRST_CLOSE, close * (1 - FIRST_CLOSE)]
        cut = whole_cut(self.plan.regime.cut * search.magnitude)
        for share in shares:
            scores = Scores(self._residuals(), *cut, products=bool(self.plan.products) and share is shares[-1])
            raw_sums = self.context.table.row_sums(scores)
            inside = self._inside(raw_sums[self.size], self.plan.inside / len(shares))
            closed = self._close(self.matrix, scores, raw_sums, inside, share)
        raised = self._mean(search.magnitude) if self.plan.level else None
        return replace(self._estimate(search, closed, len(shares), self.matrix, raised), cut=math.ldexp(*cut))

    def arrive_full(self) -> Estimate | None:
        """Take the steps to least squares, and say where they led."""
        search = self._search()
        close, likely = self.plan.close + search.unspent, LONG_SCORE * math.sqrt(self.size) * search.magnitude
        likelihood = StraightOutcomes(self.standard.outcome)
        steps = FullSteps(self, likelihood, close, likely=likely, curved=None, expected=lambda: self.matrix)
        estimate = steps.arrive(SIGNAL * search.begun)
        return None if estimate is None else replace(estimate, scale=search.magnitude)

    def _inside(self, raw_inside: int, share: Fraction) -> float:
        """The noisy part of the rows, by the lengths of their points, whose residuals are not cut off."""
        noisy, _ = self.context.budget.noisy([raw_inside], self.points.radius**2, share)
        return min(1.0, max(LEAST_INSIDE, noisy[0] / BALL**2 / max(self.matrix.trace, 1.0)))

    def _mean(self, magnitude: float) -> InterceptShift | None:
        """How far the residuals' mean is from 0; None where that is mostly noise."""
        levels = ResidualLevels(self._residuals(), *whole_cut(max(LEVEL_CUT, FARTHER * self.plan.regime.cut) * magnitude))
        raw_sums = self.context.table.row_sums(levels)
        (total, weight, squares), deviation = self.context.budget.noisy(raw_sums, levels.l2_units, self.plan.level)
        self.context.progress.step()
        rows = max(4 * weight / levels.cut, 1.0)
        noise = math.ldexp(deviation, levels.exponent) / rows
        usual = magnitude / math.sqrt(self.rows)
        if noise > GIVEN_UP * usual:
            return None
        spread = math.ldexp(levels.cut, levels.exponent) ** 2 * max(squares / max(weight, 1), 0.0)
        beyond = max(0.0, spread - (NORMAL_SPREAD * magnitude) ** 2) / rows
        by = math.ldexp(total, levels.exponent) / rows
        if noise <= WELCOME * usual or abs(by) > CLEAR * noise:
            return InterceptShift(by, math.hypot(noise, math.sqrt(beyond)))
        return InterceptShift(0.0, UNSEEN * noise)


def whole_cut(size: float) -> tuple[int, int]:
    """A cut in whole numbers of a power of two, and that power."""
    exponent = math.frexp(size)[1] - CUT_BITS
    return max(1, math.floor(math.ldexp(size, -exponent))), exponent
