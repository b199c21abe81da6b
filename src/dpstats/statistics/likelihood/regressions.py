"""Regressions as families: rows of features and, in the last column, an outcome.

The features are whatever they are; the likelihood is that of outcomes given them. Rows with an infinity, or with an outcome that
cannot be, are left out. Features are centred and scaled within each block first, and all blocks are solved at once by elementwise
operations, so that a block's coefficients depend on its own rows alone, to the last bit.

Logistic and Poisson coefficients are freed of bias by Firth's correction: the score has a term of the leverages of rows, which
takes the first order of the bias away and keeps estimates finite where the outcomes of a block are separated.

Source     Firth 1993; Heinze & Schemper 2002
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.likelihood.block_designs import BlockDesign, Systems
from dpstats.statistics.likelihood.block_groups import finite_rows, fit_in_groups, kept_rows
from dpstats.statistics.likelihood.counts import whole_numbers
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
class Linear:
    """A straight line with normal errors."""

    features: int
    bias_correction = "coefficients: none needed; sigma: exact by degrees of freedom"
    name = "linear"

    @property
    def parameters(self) -> tuple[str, ...]:
        """intercept, coef_1, ..., sigma."""
        return (*_coefficient_names(self.features), "sigma")

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """Sigma is positive."""
        return (*[(-np.inf, np.inf)] * (self.features + 1), (0.0, np.inf))

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """Least squares; none where features are collinear in a block or there are no more rows than coefficients."""
        return fit_in_groups(finite_rows(raw_blocks), len(self.parameters), self._fit_group)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The intercept, the vector of coefficients, and sigma."""
        return {**_shaped_coefficients(values[:-1]), "sigma": float(values[-1])}

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
        from scipy.special import gammaln

        raw_design = BlockDesign(raw_group, self.features)
        raw_middles = raw_group.means(raw_design.raw_outcomes)
        raw_off = raw_design.raw_outcomes - raw_group.of_rows(raw_middles)
        raw_moves = Systems(raw_design.products(np.ones(len(raw_off)))).solve(raw_design.pulls(raw_off))
        raw_squares = raw_group.sums((raw_off - raw_design.predictors(raw_moves)) ** 2)
        raw_moves[0] = raw_moves[0] + raw_middles
        raw_free = raw_group.raw_counts - (self.features + 1)
        raw_free[raw_free < 1] = np.nan
        # the root of a chi-square variable over its degrees of freedom is a little below 1 on average
        raw_sigmas = np.sqrt(raw_squares / 2) * np.exp(gammaln(raw_free / 2) - gammaln((raw_free + 1) / 2))
        return np.column_stack([raw_design.unscaled(raw_moves), raw_sigmas])


@dataclass(frozen=True)
class Logistic:
    """The log odds of an outcome 1 are a line; other outcomes than 0 and 1 are left out."""

    features: int
    bias_correction = "Firth's correction of the score"
    least_rows = 65
    """In smaller blocks coefficients keep a bias that counts."""
    name = "logistic"

    @property
    def parameters(self) -> tuple[str, ...]:
        """intercept, coef_1, ..."""
        return _coefficient_names(self.features)

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """Anything."""
        return ((-np.inf, np.inf),) * (self.features + 1)

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """By Newton's steps on the corrected score; none where features are collinear or rows too few."""
        return _fit_link(raw_blocks, self.features, np.isin(raw_blocks.raw_rows[:, -1], (0.0, 1.0)), _chances)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The intercept and the vector of coefficients."""
        return _shaped_coefficients(values)


@dataclass(frozen=True)
class PoissonRegression:
    """The logarithm of the rate of counts is a line; outcomes that are no whole numbers from 0 on are left out."""

    features: int
    bias_correction = "Firth's correction of the score"
    name = "poisson_regression"

    @property
    def parameters(self) -> tuple[str, ...]:
        """intercept, coef_1, ..."""
        return _coefficient_names(self.features)

    @property
    def space(self) -> tuple[tuple[float, float], ...]:
        """Anything."""
        return ((-np.inf, np.inf),) * (self.features + 1)

    def fit_blocks(self, raw_blocks: RowBlocks) -> Floats:
        """By Newton's steps on the corrected score; none where features are collinear or rows too few."""
        return _fit_link(raw_blocks, self.features, whole_numbers(raw_blocks.raw_rows[:, -1]), _rates)

    def shaped(self, values: Floats) -> Mapping[str, Any]:
        """The intercept and the vector of coefficients."""
        return _shaped_coefficients(values)


Link = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""Of the predictors of rows their fitted outcomes, the weights of rows, and what a leverage adds to the score."""


def _chances(raw_predictors: Floats) -> tuple[Floats, Floats, Floats]:
    raw_fitted = 1 / (1 + np.exp(-raw_predictors))
    return raw_fitted, raw_fitted * (1 - raw_fitted), 0.5 - raw_fitted


def _rates(raw_predictors: Floats) -> tuple[Floats, Floats, Floats]:
    raw_fitted = np.exp(raw_predictors)
    return raw_fitted, raw_fitted, np.full(len(raw_fitted), 0.5)


def _fit_link(raw_blocks: RowBlocks, features: int, raw_good: NDArray[np.bool_], link: Link) -> Floats:
    """Coefficients of a regression with a link, from rows with outcomes that can be."""
    raw_kept = finite_rows(kept_rows(raw_blocks, raw_good))
    return fit_in_groups(raw_kept, features + 1, lambda raw_group: _fit_group(raw_group, features, link))


def _fit_group(raw_group: RowBlocks, features: int, link: Link) -> Floats:
    """Newton's steps on Firth's score in all blocks of a group at once; each block stops by itself, or where it is at the end."""
    raw_design = BlockDesign(raw_group, features)
    raw_now = [np.zeros(raw_group.blocks) for _ in range(features + 1)]
    raw_now[0] = _start(raw_group, raw_design.raw_outcomes, link)
    raw_moving = raw_group.raw_counts > features + 1
    raw_none = ~raw_moving
    raw_pace, raw_before, raw_last = np.ones(raw_group.blocks), np.full(raw_group.blocks, np.inf), raw_now
    for _ in range(ROUNDS):
        raw_fitted, raw_weights, raw_tilts = link(np.clip(raw_design.predictors(raw_now), -FARTHEST, FARTHEST))
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


def _paced(raw_pace: Floats, raw_along: Floats, raw_ratios: Floats) -> Floats:
    """How much of a step to take: less where it turns back, more where steps go on the same way and hardly get shorter."""
    raw_slow = (raw_along > 0) & (raw_ratios > SLOW)
    raw_else = np.where(raw_slow, np.minimum(raw_pace * 1.5, 8.0), 1.0)
    return np.where((raw_along < 0) & (raw_ratios > SLOW), np.maximum(raw_pace / 2, 0.125), raw_else)


def _start(raw_group: RowBlocks, raw_outcomes: Floats, link: Link) -> Floats:
    """The intercept of blocks without slopes, kept finite."""
    raw_ones = raw_group.sums(raw_outcomes) + 0.5
    raw_rest = raw_group.raw_counts + 1 - raw_ones if link is _chances else raw_group.raw_counts + 0.5
    return np.log(raw_ones / raw_rest)


def _coefficient_names(features: int) -> tuple[str, ...]:
    return ("intercept", *(f"coef_{feature + 1}" for feature in range(features)))


def _shaped_coefficients(values: Floats) -> dict[str, Any]:
    return {"intercept": float(values[0]), "coef": values[1:].copy()}
