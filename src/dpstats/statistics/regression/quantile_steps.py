"""Noisy steps to a quantile regression: on the score of the check function, with points that count in full up to a private reach.

Claim      What it takes from the budget, which is all of it
Neighbors  ADD_REMOVE
Why        Once a search has come near the middle (steps.py), a noisy line says how residuals spread along the features, and a
           private quantile of residuals in spreads how far to move. Noisy numbers of rows that the line passes over when it is
           moved tell how the score gives way. Steps follow noisy scores, first of points within the ball of the search, then of
           points within a reach that a private quantile of their lengths suggests: a row's point is drawn toward 0 beyond it, so
           rows far out that do not follow the line would be missed with a near one. What rows beyond it may have pulled is in
           the interval. Each of these hides a row by itself and sees only what earlier ones released
Numerics   Exact from the rows to the noisy sums (quantile_sums.py, reach_sums.py); floats after that, which see nothing but
           released numbers
No reply   Where the noisy number of rows is too small for the number of features; costs the same as an answer
Source     quantile_sums.proof.md, links.proof.md; the score of a hardly smoothed check function: Fernandes, Guerre & Horta 2021;
           residuals over a spread that is a line: Koenker & Bassett 1982; misspecified lines: Angrist, Chernozhukov &
           Fernandez-Val 2006
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.families import StraightOutcomes
from dpstats.statistics.regression.octaves import draw_cell, draw_magnitude
from dpstats.statistics.regression.points import BALL, Floats, Points, WholeLine, line_of
from dpstats.statistics.regression.quantile_sums import (
    PULL,
    Crossings,
    NearRows,
    RatioPlaces,
    ResidualMagnitudes,
    SignScores,
    Spreads,
)
from dpstats.statistics.regression.reach_sums import CurveLengths, FullScores
from dpstats.statistics.regression.steps import UNMOVED, Close, ResidualWalk, whole_cut
from dpstats.statistics.regression.walk import DAMPING, Estimate, FitContext, Matrix

SPREAD_SHARE, SPREAD_CUT = Fraction(6, 100), 5.0
"""What the line for the spread takes of the last steps' share, and where magnitudes are cut off for it, in medians."""
LEAST_SPREAD, MOST_SPREAD = 0.25, 8.0
"""A row's spread, in median magnitudes, is held between these."""
PLACE_BITS, PLACES = 3, 128
"""A quantile of residuals is found to within an eighth of their spread, up to 16 spreads away."""
SHIFT_NATS, MOST_SHIFT = 12, Fraction(1, 4)
"""The rows beyond a quantile, times the epsilon that they need to be felt among all places; at most that part of the last steps'
share is given up for it. A quantile that is missed by far is not found again."""
NEAR_SHARE, NEAR_WIDTH, LEAST_NEAR = Fraction(4, 100), 0.3, 0.01
"""What counts of rows near the line take of the last steps' share; how near in spreads; and the part of rows that is there at
least."""
CLOSE_ENOUGH, FEWEST_CROSSED, LEAST_CROSSING, MOST_CROSSING = 0.1, 150, 0.1, 0.8
"""To see how the score gives way, the line is moved so far that noise is a part CLOSE_ENOUGH of the rows that it passes over, and
these are FEWEST_CROSSED; from the least to the most, in median magnitudes."""
DIFFERENCE = 0.3
"""A noisy matrix is trusted as far as its noise is below that part of its mean eigenvalue."""
FIRST_SHARE, STEP_SHARE = Fraction(7, 100), Fraction(20, 100)
"""What each of the two first steps takes of the last steps' share at most, and the one between them and the last."""
STEPS_SHARE, MOST_BETWEEN = Fraction(40, 100), 4
"""Where noise is small there are up to so many between, and what they take together."""
FIRST_WIDTH, LAST_WIDTH = 0.3, 0.02
"""A quantile's score is smoothed over so many spreads: at first, and then hardly at all, because the quantile of a smoothed
outcome is another one where rows spread differently."""
STEEPEST, FLATTEST, CLEARLY_MOVED = 2.5, 0.5, 4.0
"""By how much two steps may change what is taken for the curvature along the first. Less curvature makes longer steps, so it is
believed only where the second step is that much longer than noise makes it."""
TYPICAL, REACH_NATS, FEWEST_BEYOND, MOST_BEYOND = Fraction(1, 8), 20.0, 2.0, 0.2
"""Of the share for reaches, what a median of lengths takes. The rest draws a length that few rows exceed: their number times the
epsilon of the draw is REACH_NATS, but it is held between the fewest, and the most as a part of all rows."""
CELL, HALF_CELL, LEAST_POWER = 2**0.25, 2**0.125, 1.5
"""Magnitudes are drawn in cells of this width; and rows thin out at least as this power of the length, because a smaller one
loses without end."""
ONE_SIDED = 0.45
"""The part of what rows beyond a reach can pull that they are taken to pull together: all of them lie on one side of the line
where it bends away from them, and none do in particular where it is right."""
REACH_STEP, REACH_STEPS, FARTHEST_REACH, MOST_NOISE = 2**0.125, 40, 127.0, 1.5
"""Reaches are tried in such steps from the ball of the search on, up to one whose noise is MOST_NOISE errors of sampling."""
STILL_OFF, WIDER, TIED_WIDTH = 0.4, 1.25, 0.05
"""For intervals: the part of the last step that counts as error; a factor for sampling error, because the density near the line
is known roughly; and how near the line a row counts as on it."""
DOUBT, LEAST_LOW = 0.5, 0.35
"""For intervals eigenvalues are smaller by DOUBT of the noise, and at least LEAST_LOW of what they are taken for."""
HALF_ROW = 0.5
"""As many rows as there are coefficients lie on the line of the usual tool, and the score says of each to within half a row."""
HALF = Fraction(1, 2)


def take_quantile_steps(
    context: FitContext, features: int, *, intercept: bool, interval: bool, quantile: Fraction
) -> Estimate | None:
    """Spend the budget on a quantile regression of the table's last column; None with too few rows."""
    walk = _QuantileWalk.begin(context, features, intercept=intercept, interval=interval, full=True)
    return None if walk is None else walk.arrive(quantile)


@dataclass(frozen=True)
class _Check:
    """The score of a check function."""

    quantile: Fraction

    @property
    def offset(self) -> int:
        """What a row's pull has more than its sign, in units."""
        return round(PULL * (2 * self.quantile - 1))

    @property
    def strongest(self) -> float:
        """The most that a row can pull."""
        return float(max(self.quantile, 1 - self.quantile))

    def deviation(self, rows: float) -> float:
        """About the sampling deviation of the sum of so many pulls."""
        return math.sqrt(float(self.quantile * (1 - self.quantile)) * rows)


@dataclass(frozen=True)
class _Course:
    """By which matrix steps are taken, and the last one."""

    matrix: Matrix
    moved: Floats | None = None
    """None where the score has become another one."""
    is_short: bool = False
    """Whether noise alone would lead about as far."""

    def bent(self, pull: Floats, deviation: float) -> Matrix:
        """The matrix that the last step and the score where it led suggest, in the direction of that step alone: it was too short
        if the score pulls on, and too long if it pulls back."""
        matrix, noise = self.matrix, _length_of_noise(self.matrix, deviation)
        length = matrix.length(matrix.inverse @ pull)
        if self.moved is None or length < UNMOVED * noise or not self.moved.any():
            return matrix
        along = matrix.of_safe @ self.moved
        square = float(self.moved @ along)
        flattest = FLATTEST if length > CLEARLY_MOVED * noise else 1.0
        factor = min(STEEPEST, max(flattest, 1 - float(pull @ self.moved) / square))
        eigenvalues, vectors = np.linalg.eigh(matrix.of_safe + (factor - 1) / square * np.outer(along, along))
        return Matrix(eigenvalues - DAMPING * matrix.noise, vectors, matrix.noise)


@dataclass(frozen=True)
class _LengthTail:
    """How rows thin out where their points are long: as a power of the length, the one that a median and a length that few rows
    exceed suggest. Most columns thin out faster, and those of incomes and prices about like that."""

    beyond: float
    length: float
    """About so many rows are beyond it."""
    power: float

    def rows(self, length: float) -> float:
        """About how many rows are longer."""
        return self.beyond * math.pow(length / self.length, -self.power)

    def excess(self, length: float) -> float:
        """By how much they are longer, all together."""
        return self.rows(length) * length / (self.power - 1)


@dataclass(frozen=True)
class _PointReach:
    """How far out points count in full."""

    length: float
    lost: float
    """What rows beyond it may pull, and do not."""
    more_squares: float
    """About by how much the squared lengths of points are more than within the ball of the search, all together."""


class _QuantileWalk(ResidualWalk):
    """The walk of a quantile regression."""

    _check: _Check
    _magnitude: float
    """The median magnitude of residuals, where the search ended."""
    _line: WholeLine
    """The spread of residuals as a line of the points."""

    def arrive(self, quantile: Fraction) -> Estimate:
        """Take the steps and say where they led."""
        search = self._search()
        self._check, self._magnitude = _Check(quantile), search.magnitude
        close = self.plan.close + search.unspent
        self._line = self._spread_line(close * SPREAD_SHARE)
        close -= close * SPREAD_SHARE
        if quantile != HALF:
            close -= self._shift(quantile, close * MOST_SHIFT)
        near = close * NEAR_SHARE
        density = self._density(near / 2)
        course, close = self._first_steps(density, close - near)
        inner, reach = self.points, self._reach(close * (1 - STEP_SHARE))
        outer = replace(inner, radius=math.floor(reach.length * BALL))
        self.points = outer
        course = _Course(self._curvature(course.matrix, density, self.plan.curves))
        self.points = replace(inner, radius=math.isqrt(inner.radius * outer.radius))
        for share in self._shares(close):
            course, close = self._step(course, LAST_WIDTH, share), close - share
            if self.points is not outer:
                self.points, course = outer, _Course(course.matrix)
        closed, course = self._last_step(course, close, inner, reach)
        if closed.covariance is not None:
            tied = self._tied(density, near / 2)
            closed = replace(closed, covariance=closed.covariance + self._astray(course, tied))
        steps, lost = len(self.moved_by) - search.taken, course.matrix.inverse * reach.lost
        return self._estimate(search, closed, steps, self.matrix, None, lost)

    @property
    def _spreads(self) -> Spreads:
        """How residuals from where the walk is spread."""
        return Spreads(self._residuals(), self._line, LEAST_SPREAD * self._magnitude, MOST_SPREAD * self._magnitude)

    def _spread_line(self, share: Fraction) -> WholeLine:
        """A line for the mean magnitude of residuals."""
        magnitudes = ResidualMagnitudes(self._residuals(), *whole_cut(SPREAD_CUT * self._magnitude))
        raw_sums = self.context.table.row_sums(magnitudes)
        pull, _ = self.noisy_pull(raw_sums, magnitudes.l2_units, math.ldexp(1.0, magnitudes.exponent), share)
        return line_of(self.matrix.inverse @ pull)

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

    def _density(self, share: Fraction) -> float:
        """The density of rows at the line, in spreads."""
        return max(self._near(NEAR_WIDTH, share, 1.0), LEAST_NEAR * self.rows) / (2 * NEAR_WIDTH * self.rows)

    def _tied(self, density: float, share: Fraction) -> float:
        """About how many more rows lie on the line itself than a density puts there: outcomes that were rounded do."""
        return max(0.0, self._near(TIED_WIDTH, share, -1.0) - 2 * TIED_WIDTH * density * self.rows)

    def _near(self, width: float, share: Fraction, cautious: float) -> float:
        """The noisy number of rows near the line, and so many deviations of its noise more."""
        noisy, deviation = self.context.budget.noisy(self.context.table.row_sums(NearRows(self._spreads, width)), 1, share)
        return noisy[0] + cautious * deviation

    def _curvature(self, expected: Matrix, density: float, share: Fraction) -> Matrix:
        """How scores give way to the line, from the rows that it passes over when it is moved a little along each coordinate;
        drawn toward what was expected as far as noise is more than the two may differ."""
        budget = self.context.budget
        planned = math.sqrt(self.size) * self.reach * budget.deviation(share, self.size**2)
        wanted = max(planned / CLOSE_ENOUGH, FEWEST_CROSSED) / (2 * self.rows * density)
        crossings = Crossings(self._residuals(), min(max(wanted, LEAST_CROSSING), MOST_CROSSING) * self._magnitude)
        noisy, deviation = budget.noisy(self.context.table.row_sums(crossings), crossings.l2_units, share)
        self.context.progress.step()
        unit = 1 / (2 * crossings.by * BALL)
        seen, noise = np.array(noisy, dtype=np.float64).reshape(self.size, self.size) * unit, deviation * unit
        signal = DIFFERENCE * max(float(np.trace(seen)), noise) / self.size
        weight = signal**2 / (signal**2 + noise**2)
        whole = weight * (seen + seen.T) / 2 + (1 - weight) * expected.whole
        return Matrix.of(whole, math.sqrt(weight * self.size) * noise)

    def _first_steps(self, density: float, close: Fraction) -> tuple[_Course, Fraction]:
        """Come near within the ball of the search: by which matrix, and what is left of the share for steps."""
        expected = self.matrix.times(density / self._magnitude)
        course = _Course(self._curvature(expected, density, self.plan.level))
        share = min(close * FIRST_SHARE, self._needed())
        for width in (FIRST_WIDTH, LAST_WIDTH):
            course, close = self._step(course, width, share), close - share
            if course.is_short:
                break
        return course, close

    def _needed(self) -> Fraction:
        """The share of a step whose noise is about as large as the error of sampling."""
        return self.context.budget.share_for_deviation(
            self._check.deviation(self.rows) / (self._check.strongest * self.reach), self.size
        )

    def _shares(self, close: Fraction) -> list[Fraction]:
        """What the steps before the last get: one of them, or where noise is small more, each twice as much as the one before."""
        shares, needed = [close * STEP_SHARE], self._needed()
        for steps in range(2, MOST_BETWEEN + 1):
            least = close * STEPS_SHARE / (2**steps - 1)
            if least > needed:
                shares = [least * 2**step for step in range(steps)]
        return shares

    def _reach(self, share: Fraction) -> _PointReach:
        """How far out points count in full, if `share` is for the last step: noise grows with the reach, and what rows beyond it
        may have pulled falls."""
        tail, check = self._length_tail(), self._check
        noise = check.strongest * self.context.budget.deviation(share, self.size)
        lost = ONE_SIDED * check.strongest
        most = max(self.reach, min(FARTHEST_REACH, MOST_NOISE * check.deviation(self.rows) / noise))
        lengths = [self.reach * REACH_STEP**step for step in range(REACH_STEPS)]
        errors = {each: math.hypot(noise * each, lost * tail.excess(each)) for each in lengths if each <= most}
        best = min(errors, key=errors.__getitem__)
        squares = sum(tail.rows(each) * each**2 for each in lengths if each < best) * (REACH_STEP**2 - 1)
        return _PointReach(best, lost * tail.excess(best), min(squares, float(self.size * self.rows)))

    def _length_tail(self) -> _LengthTail:
        """How rows thin out where points are long, from two private quantiles of the lengths."""
        budget, rng, likely = self.context.budget, self.context.rng, math.sqrt(self.size)
        raw_counts = self.context.table.row_sums(CurveLengths(FullScores(self.points, self.line, StraightOutcomes(0.0))))
        epsilon = budget.draw_epsilon(self.plan.reaches * TYPICAL)
        typical = HALF_CELL * draw_magnitude(raw_counts, epsilon, rng, likely=likely)
        epsilon = budget.draw_epsilon(self.plan.reaches * (1 - TYPICAL))
        beyond = min(MOST_BEYOND * self.rows, max(FEWEST_BEYOND, REACH_NATS / float(epsilon)))
        quantile = 1 - Fraction(beyond / self.rows)
        drawn = draw_magnitude(raw_counts, epsilon, rng, quantile=quantile, likely=2 * likely)
        length = min(FARTHEST_REACH, HALF_CELL * drawn)
        power = math.log(self.rows / (2 * beyond)) / math.log(max(length / typical, CELL))
        return _LengthTail(beyond, length, max(LEAST_POWER, power))

    def _scores(self, width: float) -> SignScores:
        return SignScores(self._spreads, width, self._check.offset)

    def _noisy_score(self, width: float, share: Fraction) -> tuple[Floats, float]:
        """The noisy sum of scores, and the deviation of its noise."""
        scores = self._scores(width)
        return self.noisy_pull(self.context.table.row_sums(scores), scores.l2_units, 1 / (2 * PULL), share)

    def _step(self, course: _Course, width: float, share: Fraction) -> _Course:
        """One of the steps before the last."""
        pull, deviation = self._noisy_score(width, share)
        matrix = course.bent(pull, deviation)
        moved = self.move(matrix, pull)
        return _Course(matrix, moved, matrix.length(moved) < UNMOVED * _length_of_noise(matrix, deviation))

    def _last_step(self, course: _Course, share: Fraction, inner: Points, reach: _PointReach) -> tuple[Close, _Course]:
        """The last step. Products of scores, for its covariance, are measured within the ball of `inner`, where noise is less."""
        pull, deviation = self._noisy_score(LAST_WIDTH, share)
        matrix, covariance = course.bent(pull, deviation), None
        if self.plan.products:
            outer, self.points = self.points, inner
            scores = replace(self._scores(LAST_WIDTH), products=True)
            self.points = outer
            raw_products = self.context.table.row_sums(scores)[self.size :]
            seen = self.noisy_matrix(raw_products, inner.radius, self.plan.products)
            varies = math.hypot(deviation, self._check.deviation(reach.more_squares))
            covariance = WIDER**2 * self.spread(seen, scores.strongest / (2 * PULL), varies, _cautious_inverse(matrix))
        noise = matrix.inverse * math.hypot(deviation, HALF_ROW * math.sqrt(self.size))
        return Close(covariance, noise), _Course(matrix, self.move(matrix, pull))

    def _astray(self, course: _Course, tied: float) -> Floats:
        """The covariance of what the last step may have missed, because its matrix is not quite right or rows lie on the line."""
        matrix, moved = course.matrix, np.zeros(self.size) if course.moved is None else course.moved
        inverse, off = _cautious_inverse(matrix), STILL_OFF * moved
        around = (matrix.noise**2 * float(moved @ moved) + tied**2) / self.size
        return np.asarray(np.outer(off, off) + around * inverse @ inverse)


def _length_of_noise(matrix: Matrix, deviation: float) -> float:
    """About the length of a step that noise of this deviation makes."""
    return deviation * math.sqrt(float(np.sum(1 / matrix.safe)))


def _cautious_inverse(matrix: Matrix) -> Floats:
    """One over the matrix with eigenvalues that are rather too small, for intervals."""
    low = np.maximum(matrix.eigenvalues - DOUBT * matrix.noise, np.maximum(matrix.eigenvalues, matrix.noise) * LEAST_LOW)
    return np.asarray((matrix.vectors / low) @ matrix.vectors.T)
