"""Reach steps: from the bounded search to the maximum of the likelihood itself, whether or not the family fits.

Claim      What it takes from the budget, for one row added or removed
Neighbors  ADD_REMOVE; the budget pays for CHANGE_ONE
Why        A start and a few steps with bounded scores, as in score_steps.py. Then Newton's steps: lengths of scores are counted
           in public cells, and draws by rank tell how long they are but for a few rows; scores are cut off there, or further
           out, summed up in whole numbers of a bounded length, and get noise; so do their slopes, and in the last step their
           products. Nothing is taken off that holds under the family alone, so that the steps lead to where the mean score is 0
Numerics   Exact from whole numbers to noisy sums; floats after that
Source     score_steps.proof.md; errors whether or not the family fits: Huber 1967, White 1982
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.accounting.allowance import part
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, Stand
from dpstats.statistics.likelihood.family import Family
from dpstats.statistics.likelihood.score_steps import FEWEST_NATS, HALVINGS, LONGEST, POSSIBLE, ScoreEstimate, ScoreWalk, stands
from dpstats.statistics.likelihood.score_sums import LengthCells, ScoreProducts, matrix_of_triangle, slopes_at, triangle_size
from dpstats.statistics.likelihood.score_tails import LEAST_CURVED, LEAST_EXPONENT, USUAL, ScoreTail
from dpstats.statistics.regression.octaves import CELLS, draw_magnitude

MOST_SEARCHES, SEARCH_SHARE, COUNT_SHARE = 6, Fraction(20, 100), Fraction(2, 100)
"""Bounded steps are at most so many, for at most that share of the whole; the first also counts the rows that can be."""
SEARCH = (25.0, 0.01, 0.05)
ROUGHLY = 0.3
"""They end with one that is no longer than this, in standard deviations of a row's score, or than SURELY of its errors."""
MOST_PILOTS, APPROACH = 3, Fraction(15, 100)
"""Short steps of Newton's before the last; what the scores of one more take, which is cut off about as far out as the last."""
NEAR, SURELY = 0.05, 1.5
"""One is short if it is no longer than NEAR, or than SURELY of its errors."""
FAR, TOO_FAR = 0.4, 4.0
"""If the last step is longer than FAR, and than TOO_FAR errors of itself and the step before, the steps led nowhere."""
TOO_NOISY = 0.4
"""A step whose error is larger is not taken."""
PILOT_NOISE, APPROACH_NOISE = 2.0, 1.0
"""In steps before the last, noise may be so many times the sampling error."""
REACH_NATS = 12.0
"""Rows beyond a reach, times the epsilon of its draw, so that it is not drawn where no row is."""
MOST_BEYOND, NEARER, FARTHEST_REACH = 0.1, 5.0, 16.0
"""A reach has at most that share of the rows beyond it, a nearer length NEARER times as many; no reach is FARTHEST_REACH times as
long as that."""
LIKELY, FARTHER = 3.0, 2.0
"""A likely reach, times the root of the number of parameters; over the nearer length."""
LONGEST_LENGTH = 1e6
"""No private length is taken to be longer, in standard deviations of a row's score: one that is was drawn where no row is, or the
start is absurd, and squares of what follows would be no floats."""
CELL = 2**0.25
"""From the lower end of a cell of lengths to its upper end."""
SLOPES_ROOM, SLOPES_NOISE = 1.5, 0.1
"""Slopes are cut off so many times beyond their reach, or as far as scores where that makes noise of no more than this."""
DOUBTFUL, UNKNOWN_SLOPE = 0.5, 0.5
"""Where noise makes eigenvalues of the slope more uncertain than this, the expected one is taken; it may be off by so much."""
LEAST_SLOPE = 0.25
MOST_SLOPES = 24
"""With more parameters slopes are those expected under the family."""
BEARABLE_SQUARES, CAUTION = 0.5, 1.0
"""Products are cut off where their noise is such a part of them; they are taken to be larger by CAUTION deviations of it."""
CURVED = 0.25
"""A step may be off by about so much of its square."""
MOST_LOST = 2.0
"""An interval is lengthened for what is cut off by at most this many times its half."""
PUBLIC, SEED, MISFIT = 64, 7, 1e-6
"""Public rows from which it is read how scores follow from sufficient statistics, and how exact that must be."""


Nats = tuple[float, float, float]
"""A share by rows that are worth so many nats, and the least and the most that it can be."""
PILOT_REACH, PILOT_SLOPES, PILOT_SUMS = (200.0, 0.015, 0.05), (60.0, 0.02, 0.05), (150.0, 0.03, 0.08)
LAST_REACH, LAST_SLOPES, LAST_PRODUCTS = (500.0, 0.05, 0.14), (100.0, 0.02, 0.06), (250.0, 0.05, 0.1)
NEAR_PART, SLOPES_PART = Fraction(2, 5), Fraction(1, 4)
"""What the nearer length and the reach of slopes take, of what the reach takes."""
MOST_BESIDE = Fraction(6, 10)
"""All that the last step buys beside its scores takes at most so much of what is left."""
LAST_LEAST = Fraction(25, 100)
"""The scores of the last step get at least this share, if steps before it can do with less."""


@dataclass(frozen=True)
class NewtonPlan:
    """What a step spends beside its scores, as shares of the whole."""

    reach: Fraction
    near: Fraction
    slopes_reach: Fraction
    slopes: Fraction
    products: Fraction

    @property
    def cost(self) -> Fraction:
        """All of it."""
        return self.reach + self.near + self.slopes_reach + self.slopes + self.products

    def within(self, most: Fraction) -> NewtonPlan:
        """The plan, or where it costs more than `most`, the same with less for everything."""
        times = part(float(most / self.cost)) if self.cost > most else Fraction(1)
        return NewtonPlan(*(getattr(self, each.name) * times for each in fields(self)))


@dataclass(frozen=True)
class Slope:
    """How the mean score answers to the parameters, in turned coordinates."""

    inverse: Floats
    noise: float
    """The deviation of each number of the matrix, or about how far it may be off."""


@dataclass(frozen=True)
class NewtonStep:
    """One step, in turned coordinates."""

    stand: Stand
    mean: Floats
    """The noisy mean of scores."""
    inverse: Floats
    """What it was multiplied by, at the end of the step."""
    length: float
    noise: float
    """The deviation of the mean's noise."""
    off: float
    """About how far the step may be off because it is one, and long."""

    @property
    def error(self) -> float:
        """The deviation of the step by noise."""
        return self.noise * math.sqrt(float(np.square(self.inverse).sum()))

    @property
    def is_short(self) -> bool:
        """Whether one more would not change much."""
        return self.length <= max(NEAR, SURELY * self.error)


class ReachWalk(ScoreWalk):
    """One estimate on its way to the maximum of the likelihood."""

    nats = 0.0

    def walk(self, columns: int) -> ScoreEstimate | None:
        """All of it; None where there are too few rows, or too few that the family can have made, or the steps led nowhere, by
        released numbers."""
        self.nats = self._count_rows()
        if self.nats < FEWEST_NATS:
            return None
        stand = self._start(columns, self.nats)
        if stand is None or not stands(stand):
            return None
        stand, rows = self._search(stand)
        if rows < POSSIBLE * self.noisy_rows:
            return None
        error = 0.0
        if not is_exponential(self.family):
            stand, error = self._approach(stand, rows)
        return self._last(stand, rows, error)

    def _approach(self, stand: Stand, rows: float) -> tuple[Stand, float]:
        """Short steps, and one that is cut off about as far out as the last; where they lead, and the error of that."""
        size, error = len(stand.theta), 0.0
        plan, sums = self._plan(size, PILOT_REACH, PILOT_SLOPES), self._share(PILOT_SUMS, size / 2)
        kept = self._plan(size, LAST_REACH, LAST_SLOPES, LAST_PRODUCTS).cost + LAST_LEAST
        for _ in range(MOST_PILOTS):
            if self.budget.left < kept + plan.cost + sums:
                return stand, error
            pilot = self._pilot(stand, rows, plan, sums, PILOT_NOISE)
            error = pilot.error
            if error > TOO_NOISY:
                return stand, error
            stand = pilot.stand
            if pilot.is_short or self.budget.left < kept + 2 * plan.cost + sums + APPROACH:
                break
        if self.budget.left < kept + plan.cost + APPROACH:
            return stand, error
        nearer = self._pilot(stand, rows, plan, APPROACH, APPROACH_NOISE)
        return (nearer.stand, nearer.error) if nearer.error <= TOO_NOISY else (stand, error)

    def _search(self, stand: Stand) -> tuple[Stand, float]:
        """Bounded steps to about the bulk of the rows, and the number of rows that can come from the family."""
        share = self._share(SEARCH, len(stand.theta))
        rows, kept = float(self.noisy_rows), self.budget.left - SEARCH_SHARE
        counted: Fraction | None = COUNT_SHARE
        for _ in range(MOST_SEARCHES):
            step = self._step(stand, rows, share, counted=counted)
            stand, rows, counted = step.stand, step.rows, None
            if step.length <= max(ROUGHLY, SURELY * step.error) or self.budget.left < kept + share:
                break
        return stand, rows

    def _pilot(self, stand: Stand, rows: float, plan: NewtonPlan, share: Fraction, bearable: float) -> NewtonStep:
        """A step at a small part of the budget; noise may be `bearable` times the sampling error."""
        raw_cells = self._raw_cells(stand)
        tail = self._tail(raw_cells, rows, stand, plan)
        bound = tail.cut(self.budget.deviation(share, len(stand.theta)) / rows, len(stand.theta), bearable)
        slope = self._slope(stand, raw_cells, rows, plan, bound / tail.reach)
        return self._newton(stand, rows, bound, slope, share)

    def _last(self, stand: Stand, rows: float, before: float) -> ScoreEstimate | None:
        """The last step, at what is left, and its errors; None where it is far too long. `before` is the error of the start."""
        size = len(stand.theta)
        plan = self._plan(size, LAST_REACH, LAST_SLOPES, LAST_PRODUCTS).within(self.budget.left * MOST_BESIDE)
        share = self.budget.left - plan.cost
        raw_cells = self._raw_cells(stand)
        tail = self._tail(raw_cells, rows, stand, plan)
        bound = tail.cut(self.budget.deviation(share, size) / rows, size, tail.bearable)
        slope = self._slope(stand, raw_cells, rows, plan, bound / tail.reach)
        spread = self._spread(stand, rows, tail, bound, plan.products)
        step = self._newton(stand, rows, bound, slope, self.budget.left)
        if step.off > 0 and step.length > max(FAR, TOO_FAR * math.hypot(before, step.error)):
            return None
        return self._estimate(stand, step, slope, spread, rows, tail.lost(bound))

    def _estimate(
        self, stand: Stand, step: NewtonStep, slope: Slope, spread: Floats, rows: float, lost: float
    ) -> ScoreEstimate | None:
        """Where the step led, with the errors of scores that vary as they do, of noise, of the step, and of what was cut off."""
        varied = spread / rows + (step.noise**2 + (slope.noise * step.length) ** 2) * np.eye(len(spread))
        there = stand if step.off > 0 else step.stand
        turn = np.linalg.solve(there.root.T, step.inverse)
        back = np.linalg.inv(there.root.T)
        covariance = turn @ varied @ turn.T + step.off**2 * (back @ back.T)
        farther = lost * np.sqrt(np.diag(turn @ (spread / np.linalg.eigvalsh(spread).max()) @ turn.T))
        deviations = np.sqrt(np.diag(covariance))
        longer = 1 + np.minimum(farther / (USUAL * deviations), MOST_LOST)
        slopes = self.coordinates.slopes(step.stand.theta)
        noise = slopes * step.noise * np.sqrt(np.square(turn).sum(axis=1))
        if not (np.isfinite(covariance).all() and np.isfinite(longer).all()):
            return None
        clipping = slopes * deviations * np.sqrt(longer**2 - 1)
        return ScoreEstimate(step.stand.theta, covariance * np.outer(longer, longer), noise, max(1, round(rows)), clipping)

    def _plan(self, size: int, reach: Nats, slopes: Nats, products: Nats | None = None) -> NewtonPlan:
        """What a step spends beside its scores."""
        share, entries = self._share(reach), triangle_size(size) / 3
        return NewtonPlan(
            share,
            share * NEAR_PART,
            share * SLOPES_PART if self._has_slopes(size) else Fraction(0),
            self._share(slopes, entries) if self._has_slopes(size) else Fraction(0),
            self._share(products, entries) if products else Fraction(0),
        )

    def _share(self, of: Nats, times: float = 1.0) -> Fraction:
        """A share of the budget: so many nats over those of all rows, clamped."""
        nats, least, most = of
        return part(min(most, max(least, times * nats / self.nats)))

    def _has_slopes(self, size: int) -> bool:
        """Whether slopes are bought; at the maximum, those of exponential families are as expected whatever rows there are."""
        return not is_exponential(self.family) and size <= MOST_SLOPES

    def _raw_cells(self, stand: Stand) -> tuple[int, ...]:
        """How many rows have scores of which length, and slopes where these are bought."""
        slopes = slopes_at(stand) if self._has_slopes(len(stand.theta)) else None
        return self.table.row_sums(LengthCells(stand.scores(math.inf), slopes))

    def _tail(self, raw_cells: Sequence[int], rows: float, stand: Stand, plan: NewtonPlan) -> ScoreTail:
        """Two private lengths of scores, of which few rows have longer ones; the nearer, which is surer, tells where the other
        may lie."""
        reach_epsilon, near_epsilon = (self.budget.draw_epsilon(share) for share in (plan.reach, plan.near))
        beyond = self._beyond(reach_epsilon, rows)
        many = min(NEARER * beyond, rows / 2)
        raw_counts = raw_cells[:CELLS]
        likely = LIKELY * math.sqrt(len(stand.theta))
        near = self._length(raw_counts, near_epsilon, many / rows, likely / FARTHER)
        reach = self._length(raw_counts, reach_epsilon, beyond / rows, max(likely, FARTHER * near))
        least = LEAST_EXPONENT if is_exponential(self.family) else LEAST_CURVED
        return ScoreTail(rows, near, many, max(near, min(reach, FARTHEST_REACH * near)), beyond, least)

    @staticmethod
    def _beyond(epsilon: Fraction, rows: float) -> float:
        """How many rows should lie beyond a length that is drawn at an epsilon."""
        return min(REACH_NATS / float(epsilon), MOST_BEYOND * rows)

    def _length(self, raw_counts: Sequence[int], epsilon: Fraction, share: float, likely: float) -> float:
        """A private length that about a share of the rows exceed."""
        drawn = draw_magnitude(raw_counts, epsilon, self.rng, quantile=1 - part(share), likely=likely)
        return min(CELL * drawn, LONGEST_LENGTH)

    def _slope(self, stand: Stand, raw_cells: Sequence[int], rows: float, plan: NewtonPlan, farther: float) -> Slope:
        """The observed slope, from the rows' own; the expected one where it follows from the family, or where noise hides it."""
        size = len(stand.theta)
        if not self._has_slopes(size):
            return Slope(np.eye(size), 0.0 if is_exponential(self.family) else UNKNOWN_SLOPE)
        epsilon = self.budget.draw_epsilon(plan.slopes_reach)
        reach = self._length(raw_cells[CELLS:], epsilon, self._beyond(epsilon, rows) / rows, LIKELY * size)
        per_length = self.budget.deviation(plan.slopes, triangle_size(size)) / rows
        bound = max(SLOPES_ROOM * reach, min(farther * reach, SLOPES_NOISE / per_length))
        slopes = replace(slopes_at(stand), bound=bound)
        noisy_sums, deviation = self.budget.noisy(self.table.row_sums(slopes), L2_UNITS, plan.slopes)
        unit = bound / slopes.unit / rows
        if math.sqrt(size) * deviation * unit > DOUBTFUL:
            return Slope(np.eye(size), UNKNOWN_SLOPE)
        eigenvalues, vectors = np.linalg.eigh(matrix_of_triangle(np.array(noisy_sums, dtype=np.float64) * unit, size))
        return Slope((vectors / np.maximum(eigenvalues, LEAST_SLOPE)) @ vectors.T, deviation * unit)

    def _spread(self, stand: Stand, rows: float, tail: ScoreTail, bound: float, share: Fraction) -> Floats:
        """About the mean of the products of scores that are cut off at the bound, and a little more; noisy ones may be cut off
        closer in."""
        size = len(stand.theta)
        per_square = self.budget.deviation(share, triangle_size(size)) / rows
        closer = min(bound, max(tail.reach, math.sqrt(BEARABLE_SQUARES * tail.plain_square(bound) / size / per_square)))
        products = ScoreProducts(stand.scores(closer))
        noisy_sums, deviation = self.budget.noisy(self.table.row_sums(products), L2_UNITS, share)
        unit = closer**2 / products.unit / rows
        eigenvalues, vectors = np.linalg.eigh(matrix_of_triangle(np.array(noisy_sums, dtype=np.float64) * unit, size))
        safe = np.maximum(eigenvalues + CAUTION * deviation * unit, deviation * unit)
        farther = (
            (tail.square(bound) - tail.square(closer)) * safe**2 / float(np.square(safe).sum())
        )  # long scores lie along them
        return np.asarray((vectors * (safe + farther)) @ vectors.T)

    def _newton(self, stand: Stand, rows: float, bound: float, slope: Slope, share: Fraction) -> NewtonStep:
        """A step with the noisy mean of scores that are cut off at a bound."""
        scores = stand.scores(bound)
        *raw_sums, _ = self.table.row_sums(scores)
        noisy_sums, deviation = self.budget.noisy(raw_sums, L2_UNITS, share)
        unit = bound / scores.unit / rows
        mean = np.array(noisy_sums, dtype=np.float64) * unit
        self.progress.step()
        solved = solve_scores(self.family, stand, mean) if is_exponential(self.family) else None
        if solved is not None:
            moved, inverse = solved
            return NewtonStep(moved, mean, inverse, 0.0, deviation * unit, 0.0)
        step = slope.inverse @ mean
        length = math.sqrt(float(step @ step))
        moved = self._halved(stand, step * min(1.0, LONGEST / max(length, LONGEST)))
        return NewtonStep(moved, mean, slope.inverse, length, deviation * unit, max(CURVED * length**2, 1e-12))

    def _halved(self, stand: Stand, step: Floats) -> Stand:
        """A step further; half of it, and again, while the family has no information there."""
        for halved in range(HALVINGS):
            moved = Stand(self.family, self.coordinates, stand.moved(step / 2**halved))
            if is_informed(moved):
                return moved
        return stand


def is_exponential(family: Family) -> bool:
    """Whether the estimate follows from means of sufficient statistics."""
    return hasattr(family, "statistics") and hasattr(family, "solve")


def is_informed(stand: Stand) -> bool:
    """Whether the information there is a matrix that has a root."""
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(stand.root).all())
    except (np.linalg.LinAlgError, ValueError):
        return False


def solve_scores(family: Any, stand: Stand, mean: Floats) -> tuple[Stand, Floats] | None:
    """The parameters of an exponential family at which statistics have the means that the mean score at `stand` tells, and how
    these parameters move with it, in turned coordinates; None where floats do not tell."""
    rows = family.sample(stand.theta, PUBLIC + 4 * len(mean), np.random.default_rng(SEED))
    with np.errstate(all="ignore"):
        statistics = family.statistics(rows)
        here = _line_of(statistics, stand.scores(math.inf).turned(rows))
        if here is None:
            return None
        theta = stand.coordinates.inside(family.solve(np.linalg.solve(here[1], mean - here[0])))
        moved = Stand(family, stand.coordinates, theta)
        if not (np.isfinite(theta).all() and is_informed(moved)):
            return None
        there = _line_of(statistics, moved.scores(math.inf).turned(rows))
    return None if there is None else (moved, there[1] @ np.linalg.inv(here[1]))


def _line_of(statistics: Floats, scores: Floats) -> tuple[Floats, Floats] | None:
    """The constant and the matrix with which scores follow from statistics; None where they do not, to floats."""
    centre, scale = statistics.mean(axis=0), statistics.std(axis=0)
    if not (np.isfinite(scores).all() and np.isfinite(scale).all() and (scale > 0).all()):
        return None
    design = np.column_stack([np.ones(len(statistics)), (statistics - centre) / scale])
    found = np.linalg.lstsq(design, scores, rcond=None)[0]
    if np.abs(design @ found - scores).max() > MISFIT * np.abs(scores).max() or np.linalg.matrix_rank(found[1:]) < len(scale):
        return None
    matrix = found[1:].T / scale
    return found[0] - matrix @ centre, matrix
