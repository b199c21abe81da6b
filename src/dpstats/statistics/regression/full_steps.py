"""The last steps of a regression: to the maximum of the likelihood itself, which for a straight line is least squares.

Claim      What it takes from the budget
Neighbors  ADD_REMOVE
Why        From where a robust search led, steps follow noisy sums of full scores, which are cut off at a private reach: few rows
           lie beyond it, and it goes further out where noise allows. A private reach holds the curvatures, too. What the cut may
           leave out is reckoned by the rule for means (clipped/clips.py), and from how rows thin out beyond the reach
Numerics   Exact from the rows to the noisy sums (reach_sums.py); floats after that, which see nothing but released numbers
Source     reach.proof.md; one step from a rough estimate is efficient: Le Cam 1956; sandwich errors: Huber 1967, White 1980
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpstats.statistics.clipped.clips import Tail
from dpstats.statistics.regression.octaves import cells_of, draw_magnitude
from dpstats.statistics.regression.points import BALL, Floats, line_of, whole_turn
from dpstats.statistics.regression.reach_sums import (
    LENGTH,
    CurveLengths,
    CutCurves,
    CutScores,
    FarDirections,
    FullScores,
    Likelihood,
    ScoreLengths,
    unit_of,
)
from dpstats.statistics.regression.sums import ALONG
from dpstats.statistics.regression.walk import FARTHEST_STEP, INTERVAL_ERRORS, Estimate, Matrix, Walk, largest_eigenvalue
from dpstats.statistics.universal.limits import Side

CURVE_DRAW, FIRST_DRAW, LAST_DRAW, TYPICAL_DRAW, BEYOND_COUNT = (Fraction(part, 100) for part in (15, 15, 25, 10, 35))
"""How the share for reaches is divided."""
REACH_NATS, FEWEST_BEYOND, MOST_BEYOND = 14.0, 2.0, 0.2
"""Rows beyond a reach, times the epsilon of its draw, so that it is seldom drawn where no row is; the fewest of them; and the
most, as a part of all rows."""
REACH_UNDER = Fraction(3, 10)
"""The part of a draw's nats that keeps a reach from falling short: few rows keep it from going too far, so these get more."""
REACH_BITS = 10
CELL = 2**0.25
"""From the lower end of a cell to its upper end."""
FIRST, MIDDLE, MOST_MIDDLE = Fraction(20, 100), Fraction(10, 100), 3
"""Of the share for steps, what the first one takes, and each of those between it and the last; how many these are at most."""
FAR = 3.0
"""There is one more of these while a step is longer than that many errors of sampling: a matrix is off by a part of a step."""
FIRST_CURVES, MIDDLE_CURVES = Fraction(30, 100), Fraction(10, 100)
"""Of the share for curvatures, what the first step and each of those between take, where curvatures depend on the line."""
QUIET, BEARABLE, MOST_NOISE = 0.3, 0.7, 0.85
"""A reach goes as far out as noise of QUIET errors of sampling allows; up to BEARABLE, where rows may lie that far out; and up to
MOST_NOISE, where more would be lost otherwise."""
ROOM = 2.5
"""How much heavier than it looks a tail may be there."""
FARTHER, TRIED = 3.0, 8
"""Rows are counted so many times as far out as a reach that few exceed: how they thin out there tells of a heavy tail. And so
many reaches further out are weighed."""
POWER_PART, LEAST_SEEN_ROWS, LEAST_POWER = 0.75, 0.3, 1.5
"""What counts of what a power of the length would lose; a count is taken for that part of its noise at least; and rows beyond the
reach are taken to thin out at least by such a power, because a smaller one loses without end."""
LOST_PART = 0.6
"""What is lost counts for so much of itself where a reach is chosen: it is reckoned rather high."""
HEDGE = 0.7
"""What is cut off is reckoned with an exponent that is larger by so much."""
LONG_SCORE = 4.0
"""A long score, over the root of the number of coordinates and what is typical of a residual."""
CURVE_NOISE, MOST_CURVE_NOISE = 0.1, 0.3
"""The same for curvatures: the noise of their matrix, as a part of it; it is never more than the latter."""
FAR_CURVES = Fraction(15, 100)
"""Of a share for curvatures, what the directions of those take that are cut off."""
LIKENESS, MOST_UNLIKE = 0.25, 1.0
"""A matrix is taken to differ by about that part from what was expected of it; by more where its trace does."""
MOST_EVENED = 8.0
"""Points are stretched by at most so much for scores to vary alike."""
LEAST_SEEN, MOST_SEEN, DOUBT = 0.8, 3.0, 0.3
"""How much more scores may give way over a step than a matrix said, and what is believed of it: half, if noise is that part."""
DETERMINED, STRAIGHT_ON = 4.0, 0.5
"""Features nearly determine an outcome of 0 and 1 if predictors are, in quadratic mean, at least DETERMINED of the longest steps,
and the last step leads on to where they point: the cosine between the two is at least STRAIGHT_ON. A step of a quarter of the
length turns predictors by 14 degrees at most."""
MOST_DOUBT = 1e100
"""Beyond it nothing is believed; its square is a float."""
MISMEASURED, BENT = 0.1, 0.5
"""A step may be off by that part of itself, because curvatures are cut off, or by more where more of them is; and by a part that
grows with how far it moves predictors, if curvatures depend on them."""


@dataclass(frozen=True)
class FullClose:
    """Where the last steps led."""

    covariance: Floats | None
    noise: Floats
    """A factor of the covariance of the last step's noise."""
    lost: Floats
    """What rows beyond the reach may have cost: row by row a vector as long as the loss in that coordinate."""
    clearly_lost: Floats
    """The same for what they clearly cost."""
    matrix: Matrix


@dataclass(frozen=True)
class Pull:
    """A noisy sum of scores, as turned points have it."""

    noisy: Floats
    deviation: float
    """Of the noise."""
    back: Floats
    """Makes of it what it is for the points of the walk."""

    @property
    def force(self) -> Floats:
        """What it is for them."""
        return np.asarray(self.back @ self.noisy)

    def is_far(self, spread: float, size: int) -> bool:
        """Whether it is much more than sampling and noise explain."""
        return float(self.noisy @ self.noisy) > size * FAR**2 * (spread**2 + self.deviation**2)

    def noise_along(self, step: Floats) -> float:
        """The deviation of its noise along a step, times the length of that."""
        return self.deviation * math.sqrt(float(np.square(self.back.T @ step).sum()))


@dataclass(frozen=True)
class ScoreReach:
    """Where the lengths of scores are cut off, and about what is lost beyond, all rows together: of lengths, of lengths as far as
    a count shows it clearly, and of squares."""

    length: float
    lost: float
    clearly_lost: float
    lost_squares: float


@dataclass(frozen=True)
class CurveReach:
    """Where the lengths of curved points are cut off; by how much more the squares of those beyond may be on average, as a part;
    and what that is of the whole matrix in one direction."""

    length: float
    excess: float
    part: float


@dataclass(frozen=True)
class PowerThinning:
    """How scores thin out: their tail, and about how many are longer than `length`, and than FARTHER times that."""

    tail: Tail
    near: float
    far: float
    length: float

    def lost(self, reach: float) -> float:
        """About what lengths lose that are cut off at a reach, all together: as the tail tells, or as a power of the length."""
        return max(_lost(self.tail, reach)[0], self.lost_by_power(reach))

    def lost_by_power(self, reach: float) -> float:
        """The latter."""
        power = math.log(max(self.near / self.far, 1.0)) / math.log(FARTHER)
        beyond = self.near * math.pow(reach / self.length, -power)
        return POWER_PART * beyond * reach / (max(power, LEAST_POWER) - 1)


class FullSteps:
    """The last steps of a walk."""

    def __init__(
        self,
        walk: Walk,
        likelihood: Likelihood,
        close: Fraction,
        *,
        likely: float,
        curved: float | None,
        expected: Callable[[], Matrix],
        unbounded: bool = False,
    ) -> None:
        """`likely` is about the length of a long score, and `curved` a typical curvature, None where all are 1; `expected` is
        what the matrix of curvatures may be expected to be where the walk is. `unbounded`: the likelihood may grow without end,
        and longer coefficients only say the same more loudly."""
        self.walk = walk
        self.likelihood = likelihood
        self.close = close
        self.likely = likely
        self.bends = curved is not None
        self.curved = 1.0 if curved is None else curved
        self.expected = expected
        self.budget = walk.context.budget
        self.points, self.turn = walk.points, np.eye(walk.size)
        self.curve_reach = self._curve_reach()
        self.unbounded = unbounded
        self.lost_the_way = self.going_on = False

    def arrive(self, signal: float) -> Estimate | None:
        """Take them, and say where they led; features may move predictors by about `signal`. None where noise alone would move
        them by more, or where the last step is not short: steps led nowhere. Where features determine the outcome, steps only go
        on along the way: there is an estimate, without a covariance."""
        closed, moved_by = self._take(), self.walk.moved_by
        if self.walk.moves_by(closed.noise) > signal or self.lost_the_way:
            return None
        return self.walk.in_columns(
            covariance=None if self.going_on else closed.covariance,
            step_noise=closed.noise,
            left_over=closed.matrix.unreached(moved_by, signal, self.walk.rows * self.curved),
            taken=len(moved_by),
            scale=None,
            matrix=closed.matrix,
            lost=(closed.lost, closed.clearly_lost),
            going_on=self.going_on,
        )

    def _take(self) -> FullClose:
        walk, plan, taken = self.walk, self.walk.plan, 1
        matrix = self._curvature(FIRST_CURVES if self.bends else Fraction(1))
        length, beyond = self._reach(ScoreLengths(self._scores), self.likely, FIRST_DRAW)
        raw_sums, unit = self._sums(length, products=True)
        pull = self._pull(raw_sums, unit, self.close * FIRST)
        products = walk.measured(raw_sums[walk.size :], LENGTH, plan.even).times((unit * BALL) ** 2)
        step = self._move(matrix, pull)
        cut_off = _lost(self._tail(length, beyond, self.likely / LONG_SCORE), length, 0.0)[1]
        spread = self._even(products.plus(cut_off / walk.size))
        left, curves = 1 - FIRST, 1 - FIRST_CURVES
        reach = self._score_reach(spread, length, self.close * left)
        while taken <= MOST_MIDDLE * self.bends and pull.is_far(spread, walk.size):
            matrix, step, pull = self._between(matrix, step, pull, _of_few_bits(math.sqrt(length * reach.length)))
            left, curves, taken = left - MIDDLE, curves - MIDDLE_CURVES, taken + 1
        if self.bends:
            matrix = self._curvature(curves)
        raw_sums, unit = self._sums(reach.length, products=bool(plan.products))
        last = self._pull(raw_sums, unit, self.close * left)
        matrix = _as_seen(matrix, step, pull, last)
        step, back = self._move(matrix, last), matrix.inverse @ last.back
        covariance = None
        if plan.products:
            seen = walk.noisy_matrix(raw_sums[walk.size :], LENGTH, plan.products)
            deviation = math.hypot(last.deviation, math.sqrt(reach.lost_squares / walk.size))
            covariance = walk.spread(seen, unit * BALL, deviation, back) + self._missed(matrix, step)
        return FullClose(covariance, back * last.deviation, back * reach.lost, back * reach.clearly_lost, matrix)

    def _between(self, matrix: Matrix, step: Floats, pull: Pull, length: float) -> tuple[Matrix, Floats, Pull]:
        """A step between the first and the last: the matrix, the step, and what pulled."""
        if self.bends:
            matrix = self._curvature(MIDDLE_CURVES)
        new = self._pull(*self._sums(length), self.close * MIDDLE)
        matrix = _as_seen(matrix, step, pull, new)
        return matrix, self._move(matrix, new), new

    def _move(self, matrix: Matrix, pull: Pull) -> Floats:
        """Take a step; with a link a shorter one, where it would move predictors far."""
        far = self.walk.moves_by(matrix.inverse @ pull.force) / FARTHEST_STEP if self.bends else 0.0
        step = self.walk.move(matrix, pull.force / max(1.0, far))
        self.going_on = far > 1 and self.unbounded and self._goes_on(step)
        self.lost_the_way = far > 1 and not self.going_on
        return step

    def _goes_on(self, step: Floats) -> bool:
        """Whether a step leads on to where predictors point, and these are long already."""
        place, products = self.walk.place, self.walk.matrix.of_safe
        length = self.walk.moves_by(place)
        along = float(place @ products @ step) / self.walk.rows
        return length >= DETERMINED * FARTHEST_STEP and along >= STRAIGHT_ON * length * self.walk.moves_by(step)

    @property
    def _scores(self) -> FullScores:
        place = np.asarray(np.linalg.solve(self.turn, self.walk.place), dtype=np.float64)
        return FullScores(self.points, line_of(place), self.likelihood)

    @property
    def _curved(self) -> FullScores:
        return FullScores(self.walk.points, self.walk.line, self.likelihood)

    def _sums(self, length: float, *, products: bool = False) -> tuple[tuple[int, ...], float]:
        """Scores and perhaps their products, cut off at a length; and what a whole unit is."""
        raw_sums = self.walk.context.table.row_sums(CutScores(self._scores, length, products=products))
        return raw_sums, unit_of(length, self.walk.size)

    def _pull(self, raw_sums: tuple[int, ...], unit: float, share: Fraction) -> Pull:
        noisy, deviation = self.walk.noisy_pull(raw_sums[: self.walk.size], LENGTH, unit * BALL, share)
        return Pull(noisy, deviation, np.asarray(np.linalg.inv(self.turn).T, dtype=np.float64))

    def _reach(self, lengths: ScoreLengths | CurveLengths, likely: float, part: Fraction) -> tuple[float, float]:
        """A length that few rows exceed, and about how many do."""
        epsilon = self.budget.draw_epsilon(self.walk.plan.reaches * part)
        beyond = min(MOST_BEYOND * self.walk.rows, max(FEWEST_BEYOND, REACH_NATS / float(epsilon)))
        raw_counts = self.walk.context.table.row_sums(lengths)
        quantile = 1 - Fraction(beyond / self.walk.rows)
        drawn = draw_magnitude(raw_counts, epsilon, self.walk.context.rng, quantile=quantile, likely=likely, under=REACH_UNDER)
        return CELL * drawn, beyond

    def _tail(self, length: float, beyond: float, typical: float) -> Tail:
        side = Side(self.walk.rows, Fraction(min(typical, length)), Fraction(length), Fraction(beyond))
        return Tail.of(side) or Tail(self.walk.rows, length, 1.0, 1.0)

    def _curve_reach(self) -> CurveReach:
        """Where the lengths of curved points are cut off."""
        size, rows, typical = self.walk.size, self.walk.rows, math.sqrt(self.curved * self.walk.size)
        length, beyond = self._reach(CurveLengths(self._curved), 1.5 * typical, CURVE_DRAW)
        share = self.walk.plan.curves * (FIRST_CURVES if self.bends else 1) * (1 - FAR_CURVES)
        unit = largest_eigenvalue(ALONG * self.budget.deviation(share, size * (size + 1) // 2), size)
        bearable, most = (math.sqrt(part * rows * self.curved / unit) for part in (CURVE_NOISE, MOST_CURVE_NOISE))
        tail = self._tail(length, beyond, typical)
        reach = _of_few_bits(min(max(length, min(bearable, tail.end(0.0))), most))
        excess = _excess(tail, reach)
        return CurveReach(reach, excess, _rows_beyond(tail, reach) * excess * reach**2 / (rows * self.curved))

    def _score_reach(self, spread: float, likely: float, share: Fraction) -> ScoreReach:
        """Where the lengths of scores are cut off in the last steps, if their sum varies by `spread` in a direction."""
        length, beyond = self._reach(ScoreLengths(self._scores), likely, LAST_DRAW)
        raw_counts = self.walk.context.table.row_sums(ScoreLengths(self._scores))
        epsilon = self.budget.draw_epsilon(self.walk.plan.reaches * TYPICAL_DRAW)
        tail = self._tail(length, beyond, draw_magnitude(raw_counts, epsilon, self.walk.context.rng, likely=length / 4))
        (first,) = cells_of(np.array([FARTHER * length])).tolist()
        noisy, deviation = self.budget.noisy([sum(raw_counts[first:])], 1, self.walk.plan.reaches * BEYOND_COUNT)
        least = LEAST_SEEN_ROWS * deviation
        thinning, clear = (PowerThinning(tail, beyond, max(far, least), length) for far in (noisy[0], noisy[0] - deviation))
        noise = self.budget.deviation(share, self.walk.size)
        quiet, bearable, most = (part * spread / noise for part in (QUIET, BEARABLE, MOST_NOISE))
        nearest = max(length, min(bearable, max(quiet, tail.end(ROOM))))
        farther = [nearest + (most - nearest) * step / TRIED for step in range(1, TRIED + 1)] if most > nearest else []

        def width(reach: float) -> float:
            return INTERVAL_ERRORS * math.hypot(spread, noise * reach) + LOST_PART * thinning.lost(reach)

        reach = _of_few_bits(min([nearest, *farther], key=width))
        clearly_lost = clear.lost_by_power(reach) if clear.far > least else 0.0
        return ScoreReach(reach, thinning.lost(reach), clearly_lost, _lost(tail, reach)[1])

    def _curvature(self, part: Fraction) -> Matrix:
        """The noisy matrix of curvatures, for a part of their share, and what was expected of it."""
        table, share, reach = self.walk.context.table, self.walk.plan.curves * part, self.curve_reach
        measured = self.walk.measured(table.row_sums(CutCurves(self._curved, reach.length)), LENGTH, share * (1 - FAR_CURVES))
        far = self.walk.measured(table.row_sums(FarDirections(self._curved, reach.length)), LENGTH, share * FAR_CURVES)
        unit = unit_of(reach.length, self.walk.size) * BALL
        kept, beyond = measured.times(unit**2), far.above_noise().times(reach.excess * unit**2)
        whole = Matrix.of(kept.whole + beyond.whole, math.hypot(kept.noise, beyond.noise))
        expected, rows = self.expected(), self.walk.rows * self.curved
        unlike = (whole.trace - expected.trace - whole.noise) / rows
        return _blended(whole, expected, min(max(unlike, LIKENESS), MOST_UNLIKE) * rows)

    def _even(self, products: Matrix) -> float:
        """Turn the points of scores so that these vary alike in all directions, and say how much their sum varies then."""
        deviations = np.sqrt(np.maximum(products.eigenvalues, products.noise))
        middle = math.exp(float(np.mean(np.log(deviations))))
        stretch = np.clip(middle / deviations, 1 / MOST_EVENED, MOST_EVENED)
        before = self.walk.points.turned
        evened = (products.vectors * stretch) @ products.vectors.T
        self.points = replace(self.walk.points, turn=whole_turn(before @ evened))
        self.turn = np.asarray(np.linalg.solve(before, self.points.turned), dtype=np.float64)
        return middle

    def _missed(self, matrix: Matrix, step: Floats) -> Floats:
        """The covariance of what a step may have missed, because its matrix is not quite right."""
        bent = BENT * matrix.length(step) / math.sqrt(self.walk.rows * self.curved) if self.bends else 0.0
        noise = matrix.noise / (2 * math.sqrt(self.walk.size))
        mismeasured = min(1.0, max(MISMEASURED, self.curve_reach.part))
        along = (mismeasured**2 + min(1.0, bent) ** 2) * np.outer(step, step)
        return np.asarray(along + noise**2 * float(step @ step) * matrix.inverse @ matrix.inverse)


def _of_few_bits(length: float) -> float:
    """A length rounded down, so that it does not depend on the last bits of a machine's linear algebra."""
    mantissa, exponent = math.frexp(length)
    return math.ldexp(math.floor(math.ldexp(mantissa, REACH_BITS)), exponent - REACH_BITS)


def _blended(measured: Matrix, expected: Matrix, likeness: float) -> Matrix:
    """A measured matrix and what was expected of it, each by how far it may be off."""
    part = likeness**2 / (likeness**2 + measured.noise**2)
    return Matrix.of(part * measured.whole + (1 - part) * expected.whole, math.sqrt(part) * measured.noise)


def _as_seen(matrix: Matrix, step: Floats, before: Pull, after: Pull) -> Matrix:
    """The matrix, made to agree with how much scores gave way over a step, as far as that is no noise."""
    with np.errstate(over="ignore", invalid="ignore"):
        expected = matrix.whole @ step
        along = float(step @ expected)
    if not 0 < along < math.inf:
        return matrix
    seen = min(max(float(step @ (before.force - after.force)) / along, LEAST_SEEN), MOST_SEEN) - 1
    doubt = math.hypot(before.noise_along(step), after.noise_along(step)) / along
    if not doubt <= MOST_DOUBT:
        return matrix
    more = seen * DOUBT**2 / (DOUBT**2 + doubt**2)
    return Matrix.of(matrix.whole + more / along * np.outer(expected, expected), matrix.noise)


def _nats(tail: Tail, reach: float, exponent: float) -> float:
    """ln(rows of a tail / rows beyond a reach), for an exponent."""
    return max(tail.nats * math.pow(reach / tail.reach, 1 / exponent), math.log(2))


def _rows_beyond(tail: Tail, reach: float) -> float:
    """About how many rows lie beyond a reach."""
    return tail.noisy_rows * math.exp(-_nats(tail, reach, tail.exponent))


def _excess(tail: Tail, reach: float) -> float:
    """How much more than its square at the reach a row beyond it has on average, as a part."""
    steps = (np.arange(64) + 0.5) / 64
    return float(np.mean((1 - np.log(steps) / _nats(tail, reach, tail.exponent)) ** (2 * tail.exponent))) - 1


def _lost(tail: Tail, reach: float, hedge: float = HEDGE) -> tuple[float, float]:
    """About what rows beyond the reach lose there, all together, of their lengths and of the squares of these, where the
    tail is heavier than seen by `hedge`."""
    exponent = tail.exponent + hedge
    nats = _nats(tail, reach, exponent)
    rows, more = tail.noisy_rows * math.exp(-nats), exponent / nats
    return rows * reach * more, rows * reach**2 * ((1 + more) ** 2 - 1)
