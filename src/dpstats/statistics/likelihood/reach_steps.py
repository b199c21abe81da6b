"""Reach steps: from the bounded search to the maximum of the likelihood itself, by noisy means of scores cut off at a private reach.

Claim      What it takes from the budget, for one row added or removed
Neighbors  ADD_REMOVE; the budget pays for CHANGE_ONE
Why        A start and a few steps with bounded scores as in score_steps.py. Then Newton's steps: lengths of scores are counted in
           public cells, and draws by rank tell how far they reach but for a few rows; scores are cut off there, summed up in
           whole numbers of a bounded length, and get noise; so do the slopes of scores, and in the last step their products.
           Nothing is taken off that holds under the family alone, so that the steps lead to where the mean score is 0
Numerics   Exact from whole numbers to noisy sums; floats after that
Source     score_steps.proof.md; errors whether or not the family fits: Huber 1967, White 1982
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.bounded_scores import L2_UNITS, Stand
from dpstats.statistics.likelihood.score_steps import LONGEST, POSSIBLE, ScoreEstimate, ScoreWalk, stands
from dpstats.statistics.likelihood.score_sums import LengthCells, ScoreProducts, matrix_of_triangle, slopes_at, triangle_size
from dpstats.statistics.regression.budget_split import part
from dpstats.statistics.regression.octaves import CELLS, draw_magnitude

FEWEST_NATS = 60.0
REACH_NATS = 12.0
CELL = 2**0.25
LIKELY = 3.0
EARLY_NATS, EARLY_MOST, EARLY_LEAST = 25.0, 0.05, 0.01
EARLY_SHARE = Fraction(25, 100)
COUNT_SHARE = Fraction(2, 100)
ROUGHLY = 0.3
MOST_EARLY = 6
MOST_PILOTS = 4
LAST_LEAST = Fraction(50, 100)
PILOT_REACH = (200.0, 0.015, 0.05)
PILOT_SUMS = (150.0, 0.03, 0.08)
PILOT_SLOPES = (60.0, 0.02, 0.05)
LAST_REACH = (500.0, 0.05, 0.14)
NEAR_PART = Fraction(2, 5)
SLOPES_PART = Fraction(1, 4)
LAST_SLOPES = (100.0, 0.02, 0.06)
LAST_PRODUCTS = (250.0, 0.05, 0.1)
MOST_BEYOND, NEARER = 0.1, 5.0
SLOPES_ROOM = 1.5
NEAR, SURELY = 0.05, 2.0
FAR, TOO_FAR = 0.4, 4.0
DOUBTFUL = 0.5
LEAST_SLOPE = 0.25
CURVED = 0.25
MOST_LOST = 2.0
LOST_PART = 1.0
LEAST_EXPONENT, MOST_EXPONENT = 0.5, 3.0
OCTAVES = 10
HEDGE_TIMES, HEDGE, HEDGE_PER_NAT = 1.3, 0.4, 2.0
INNER = 0.25
BEARABLE_NOISE = 0.45
PILOT_NOISE = 2.0
USUAL = 1.96
MOST_SLOPES = 24
CAUTION = 0.7
BEARABLE = 0.5
MORE_PART = 1.0
HALVINGS = 30
FARTHEST_REACH = 16.0
TOO_NOISY = 0.4


@dataclass(frozen=True)
class ReachStep:
    """One Newton step."""

    stand: Stand
    length: float
    error: float
    covariance: Floats
    noise: Floats
    lost: Floats

    @property
    def is_short(self) -> bool:
        return self.length <= max(NEAR, SURELY * self.error)


class ReachWalk(ScoreWalk):
    """One estimate on its way to the maximum of the likelihood."""

    def walk(self, columns: int) -> ScoreEstimate | None:
        noisy_rows, self.nats = self._count_rows()
        if self.nats < FEWEST_NATS:
            return None
        stand = self._start(columns, self.nats)
        if stand is None or not stands(stand):
            return None
        size = len(stand.theta)
        early = part(min(EARLY_MOST, max(EARLY_LEAST, size * EARLY_NATS / self.nats)))
        rows, kept, counted = float(noisy_rows), self.budget.left - EARLY_SHARE, COUNT_SHARE
        for _ in range(MOST_EARLY):
            step = self._step(stand, rows, early, counted=counted)
            stand, rows, counted = step.stand, step.rows, None
            if step.length <= max(ROUGHLY, SURELY * step.error) or self.budget.left < kept + early:
                break
        if rows < POSSIBLE * noisy_rows:
            return None
        pilot, error = None, 0.0
        for _ in range(MOST_PILOTS if not hasattr(self.family, "statistics") else 0):
            before = self.budget.left
            pilot = self._newton(stand, rows, last=False)
            error = pilot.error
            if error > TOO_NOISY: break
            stand = pilot.stand
            if pilot.is_short or self.budget.left - (before - self.budget.left) < LAST_LEAST:
                break
        last = self._newton(stand, rows, last=True)
        self.trace = dict(early=step, pilot=pilot, last=last)
        if not hasattr(self.family, "statistics") and last.length > max(FAR, TOO_FAR * math.hypot(error, last.error)):
            return None
        if not np.isfinite(last.covariance).all(): return None
        return ScoreEstimate(last.stand.theta, last.covariance, last.noise, max(1, round(rows)))

    def _share(self, of: tuple[float, float, float], times: float = 1.0) -> Fraction:
        nats, least, most = of
        return part(min(most, max(least, times * nats / self.nats)))

    def _newton(self, stand: Stand, rows: float, *, last: bool) -> ReachStep:
        size = len(stand.theta)
        exact = hasattr(self.family, "statistics")
        slopes = None if exact or size > MOST_SLOPES else slopes_at(stand)
        raw_cells = self.table.row_sums(LengthCells(stand.scores(math.inf), slopes))
        reach_share = self._share(LAST_REACH if last else PILOT_REACH)
        reach, beyond = self._reach(raw_cells[:CELLS], rows, reach_share, LIKELY * math.sqrt(size))
        many = min(NEARER * beyond, rows / 2)
        near = CELL * draw_magnitude(raw_cells[:CELLS], self.budget.draw_epsilon(reach_share * NEAR_PART), self.rng, quantile=1 - part(many / rows), likely=reach / 2)
        reach = min(reach, FARTHEST_REACH * near)
        # slopes
        matrix, matrix_noise = np.eye(size), 0.0
        if slopes is not None:
            wide, wide_beyond = self._reach(raw_cells[CELLS:], rows, reach_share * SLOPES_PART, LIKELY * size)
            slopes = replace(slopes, bound=wide * SLOPES_ROOM)
            share = self._share(LAST_SLOPES if last else PILOT_SLOPES, triangle_size(size) / 3)
            noisy, deviation = self.budget.noisy(self.table.row_sums(slopes), L2_UNITS, share)
            unit = slopes.bound / slopes.unit / rows
            matrix_noise = deviation * unit
            matrix = matrix_of_triangle(np.array(noisy, dtype=np.float64) * unit, size)
            if math.sqrt(2 * size) * matrix_noise > DOUBTFUL * 2:
                matrix, matrix_noise = np.eye(size), 0.5
        eigenvalues, vectors = np.linalg.eigh(matrix)
        floor = max(LEAST_SLOPE, matrix_noise)
        inverse = (vectors / np.maximum(eigenvalues, floor)) @ vectors.T
        # scores
        products_share = self._share(LAST_PRODUCTS, triangle_size(size) / 3) if last else None
        share = self.budget.left - products_share if last else self._share(PILOT_SUMS, size / 2)
        tail = ScoreTail(rows, near, many, reach, beyond)
        per = self.budget.deviation(share, size) / rows
        bound = tail.cut(per, size, tail.bearable if last else PILOT_NOISE)
        lost = LOST_PART * tail.lost(bound)
        scores = stand.scores(bound)
        if last:
            square = self.budget.deviation(products_share, triangle_size(size)) / rows
            typical = tail.square(bound) / size
            closer = min(bound, max(reach, math.sqrt(BEARABLE * typical / square)))
            products = ScoreProducts(stand.scores(closer))
            noisy, deviation = self.budget.noisy(self.table.row_sums(products), L2_UNITS, products_share)
            unit = closer**2 / products.unit / rows
            spread = matrix_of_triangle(np.array(noisy, dtype=np.float64) * unit, size)
            spread_noise = deviation * unit
            more = MORE_PART * (tail.square(bound) - tail.square(closer))
        *raw_sums, _ = self.table.row_sums(scores)
        noisy, deviation = self.budget.noisy(raw_sums, L2_UNITS, share)
        unit = bound / scores.unit / rows
        mean, noise = np.array(noisy, dtype=np.float64) * unit, deviation * unit
        moved = None
        solved = self._solved(stand, mean) if exact else None
        if solved is not None:
            moved, inverse = solved
            step = moved.root.T @ (self.coordinates.free(moved.theta) - self.coordinates.free(stand.theta))
            length = math.sqrt(float(step @ step))
            curved = 0.0
        else:
            step = inverse @ mean
            length = math.sqrt(float(step @ step))
            if length > LONGEST:
                step *= LONGEST / length
            moved = self._at(stand, step)
            curved = CURVED * length**2
        self.progress.step()
        error = noise * math.sqrt(float(np.square(inverse).sum()))
        covariance, alone, off = np.eye(size), np.zeros(size), np.zeros(size)
        if last:
            spread = spread - np.outer(mean, mean)
            values, axes = np.linalg.eigh(spread)
            values = np.maximum(values + CAUTION * spread_noise, spread_noise)
            values = values * (1 + more / values.sum())
            spread = (axes * values) @ axes.T
            within = spread / rows + (noise**2 + (matrix_noise * length) ** 2) * np.eye(size)
            turned = inverse @ within @ inverse.T + curved**2 * np.eye(size)
            back = np.linalg.inv((moved if solved is not None else stand).root.T)
            covariance = back @ turned @ back.T
            off = lost * np.sqrt(np.diag(back @ inverse @ (spread / values.max()) @ inverse.T @ back.T))
            deviations = np.sqrt(np.diag(covariance))
            self.debug = dict(reach=reach, near=near, beyond=beyond, bound=bound, lost=lost, noise=noise, spread=spread, matrix=matrix, mnoise=matrix_noise, snoise=spread_noise, closer=closer, more=more, length=length, share=float(share), rows=rows, theta0=stand.theta, off=off / (USUAL * deviations))
            longer = 1 + np.minimum(off / (USUAL * deviations), MOST_LOST)
            covariance = covariance * np.outer(longer, longer)
            alone = self.coordinates.slopes(moved.theta) * np.sqrt(np.square(back @ inverse).sum(axis=1)) * noise
        return ReachStep(moved, length, error, covariance, alone, off)

    def _solved(self, stand: Stand, mean: Floats) -> tuple[Stand, Floats] | None:
        """For an exponential family the parameters with that mean of scores, and how these move with it; None where numbers fail."""
        size = len(mean)
        with np.errstate(all="ignore"):
            rows = self.family.sample(stand.theta, 64 + 4 * size, np.random.default_rng(7))
            statistics = self.family.statistics(rows)
            first = _linear(statistics, stand.scores(math.inf).turned(rows))
            if first is None:
                return None
            shift, slope = first
            theta = self.coordinates.inside(self.family.solve(np.linalg.solve(slope, mean - shift)))
            moved = Stand(self.family, self.coordinates, theta)
            if not np.isfinite(theta).all() or not is_sound(moved):
                return None
            second = _linear(statistics, moved.scores(math.inf).turned(rows))
            if second is None:
                return None
        return moved, second[1] @ np.linalg.inv(slope)

    def _reach(self, raw_counts: Any, rows: float, share: Fraction, likely: float) -> tuple[float, float]:
        epsilon = self.budget.draw_epsilon(share)
        beyond = min(REACH_NATS / float(epsilon), MOST_BEYOND * rows)
        quantile = 1 - part(beyond / max(rows, 1.0))
        return CELL * draw_magnitude(raw_counts, epsilon, self.rng, quantile=quantile, likely=likely), beyond

    def _at(self, stand: Stand, step: Floats) -> Stand:
        for halved in range(HALVINGS):
            moved = Stand(self.family, self.coordinates, stand.moved(step / 2**halved))
            if is_sound(moved):
                return moved
        return stand


def is_sound(stand: Stand) -> bool:
    try:
        with np.errstate(all="ignore"):
            return bool(np.isfinite(stand.root).all())
    except (np.linalg.LinAlgError, ValueError):
        return False


def _linear(statistics: Floats, scores: Floats) -> tuple[Floats, Floats] | None:
    """shift, slope: scores = shift + slope @ statistics"""
    centre, scale = statistics.mean(axis=0), statistics.std(axis=0)
    if not (np.isfinite(scale).all() and (scale > 0).all()):
        return None
    design = np.column_stack([np.ones(len(statistics)), (statistics - centre) / scale])
    found, *_ = np.linalg.lstsq(design, scores, rcond=None)
    if np.abs(design @ found - scores).max() > 1e-6 * np.abs(scores).max():
        return None
    slope = found[1:].T / scale
    return found[0] - slope @ centre, slope


@dataclass(frozen=True)
class ScoreTail:
    """How many rows have scores longer than a length, as a public rule guesses from two released ones."""

    rows: float
    near: float
    many: float
    reach: float
    beyond: float

    @property
    def seen(self) -> float:
        nats, fewer = math.log(self.rows / self.beyond), math.log(self.rows / self.many)
        seen = math.log(max(self.reach / self.near, 1.0)) / math.log(nats / fewer)
        return min(MOST_EXPONENT, max(LEAST_EXPONENT, seen))

    @property
    def exponent(self) -> float:
        return HEDGE_TIMES * self.seen + HEDGE + HEDGE_PER_NAT / math.log(self.rows / self.beyond)

    @property
    def bearable(self) -> float:
        return min(0.7, max(BEARABLE_NOISE, BEARABLE_NOISE + 0.4 * (self.seen - 1.8)))

    @cached_property
    def _lengths(self) -> Floats:
        return self.reach * 2.0 ** (np.arange(20 * OCTAVES + 1) / 20)

    @cached_property
    def _shares(self) -> Floats:
        nats = math.log(self.rows / self.beyond)
        return np.exp(-nats * (self._lengths / self.reach) ** (1 / self.exponent))

    def lost(self, end: float) -> float:
        """About what scores beyond the end lose of their mean."""
        pieces = (self._shares[1:] + self._shares[:-1]) / 2 * np.diff(self._lengths)
        return float(pieces[self._lengths[:-1] >= end * 0.999].sum())

    def square(self, end: float) -> float:
        """About the mean squared length of scores cut off there."""
        pieces = (self._shares[1:] + self._shares[:-1]) / 2 * np.diff(self._lengths**2)
        inner = self.near**2 * (1 - self.many / self.rows) * INNER + (self.many - self.beyond) / self.rows * (self.near * self.reach) + self.beyond / self.rows * self.reach**2
        return inner + float(pieces[self._lengths[1:] <= end * 1.001].sum())

    def cut(self, noise: float, size: int, most: float) -> float:
        best = (math.inf, self.reach)
        for end in self._lengths[::5].tolist():
            sampling = math.sqrt(self.square(end) / size / self.rows)
            if noise * end > most * sampling and end > self.reach:
                break
            best = min(best, (USUAL * math.hypot(sampling, noise * end) + self.lost(end), end))
        return best[1]
