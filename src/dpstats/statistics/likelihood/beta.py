"""Beta laws.

Why        An estimate is the root of two equations in the means of log(x) and log(1-x), whose likelihood is an exponential
           family's: the first-order bias of the root follows from the second and third derivatives of
           log B(alpha, beta), and is taken off
Source     Cox & Snell 1968; start: Johnson & Kotz 1970
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpstats.statistics.aggregation.row_blocks import Floats, RowBlocks
from dpstats.statistics.lazy_scipy import special
from dpstats.statistics.likelihood.block_groups import Truths, vary
from dpstats.statistics.likelihood.family import ExponentialLaw
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.likelihood.quartiles import QUARTILES, sorted_quartiles

_ROUNDS = 20
_LEAST_ROWS = 4
"""With three rows, the parameters that are expected are infinite."""
_LEAST_ROOM = 1e-9
"""By how much the geometric means of x and 1-x must fall short of 1 together."""
_SHAPES = (0.05, 1e5)
"""Guesses stay between these."""
_GRID = 41
_LEAST_APART = 0.001
"""How far apart quartiles are held, of their distance to the nearer end."""


@dataclass(frozen=True)
class Beta(ExponentialLaw):
    """Numbers between 0 and 1; alpha draws them up and beta down, and with both large they lie close together."""

    name = "beta"
    parameters = ("alpha", "beta")
    space = ((0.0, math.inf), (0.0, math.inf))
    bias_correction = "analytic, to first order"

    def _inside(self, raw_values: Floats) -> Truths:
        return (raw_values > 0) & (raw_values < 1)

    def _estimates(self, raw_blocks: RowBlocks, raw_values: Floats) -> tuple[Any, ...]:
        """Alpha and beta of each block; none where rows do not differ, or are fewer than 4."""
        raw_counts = raw_blocks.raw_counts
        raw_alphas, raw_betas = roots(*(raw_blocks.means(raw_logs) for raw_logs in self._numbers(raw_values)))
        raw_excess = _bias_of_one_row(raw_alphas, raw_betas)
        raw_has_one = (raw_counts >= _LEAST_ROWS) & vary(raw_blocks, raw_values)
        return raw_has_one, raw_alphas - raw_excess[0] / raw_counts, raw_betas - raw_excess[1] / raw_counts

    def _gradients(self, raw_values: Floats, theta: Floats) -> tuple[Floats, ...]:
        up, down = (special.digamma(theta) - special.digamma(theta.sum())).tolist()
        return log_of(raw_values) - up, log_of(1.0 - raw_values) - down

    def information(self, theta: Floats) -> Floats:
        """Fisher's information of one row."""
        return np.asarray(np.diag(special.polygamma(1, theta)) - special.polygamma(1, theta.sum()))

    def sample(self, theta: Floats, count: int, generator: np.random.Generator) -> Floats:
        """Simulated rows."""
        return generator.beta(theta[0], theta[1], (count, 1))

    def distribution(self, points: Floats, theta: Floats) -> Floats:
        """The share of rows at or below each point."""
        return np.asarray(special.betainc(theta[0], theta[1], np.clip(points, 0.0, 1.0)))

    def guess(self, quantiles: Mapping[float, float]) -> Floats:
        """Where on a grid, which is refined around its best point, the shares below the quartiles are nearest to their own."""
        lower, middle, upper = sorted_quartiles(quantiles, 1e-9, 1.0 - 1e-9)
        margin = _LEAST_APART * min(middle, 1.0 - middle)
        points = np.array([min(lower, middle - margin), middle, max(upper, middle + margin)])[:, None, None]
        shares = np.array(QUARTILES)[:, None, None]
        low, high = math.log(_SHAPES[0]), math.log(_SHAPES[1])
        centre, reach = np.full(2, (low + high) / 2), (high - low) / 2
        for _ in range(4):
            alphas, betas = (np.clip(middle + np.linspace(-reach, reach, _GRID), low, high) for middle in centre)
            misses = (special.betainc(np.exp(alphas)[:, None], np.exp(betas)[None, :], points) - shares) ** 2
            best = np.unravel_index(int(np.argmin(misses.sum(axis=0))), (_GRID, _GRID))
            centre, reach = np.array([alphas[best[0]], betas[best[1]]]), reach / 10
        return np.asarray(np.exp(centre))

    def _numbers(self, raw_values: Floats) -> tuple[Floats, ...]:
        """log(x) and log(1-x)."""
        return log_of(raw_values), log_of(1.0 - raw_values)

    def solve(self, means: Floats) -> Floats:
        """Alpha and beta at these means of log(x) and log(1-x); where x and 1-x have geometric means of 1 and more together, as
        no law has, both are lowered by one factor to just below 1."""
        held = np.clip(means, -1e3, 1e3)
        excess = float(np.logaddexp(held[0], held[1])) + _LEAST_ROOM
        lowered = held - max(excess, 0.0)
        alphas, betas = roots(lowered[:1], lowered[1:])
        return np.array([alphas[0], betas[0]])


def roots(raw_ups: Floats, raw_downs: Floats) -> tuple[Floats, Floats]:
    """Alpha and beta for which log(x) and log(1-x) have these means, by Newton's steps for their logarithms; NaN where no law has
    them, because polygamma functions of large negative numbers take hours."""
    raw_rooms = -np.expm1(np.logaddexp(raw_ups, raw_downs))
    raw_rooms = np.where(raw_rooms > 0, raw_rooms, np.nan)
    raw_alphas = 0.5 + np.exp(raw_ups) / (2.0 * raw_rooms)
    raw_betas = 0.5 + np.exp(raw_downs) / (2.0 * raw_rooms)
    for _ in range(_ROUNDS):
        raw_both = special.digamma(raw_alphas + raw_betas)
        raw_miss_up = special.digamma(raw_alphas) - raw_both - raw_ups
        raw_miss_down = special.digamma(raw_betas) - raw_both - raw_downs
        raw_steps = _times_inverse(raw_alphas, raw_betas, raw_miss_up, raw_miss_down)
        raw_alphas = raw_alphas * np.exp(np.clip(-raw_steps[0] / raw_alphas, -1.0, 1.0))
        raw_betas = raw_betas * np.exp(np.clip(-raw_steps[1] / raw_betas, -1.0, 1.0))
    return raw_alphas, raw_betas


def _times_inverse(raw_alphas: Floats, raw_betas: Floats, raw_first: Floats, raw_second: Floats) -> tuple[Floats, Floats]:
    """The inverse of the information, times a pair of numbers."""
    raw_up, raw_down, raw_both, raw_determinant = _second_derivatives(raw_alphas, raw_betas)
    return (
        (raw_down * raw_first - raw_both * raw_first + raw_both * raw_second) / raw_determinant,
        (raw_up * raw_second - raw_both * raw_second + raw_both * raw_first) / raw_determinant,
    )


def _second_derivatives(raw_alphas: Floats, raw_betas: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Those of log gamma at alpha, at beta and at their sum, and the determinant of the information."""
    raw_up, raw_down, raw_both = (special.polygamma(1, each) for each in (raw_alphas, raw_betas, raw_alphas + raw_betas))
    return raw_up, raw_down, raw_both, raw_up * raw_down - raw_both * (raw_up + raw_down)


def _bias_of_one_row(raw_alphas: Floats, raw_betas: Floats) -> tuple[Floats, Floats]:
    """What the bias of a block's estimate is to first order, times the number of its rows."""
    raw_up, raw_down, raw_both, raw_determinant = _second_derivatives(raw_alphas, raw_betas)
    raw_third = special.polygamma(2, raw_alphas + raw_betas) * (raw_up + raw_down) / raw_determinant
    raw_first = special.polygamma(2, raw_alphas) * (raw_down - raw_both) / raw_determinant - raw_third
    raw_second = special.polygamma(2, raw_betas) * (raw_up - raw_both) / raw_determinant - raw_third
    raw_for_alpha, raw_for_beta = _times_inverse(raw_alphas, raw_betas, raw_first, raw_second)
    return -raw_for_alpha / 2.0, -raw_for_beta / 2.0
