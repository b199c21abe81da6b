"""Sums over the points of rows whose outcomes belong to a family: scores, and products that curve.

Claim      Each is a `RowSum`; what one row adds has a Euclidean length of at most `l2_units`, or lies within the stated radius
Why        As sums.py: points are held within a ball after the family has stretched them; a pull is at most PULL, and a curved
           point at most one over `most_curved` of the ball
Numerics   Whole numbers from the ball on, in floats that hold them exactly
Source     links.proof.md, steps.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.families import OutcomeFamily, PoissonOutcomes, Pulls
from dpstats.statistics.regression.octaves import count_cells
from dpstats.statistics.regression.points import Floats, Points, WholeLine
from dpstats.statistics.regression.sums import upper

PULL = 1 << 14
"""The largest pull in its units."""


@dataclass(frozen=True)
class OutcomePoints:
    """The points of rows at a line, as a family has them."""

    points: Points
    line: WholeLine
    family: OutcomeFamily

    def of(self, raw_rows: Floats) -> tuple[Pulls, Floats, Floats]:
        """What rows say, the weights of their points, and these within the ball."""
        raw_points = self.points.of(raw_rows)
        pulls = self.family.of(self.line.at(raw_points), raw_rows[:, -1])
        if pulls.raw_roots is not None:
            raw_points = self.points.held(raw_points * pulls.raw_roots[:, None])
        raw_weights = self.points.weights(raw_points)
        return pulls, raw_weights, self.points.bounded(raw_points, raw_weights)


@dataclass(frozen=True)
class LinkScores:
    """The score, and where they are wanted the products of the scores' coordinates."""

    outcomes: OutcomePoints
    products: bool = False

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        pulls, raw_weights, raw_ball = self.outcomes.of(raw_rows)
        raw_pulls = np.trunc(pulls.raw_pulls * raw_weights * PULL)
        raw_score: NDArray[np.int64] = (raw_ball * raw_pulls[:, None]).sum(axis=0).astype(np.int64)
        if not self.products:
            return raw_score
        return np.concatenate([raw_score, upper(np.trunc(raw_ball * (raw_pulls * (1.0 / PULL))[:, None]))])

    @property
    def l2_units(self) -> int:
        """The L2 sensitivity of the score, in units."""
        return PULL * self.outcomes.points.radius


@dataclass(frozen=True)
class LinkProducts:
    """Products of the coordinates of curved points."""

    outcomes: OutcomePoints

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        pulls, _, raw_ball = self.outcomes.of(raw_rows)
        return upper(np.trunc(raw_ball * np.sqrt(pulls.raw_curves)[:, None]))

    @property
    def radius(self) -> int:
        """Curved points lie within it."""
        return -(-self.outcomes.points.radius // self.outcomes.family.most_curved)


@dataclass(frozen=True)
class CountSizes:
    """The cells of how many standard deviations counts are away from their means."""

    points: Points
    line: WholeLine
    family: PoissonOutcomes

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(self.family.magnitudes(self.line.at(self.points.of(raw_rows)), raw_rows[:, -1]))


@dataclass(frozen=True)
class ClippedOutcomes:
    """The sum of outcomes that are cut off at 0 and 1, in units of PULL."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        return np.array([np.trunc(np.clip(raw_rows[:, -1], 0.0, 1.0) * PULL).sum()], dtype=np.int64)


@dataclass(frozen=True)
class Counts:
    """The cells of outcomes above 0."""

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Count them."""
        return count_cells(np.maximum(raw_rows[:, -1], 0.0))
