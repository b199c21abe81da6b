"""Bounded scores: the sum over rows of scores that are held within a ball, in whole numbers.

Claim      A `RowSum`; what one row adds to the scores has a Euclidean length of at most l2_units, and to the number of rows 1
Why        A score is turned so that its covariance would be the identity, shortened to the bound, scaled to a little less than
           l2_units and rounded to whole numbers, which lengthens it by less than what was left; a last check in whole numbers
           drops what is longer all the same. A row's score depends on that row and on public parameters
Numerics   Floats up to the rounding, one coordinate after the other, so that a row's numbers do not depend on its neighbours
Source     score_steps.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.family import SmoothFamily
from dpstats.statistics.likelihood.public_rows import PublicRows, public_rows

L2_UNITS = 1 << 20
"""The ball's radius in whole units."""
FARTHEST_MOVE = 6.0
"""No step multiplies a positive parameter by more than the exponential of this: absurd laws are too much for scipy."""
BOUNDS = (1.2, 1.6, 2.1, 2.8, 3.7, 5.0, 7.0)
"""Bounds that are tried, times the root of the number of parameters: where a turned score's length lies mostly."""


@dataclass(frozen=True)
class BoundedScores:
    """The scores of rows at public parameters."""

    family: SmoothFamily
    theta: tuple[float, ...]
    turn: tuple[tuple[float, ...], ...]
    """What the gradient by the parameters is multiplied by."""
    bound: float
    """Turned scores longer than this are shortened to it."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up; then the number of rows that can come from the family, whose scores are not 0."""
        raw_turned = self.turned(raw_rows)
        raw_sums, raw_possible = whole_sums(raw_turned, self.bound, self.unit), np.count_nonzero(lengths_of(raw_turned))
        return np.array([*raw_sums, raw_possible], dtype=np.int64)

    @property
    def unit(self) -> int:
        """The length of a score at the bound, in whole units: rounding lengthens it by half the root of their number at most."""
        return L2_UNITS - len(self.theta)

    def turned(self, raw_rows: Floats) -> Floats:
        """The turned scores of rows; 0 where one is no number."""
        with np.errstate(all="ignore"):
            raw_scores = self.family.scores(raw_rows, np.array(self.theta))
            raw_turned = np.stack([(raw_scores * np.array(row)).sum(axis=1) for row in self.turn], axis=1)
            raw_finite = np.isfinite(lengths_of(raw_turned))
        return np.where(raw_finite[:, None], raw_turned, 0.0)


def whole_sums(raw_vectors: Floats, bound: float, unit: int) -> Floats:
    """The sum of vectors that are shortened to the bound, in whole numbers: `unit` is the bound in the ball's units."""
    raw_whole = np.rint(raw_vectors * (unit / np.maximum(lengths_of(raw_vectors), bound))[:, None])
    raw_short = np.square(raw_whole).sum(axis=1) <= float(L2_UNITS) ** 2
    return np.asarray(np.where(raw_short[:, None], raw_whole, 0.0).sum(axis=0))


def lengths_of(raw_vectors: Floats) -> Floats:
    """The Euclidean length of each row."""
    with np.errstate(over="ignore"):
        return np.asarray(np.sqrt(np.square(raw_vectors).sum(axis=1)))


@dataclass(frozen=True)
class Expected:
    """What bounded scores are expected to be at public parameters, if rows follow the family there."""

    bound: float
    mean: Floats
    slope: Floats
    """How the mean grows with the parameters, in turned coordinates."""
    covariance: Floats

    @cached_property
    def inverse(self) -> Floats:
        """From a difference of means to one of turned coordinates."""
        return np.asarray(np.linalg.inv(self.slope), dtype=np.float64)

    def error(self, rows: float, noise: float) -> Floats:
        """The covariance, in turned coordinates, of an estimate from `rows` rows with noise of deviation `noise` in each mean."""
        spread = self.covariance / rows + noise**2 * np.eye(len(self.mean))
        return np.asarray(self.inverse @ spread @ self.inverse.T)


@dataclass(frozen=True)
class Stand:
    """Public parameters, and the turn that makes scores there have the identity as their covariance."""

    family: SmoothFamily
    coordinates: Coordinates
    theta: Floats

    @cached_property
    def root(self) -> Floats:
        """The Cholesky root of the information by free coordinates; raises LinAlgError where there is none."""
        slopes = self.coordinates.slopes(self.theta)
        information = self.family.information(self.theta) * np.outer(slopes, slopes)
        if not np.isfinite(information).all():
            raise np.linalg.LinAlgError
        return np.asarray(np.linalg.cholesky(information), dtype=np.float64)

    def scores(self, bound: float) -> BoundedScores:
        """The scores of rows here."""
        turn = np.linalg.solve(self.root, np.diag(self.coordinates.slopes(self.theta)))
        return BoundedScores(self.family, tuple(self.theta.tolist()), tuple(map(tuple, turn.tolist())), bound)

    @cached_property
    def expected(self) -> list[Expected]:
        """What scores are expected to be, for each of the bounds."""
        public = public_rows(self.family, self.theta)
        plain = self.scores(math.inf).turned(public.rows)
        return [_expected(public, plain, bound * math.sqrt(len(self.theta))) for bound in BOUNDS]

    def moved(self, step: Floats) -> Floats:
        """The parameters at a step in turned coordinates from here."""
        moves = np.linalg.solve(self.root.T, step)
        bounded = np.isfinite(np.array(self.coordinates.space)).any(axis=1)
        moves[bounded] = np.clip(moves[bounded], -FARTHEST_MOVE, FARTHEST_MOVE)
        return self.coordinates.held(self.coordinates.free(self.theta) + moves)


def _expected(public: PublicRows, plain: Floats, bound: float) -> Expected:
    """From the unbounded scores of public rows. These are 0 in the mean, exactly, which mends the mean of a random sample."""
    held = plain * np.minimum(1.0, bound / np.maximum(lengths_of(plain), 1e-300))[:, None]
    weighted = held * public.weights[:, None]
    slope, mean = weighted.T @ plain, weighted.sum(axis=0)
    covariance = weighted.T @ held - np.outer(mean, mean)
    if public.simulated:
        mean = mean - slope @ (public.weights @ plain)
    return Expected(bound, mean, slope, covariance)
