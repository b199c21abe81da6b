"""Broken twins of regressions with a link: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.regression.families import ROOM, PoissonOutcomes, Pulls, exp_of
from dpstats.statistics.regression.link_sums import LinkProducts, OutcomePoints
from dpstats.statistics.regression.points import Floats


@dataclass(frozen=True)
class UncutPoisson(PoissonOutcomes):
    """Counts. Mistake: pulls are measured in units of the cut, but not cut off there."""

    def of(self, raw_predictors: Floats, raw_outcomes: Floats) -> Pulls:
        """Pulls are outcomes less means, over about their standard deviations."""
        raw_means = exp_of(raw_predictors) * self.level
        raw_variances = raw_means + ROOM
        raw_deviations = np.sqrt(raw_variances)
        raw_pulls = (np.maximum(raw_outcomes, 0.0) - raw_means) / (raw_deviations * self.cut)
        return Pulls(raw_deviations / math.sqrt(self.level + ROOM), raw_pulls, raw_means / raw_variances)


@dataclass(frozen=True)
class StretchedOutcomes(OutcomePoints):
    """The points of rows. Mistake: they are held within the ball first and stretched afterwards, which leads out of it again."""

    def of(self, raw_rows: Floats) -> tuple[Pulls, Floats, Floats]:
        """What rows say, the weights of their points, and these stretched."""
        raw_points = self.points.of(raw_rows)
        pulls = self.family.of(self.line.at(raw_points), raw_rows[:, -1])
        raw_weights = self.points.weights(raw_points)
        raw_ball = self.points.bounded(raw_points, raw_weights)
        if pulls.raw_roots is not None:
            raw_ball = np.trunc(raw_ball * pulls.raw_roots[:, None])
        return pulls, raw_weights, raw_ball


@dataclass(frozen=True)
class NarrowProducts(LinkProducts):
    """Products of curved points. Mistake: the ball shrinks by the largest curvature, but points are curved by its root only."""

    @property
    def radius(self) -> int:
        """Too small."""
        return -(-self.outcomes.points.radius // self.outcomes.family.most_curved**2)
