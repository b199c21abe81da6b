"""Noisy steps: linear and quantile regression by Newton's steps on scores in which no row counts for much.

Claim      What it takes from the budget, which is all of it
Neighbors  ADD_REMOVE
Why        A noisy number of rows; private middles and scales (standard.py); a noisy matrix of products, which turns the points so
           that no direction is weak, and another one of the turned points; then steps. Before each step a private median of the
           residuals' magnitudes says where to cut them off, and the step follows the noisy sum of scores. When steps hardly move
           any more, what is left goes into the last ones. Each of these hides a row by itself and sees only what earlier ones
           released, so their shares add up
Numerics   Exact from the rows to the noisy sums (points.py, sums.py); floats after that, which see nothing but released numbers
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     steps.proof.md, quantile_sums.proof.md; Huber 1973 (the score), Mallows 1975 (weights), Bickel 1975 (one-step
           estimates); quantiles: the score of a smoothed check function, Fernandes, Guerre & Horta 2021; residuals over a spread
           that is a line: Koenker & Bassett 1982
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.families import StraightOutcomes
from dpstats.statistics.regression.full_steps import LONG_SCORE, FullSteps
from dpstats.statistics.regression.octaves import draw_cell, draw_magnitude
from dpstats.statistics.regression.points import BALL, Floats, WholeLine, line_of
from dpstats.statistics.regression.quantile_sums import (
    PULL,
    NearRows,
    RatioPlaces,
    ResidualMagnitudes,
    SignScores,
    SpreadProducts,
    Spreads,
)
from dpstats.statistics.regression.shares import FEWEST_STEPS, LEAST_SEARCH, MOST_STEPS, STILL
from dpstats.statistics.regression.standard import MARKS
from dpstats.statistics.regression.sums import ALONG, ResidualLevels, Residuals, ResidualSizes, Scores
from dpstats.statistics.regression.walk import (
    DAMPING,
    SIGNAL,
    Estimate,
    FitContext,
    InterceptShift,
    Matrix,
    Walk,
    largest_eigenvalue,
)

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
SPREAD_SHARE, SPREAD_CUT = Fraction(10, 100), 5.0
"""What the line for the spread takes of the last steps' share, and where magnitudes are cut off for it, in medians."""
LEAST_SPREAD, MOST_SPREAD = 0.25, 8.0
"""A row's spread, in median magnitudes, is held between these."""
NEAR_SHARE, NEAR_WIDTH, LEAST_NEAR = Fraction(6, 100), 0.3, 0.01
"""What counts of rows near the line take of the last steps' share; how near in spreads; and the part of rows that is there at
least."""
STEP_SHARE, MOST_QUANTILE_STEPS = Fraction(12, 100), 3
"""What each of the steps before the last takes of the last steps' share, and how many there are at most."""
FIRST_WIDTH, LAST_WIDTH = 0.3, 0.02
"""A quantile's score is smoothed over so many spreads: at first, and then hardly at all, because the quantile of a smoothed
outcome is another one where rows spread differently."""
QUIET, DIFFERENCE = 0.5, 0.5
"""The rows near the line get a matrix of their own if its noise is below QUIET of what they are likely to be. A noisy matrix is
trusted as far as its noise is below DIFFERENCE of the least eigenvalue."""
STEEPEST, FLATTEST, CLEARLY_MOVED = 2.5, 0.5, 4.0
"""By how much two steps may change what is taken for the curvature along the first. Less curvature makes longer steps, so it is
believed only where the second step is that much longer than noise makes it."""
STILL_OFF, WIDER, TIED_WIDTH = 0.8, 1.7, 0.05
"""For intervals: the part of the last step that counts as error; a factor for sampling error, because the density near the line
is known roughly; and how near the line a row counts as on it."""
DOUBT, LEAST_LOW = 0.5, 0.35
"""For intervals eigenvalues are smaller by DOUBT of the noise, and at least LEAST_LOW of what they are taken for."""
PLACE_BITS, PLACES = 3, 128
"""A quantile of residuals is found to within an eighth of their spread, up to 16 spreads away."""
SHIFT_NATS, MOST_SHIFT = 12, Fraction(1, 4)
"""The rows beyond a quantile, times the epsilon that they need to be felt among all places; at most that part of the last steps'
share is given up for it. A quantile that is missed by far is not found again."""
HALF = Fraction(1, 2)


def take_steps(
    context: FitContext, features: int, *, intercept: bool, interval: bool, quantile: Fraction | None = None, full: bool = False
) -> Estimate | None:
    """Spend the budget on a regression of the table's last column, for its mean or a quantile; None with too few rows."""
    if quantile is None:
        linear = _LinearWalk.begin(context, features, intercept=intercept, interval=interval, mean=True, full=full)
        return None if linear is None else linear.arrive_full() if full else linear.arrive()
    walk = _QuantileWalk.begin(context, features, intercept=intercept, interval=interval)
    return None if walk is None else walk.arrive(quantile)


@dataclass(frozen=True)
class _Search:
    """What the steps that come near found."""

    begun: float
    """The first look at the residuals."""
    magnitude: float
    """The last one."""
    taken: int
    unspent: Fraction
    """What was left of the share for them."""


@dataclass(frozen=True)
class _Close:
    """What one of the last steps found."""

    covariance: Floats | None
    noise: Floats
    """A factor of the covariance of its noise."""


class _ResidualWalk(Walk):
    """A walk that looks at residuals and cuts them off."""

    def _search(self) -> _Search:
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
            scores = Scores(self._residuals(), *_whole_cut(width * magnitude))
            pull, deviation = self._pull(self.context.table.row_sums(scores), scores, share)
            moved = self.matrix.length(self.move(self.matrix, pull / slope))
            expected = deviation / slope * math.sqrt(float(np.sum(1 / self.matrix.safe)))
            earlier, magnitude = magnitude, self._look(magnitude, plan.look)
            if taken >= FEWEST_STEPS and magnitude > SETTLED * earlier and moved < UNMOVED * expected:
                break
        return _Search(begun, magnitude, taken, (steps - taken) * (share + plan.look))

    def _estimate(self, search: _Search, closed: _Close, steps: int, matrix: Matrix, raised: InterceptShift | None) -> Estimate:
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

    def _close(self, matrix: Matrix, scores: Scores, raw_sums: tuple[int, ...], inside: float, share: Fraction) -> _Close:
        """One of the last steps: where it leads varies by sampling and by noise."""
        pull, deviation = self._pull(raw_sums, scores, share)
        covariance = None
        if scores.products:
            unit = math.ldexp(scores.cut, scores.exponent) / inside
            products = self.noisy_matrix(raw_sums[self.size + 1 :], self.points.radius, self.plan.products)
            covariance = self.spread(products, unit, deviation / inside, matrix.inverse)
        self.move(matrix, pull / inside)
        return _Close(covariance, matrix.inverse * (deviation / inside))


class _LinearWalk(_ResidualWalk):
    """The walk of a linear regression."""

    def arrive(self) -> Estimate:
        """Take the steps and say where they led."""
        search = self._search()
        close = self.plan.close + search.unspent
        shares = [close]
        if self.matrix.noise > TWO_CLOSE * float(self.matrix.safe.min()):
            shares = [close * FIRST_CLOSE, close * (1 - FIRST_CLOSE)]
        cut = _whole_cut(self.plan.regime.cut * search.magnitude)
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
        levels = ResidualLevels(self._residuals(), *_whole_cut(max(LEVEL_CUT, FARTHER * self.plan.regime.cut) * magnitude))
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


class _QuantileWalk(_ResidualWalk):
    """The walk of a quantile regression: once it is near the middle it finds how residuals spread along the features, moves by so
    many spreads that the quantile is reached, and on from there."""

    _magnitude: float
    """The median magnitude of residuals, where the search ended."""
    _line: WholeLine
    """The spread of residuals as a line of the points."""

    def arrive(self, quantile: Fraction) -> Estimate:
        """Take the steps and say where they led."""
        search = self._search()
        self._magnitude = search.magnitude
        close = self.plan.close + search.unspent
        self._line = self._spread_line(close * SPREAD_SHARE)
        close -= close * SPREAD_SHARE
        if quantile != HALF:
            close -= self._shift(quantile, close * MOST_SHIFT)
        near = close * NEAR_SHARE
        matrix, density = self._curvature(self.plan.level, near / 2)
        close -= near
        share, taken, before = close * STEP_SHARE, 0, None
        while taken < MOST_QUANTILE_STEPS:
            _, moved, expected = self._step(quantile, matrix, FIRST_WIDTH if taken == 0 else LAST_WIDTH, share)
            taken, close, length = taken + 1, close - share, matrix.length(moved)
            if before is not None and length > UNMOVED * expected:
                matrix = _bent(matrix, before, moved, FLATTEST if length > CLEARLY_MOVED * expected else 1.0)
            if taken >= FEWEST_STEPS and length < UNMOVED * expected:
                break
            before = moved
        closed, moved, _ = self._step(quantile, matrix, LAST_WIDTH, close, products=bool(self.plan.products))
        if closed.covariance is not None:
            off, inverse = STILL_OFF * moved, _cautious_inverse(matrix)
            tied = self._tied(density, near / 2) ** 2 / self.size * inverse @ inverse
            closed = replace(closed, covariance=WIDER**2 * closed.covariance + np.outer(off, off) + tied)
        return self._estimate(search, closed, taken + 1, self.matrix, None)

    @property
    def _spreads(self) -> Spreads:
        """How residuals from where the walk is spread."""
        return Spreads(self._residuals(), self._line, LEAST_SPREAD * self._magnitude, MOST_SPREAD * self._magnitude)

    def _spread_line(self, share: Fraction) -> WholeLine:
        """A line for the mean magnitude of residuals."""
        magnitudes = ResidualMagnitudes(self._residuals(), *_whole_cut(SPREAD_CUT * self._magnitude))
        raw_sums = self.context.table.row_sums(magnitudes)
        pull, _ = self.noisy_pull(raw_sums, magnitudes.l2_units, math.ldexp(1.0, magnitudes.exponent), share)
        return line_of(self.matrix.inverse @ pull)

    def _curvature(self, share: Fraction, near: Fraction) -> tuple[Matrix, float]:
        """How scores give way to the line, and the density of rows at it, in spreads.

        All rows, each counted as one over its spread, times the density near the line; where noise is little, the rows near it.
        """
        spreads, budget = self._spreads, self.context.budget
        part = max(self._near(NEAR_WIDTH, near, 1.0), LEAST_NEAR * self.rows) / self.rows
        unit, density = 1 / (2 * NEAR_WIDTH * spreads.least), part / NEAR_WIDTH
        entries = self.size * (self.size + 1) // 2
        noise = largest_eigenvalue(ALONG * self.reach**2 * budget.deviation(share / 2, entries), self.size)
        if noise > QUIET * part * float(self.matrix.safe.min()):
            return self._blended(self.matrix, SpreadProducts(spreads), share).times(part * unit), density
        all_rows = self._blended(self.matrix, SpreadProducts(spreads), share / 2)
        return self._blended(all_rows, SpreadProducts(spreads, NEAR_WIDTH), share / 2).times(unit), density

    def _blended(self, known: Matrix, products: SpreadProducts, share: Fraction) -> Matrix:
        """A noisy matrix, drawn toward a known one of the same trace as far as noise is more than the two may differ."""
        measured = self.measured(self.context.table.row_sums(products), self.points.radius, share)
        ratio = max(measured.trace, measured.noise) / max(known.trace, 1.0)
        signal = DIFFERENCE * ratio * float(known.safe.min())
        weight = signal**2 / (signal**2 + measured.noise**2)
        parts = [(matrix.vectors * matrix.eigenvalues) @ matrix.vectors.T for matrix in (measured, known.times(ratio))]
        eigenvalues, vectors = np.linalg.eigh(weight * parts[0] + (1 - weight) * parts[1])
        return Matrix(eigenvalues, vectors, weight * measured.noise + (1 - weight) * ratio * known.noise)

    def _tied(self, density: float, share: Fraction) -> float:
        """About how many more rows lie on the line itself than a density puts there: outcomes that were rounded do."""
        return max(0.0, self._near(TIED_WIDTH, share, -1.0) - TIED_WIDTH * density * self.rows)

    def _near(self, width: float, share: Fraction, cautious: float) -> float:
        """The noisy number of rows near the line, and so many deviations of its noise more."""
        noisy, deviation = self.context.budget.noisy(self.context.table.row_sums(NearRows(self._spreads, width)), 1, share)
        return noisy[0] + cautious * deviation

    def _step(
        self, quantile: Fraction, matrix: Matrix, width: float, share: Fraction, *, products: bool = False
    ) -> tuple[_Close, Floats, float]:
        """One of the last steps, how far it led, and how far noise alone would lead."""
        scores = SignScores(self._spreads, width, round(PULL * (2 * quantile - 1)), products)
        raw_sums = self.context.table.row_sums(scores)
        pull, deviation = self.noisy_pull(raw_sums[: self.size], scores.l2_units, 1 / (2 * PULL), share)
        covariance = None
        if products:
            unit = scores.strongest / (2 * PULL)
            seen = self.noisy_matrix(raw_sums[self.size :], self.points.radius, self.plan.products)
            covariance = self.spread(seen, unit, deviation, _cautious_inverse(matrix))
        moved = self.move(matrix, pull)
        return _Close(covariance, matrix.inverse * deviation), moved, deviation * math.sqrt(float(np.sum(1 / matrix.safe)))

    def _shift(self, quantile: Fraction, most: Fraction) -> Fraction:
        """Move by a private quantile of ratios times the spread, and say what that took beyond its share, at most `most`."""
        tail, inside = min(quantile, 1 - quantile), self.plan.inside
        wanted = self.context.budget.share_for_draw(SHIFT_NATS * float(2 * (1 - tail) / (self.rows * tail)))
        share = max(inside, min(wanted, inside + most))
        epsilon = self.context.budget.draw_epsilon(share)
        raw_counts = self.context.table.row_sums(RatioPlaces(self._spreads, 1 << PLACE_BITS, PLACES))
        cell = draw_cell(raw_counts, quantile, epsilon, self.context.rng)
        self.place = line_of(self.place + math.ldexp(cell - PLACES + 0.5, -PLACE_BITS) * self._line.values).values
        return share - inside


def _cautious_inverse(matrix: Matrix) -> Floats:
    """One over the matrix with eigenvalues that are rather too small, for intervals."""
    low = np.maximum(matrix.eigenvalues - DOUBT * matrix.noise, np.maximum(matrix.eigenvalues, matrix.noise) * LEAST_LOW)
    return np.asarray((matrix.vectors / low) @ matrix.vectors.T)


def _bent(matrix: Matrix, before: Floats, moved: Floats, flattest: float) -> Matrix:
    """The matrix that two steps in a row suggest, in the direction of the first alone: where the second one goes on, that was too
    short, and where it goes back, too long."""
    whole = (matrix.vectors * matrix.safe) @ matrix.vectors.T
    along = whole @ before
    square = float(before @ along)
    factor = min(STEEPEST, max(flattest, 1 - float(moved @ along) / square))
    eigenvalues, vectors = np.linalg.eigh(whole + (factor - 1) / square * np.outer(along, along))
    return Matrix(eigenvalues - DAMPING * matrix.noise, vectors, matrix.noise)


def _whole_cut(size: float) -> tuple[int, int]:
    """A cut in whole numbers of a power of two, and that power."""
    exponent = math.frexp(size)[1] - CUT_BITS
    return max(1, math.floor(math.ldexp(size, -exponent))), exponent
