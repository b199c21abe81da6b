"""Regressions as families: rows of features and, in the last column, an outcome.

The features are whatever they are; the likelihood is that of outcomes given them. Rows with an infinity, or with an outcome that
cannot be, are left out. Features are centred and scaled within each block first, and all blocks are solved at once by elementwise
operations, so that a block's coefficients depend on its own rows alone, to the last bit.

Logistic and Poisson coefficients are freed of bias by Firth's correction: the score has a term of the leverages of rows, which
takes the first order of the bias away and keeps estimates finite where the outcomes of a block are separated.

Source     Firth 1993; Heinze & Schemper 2002
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_designs import BlockDesign, Systems
from dpstats.statistics.likelihood.block_groups import Truths, finite_rows, fit_in_groups, kept_rows
from dpstats.statistics.likelihood.counts import whole_numbers
from dpstats.statistics.likelihood.family import Space
from dpstats.statistics.likelihood.multivariate import MultivariateNormal

ROUNDS = 60
STILL = 1e-8
"""A block is done when no coefficient of its scaled features moved by more than this."""
FARTHEST_STEP = 2.0
"""No coefficient of scaled features moves further in one round."""
SLOW = 0.4
"""Steps that are longer than this share of the one before get shorter slowly."""
FARTHEST = 100.0
"""Predictors are held between these bounds, where exponentials are finite."""


@dataclass(frozen=True)
class Regression:
    """A line: an intercept, and a coefficient for each feature."""

    features: int

    @property
    def parameters(self) -> tuple[str, ...]:
        """intercept, coef_1, ..."""
        return ("intercept", *(f"coef_{feature + 1}" for feature in range(self.features)))

    @property
    def space(self) -> Space:
        """Anything."""
        return ((-np.inf, np.inf),) * (self.features + 1)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The intercept and the vector of coefficients."""
        return {"intercept": float(values[0]), "coef": values[1:].copy()}


@dataclass(frozen=True)
class Linear(Regression):
    """A straight line with normal errors."""

    bias_correction = "coefficients: none needed; sigma: exact by degrees of freedom"
    name = "linear"

    @property
    def parameters(self) -> tuple[str, ...]:
        """intercept, coef_1, ..., sigma."""
        return (*super().parameters, "sigma")

    @property
    def space(self) -> Space:
        """Sigma is positive."""
        return (*super().space, (0.0, np.inf))

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Least squares; none where features are collinear in a block or there are no more rows than coefficients."""
        return fit_in_groups(finite_rows(raw_blocks), len(self.parameters), self._fit_group)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The intercept, the vector of coefficients, and sigma."""
        return {**super().shaped(values[:-1]), "sigma": float(values[-1])}

    def statistics(self, raw_rows: Floats) -> Floats:
        """Features and outcome, and their products by pairs."""
        return self._joint.statistics(raw_rows)

    def solve(self, means: Floats) -> Floats:
        """The line of the nearest covariance matrix that is one."""
        middle, covariance = self._joint.solved(means)
        coefficients = np.linalg.solve(covariance[:-1, :-1], covariance[:-1, -1])
        left = max(float(covariance[-1, -1] - covariance[-1, :-1] @ coefficients), float(np.finfo(np.float64).tiny))
        return np.array([middle[-1] - middle[:-1] @ coefficients, *coefficients, np.sqrt(left)])

    @property
    def _joint(self) -> MultivariateNormal:
        return MultivariateNormal(self.features + 1)

    def _fit_group(self, raw_group: RowBlocks) -> Floats:
        raw_design = BlockDesign(raw_group, self.features)
        raw_middles = raw_group.means(raw_design.raw_outcomes)
        raw_off = raw_design.raw_outcomes - raw_group.of_rows(raw_middles)
        raw_moves = Systems(raw_design.products(np.ones(len(raw_off)))).solve(raw_design.pulls(raw_off))
        raw_squares = raw_group.sums((raw_off - raw_design.predictors(raw_moves)) ** 2)
        raw_moves[0] = raw_moves[0] + raw_middles
        raw_free = raw_group.raw_counts - (self.features + 1)
        raw_free[raw_free < 1] = np.nan
        # the root of a chi-square variable over its degrees of freedom is a little below 1 on average
        raw_sigmas = np.sqrt(raw_squares / 2) * np.exp(special.gammaln(raw_free / 2) - special.gammaln((raw_free + 1) / 2))
        return np.column_stack([raw_design.unscaled(raw_moves), raw_sigmas])


class LinkedRegression(Regression):
    """A line behind a link, by Newton's steps on Firth's score."""

    bias_correction = "Firth's correction of the score"

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """By Newton's steps on the corrected score; none where features are collinear or rows too few."""
        raw_kept = finite_rows(kept_rows(raw_blocks, self._inside(raw_blocks.raw_rows[:, -1])))
        return fit_in_groups(raw_kept, self.features + 1, self._fit_group)

    def _fit_group(self, raw_group: RowBlocks) -> Floats:
        """All blocks of a group at once; each block stops by itself, or where it is at the end."""
        raw_design = BlockDesign(raw_group, self.features)
        raw_now = [np.zeros(raw_group.blocks) for _ in range(self.features + 1)]
        raw_now[0] = self._start(raw_group.sums(raw_design.raw_outcomes), raw_group.raw_counts)
        raw_moving = raw_group.raw_counts > self.features + 1
        raw_none = ~raw_moving
        raw_pace, raw_before, raw_last = np.ones(raw_group.blocks), np.full(raw_group.blocks, np.inf), raw_now
        for _ in range(ROUNDS):
            raw_fitted, raw_weights, raw_tilts = self._link(np.clip(raw_design.predictors(raw_now), -FARTHEST, FARTHEST))
            systems = Systems(raw_design.products(raw_weights))
            raw_leverages = systems.leverages(raw_design, raw_weights)
            raw_steps = systems.solve(raw_design.pulls(raw_design.raw_outcomes - raw_fitted + raw_leverages * raw_tilts))
            raw_longest, raw_along = np.zeros(raw_group.blocks), np.zeros(raw_group.blocks)
            for raw_step, raw_earlier in zip(raw_steps, raw_last, strict=True):
                raw_longest = np.maximum(raw_longest, np.abs(raw_step))
                raw_along = raw_along + raw_step * raw_earlier
            raw_pace = _paced(raw_pace, raw_along, raw_longest / raw_before)
            raw_part = np.minimum(raw_pace, FARTHEST_STEP / raw_longest)
            raw_now = [np.where(raw_moving, old + raw_part * step, old) for old, step in zip(raw_now, raw_steps, strict=True)]
            raw_none = raw_none | (raw_moving & np.isnan(raw_longest))
            raw_moving = raw_moving & (raw_longest > STILL)
            raw_before, raw_last = raw_longest, raw_steps
            if not raw_moving.any():
                break
        raw_coefficients = raw_design.unscaled(raw_now)
        raw_coefficients[raw_none] = np.nan
        return raw_coefficients

    def _inside(self, raw_outcomes: Floats) -> Truths:
        """Which outcomes can be."""
        raise NotImplementedError

    def _link(self, raw_predictors: Floats) -> tuple[Floats, Floats, Floats]:
        """Of the predictors of rows their fitted outcomes, the weights of rows, and what a leverage adds to the score."""
        raise NotImplementedError

    def _start(self, raw_sums: Floats, raw_counts: Floats) -> Floats:
        """The intercept of blocks without slopes, kept finite, from the sums and numbers of their outcomes."""
        return np.log((raw_sums + 0.5) / (raw_counts + 0.5))


class Logistic(LinkedRegression):
    """The log odds of an outcome 1 are a line; other outcomes than 0 and 1 are left out."""

    least_rows = 65
    """In smaller blocks coefficients keep a bias that counts."""
    name = "logistic"

    def _inside(self, raw_outcomes: Floats) -> Truths:
        return np.isin(raw_outcomes, (0.0, 1.0))

    def _link(self, raw_predictors: Floats) -> tuple[Floats, Floats, Floats]:
        raw_fitted = 1 / (1 + np.exp(-raw_predictors))
        return raw_fitted, raw_fitted * (1 - raw_fitted), 0.5 - raw_fitted

    def _start(self, raw_sums: Floats, raw_counts: Floats) -> Floats:
        raw_ones = raw_sums + 0.5
        return np.log(raw_ones / (raw_counts + 1 - raw_ones))


class PoissonRegression(LinkedRegression):
    """The logarithm of the rate of counts is a line; outcomes that are no whole numbers from 0 on are left out."""

    name = "poisson_regression"

    def _inside(self, raw_outcomes: Floats) -> Truths:
        return whole_numbers(raw_outcomes)

    def _link(self, raw_predictors: Floats) -> tuple[Floats, Floats, Floats]:
        raw_fitted = np.exp(raw_predictors)
        return raw_fitted, raw_fitted, np.full(len(raw_fitted), 0.5)


def _paced(raw_pace: Floats, raw_along: Floats, raw_ratios: Floats) -> Floats:
    """How much of a step to take: less where it turns back, more where steps go on the same way and hardly get shorter."""
    raw_slow = (raw_along > 0) & (raw_ratios > SLOW)
    raw_else = np.where(raw_slow, np.minimum(raw_pace * 1.5, 8.0), 1.0)
    return np.where((raw_along < 0) & (raw_ratios > SLOW), np.maximum(raw_pace / 2, 0.125), raw_else)
