"""Noisy tables of counts and what they say about a null hypothesis.

The statistic is Pearson's, with the variance of the noise beside each expected count:

    sum over cells of (noisy - expected)**2 / (expected + noise variance)

so that a cell counts for as much as it is known: without noise it is Pearson's own, and where noise outweighs the counts it is
one of the noise, whose law hardly depends on the counts at all. Its null law is simulated: tables are drawn from the
hypothesis with the noisy margins, get noise of the same law, and go through the same steps (Gaboardi, Lim, Rogers & Vadhan
2016). Everything here looks at released numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from dpstats.statistics.testing.noise import Floats, laplace_variance, simulated_noise

SIMULATED = 9_999
_LEAST_SIMULATED = 999
_MOST_NUMBERS = 4_000_000
Expectation = Callable[[Floats], Floats]
"""Expected tables of noisy ones, all at once: the last two axes are rows and columns."""


@dataclass(frozen=True)
class Judged:
    """A noisy table with its verdict."""

    expected: Floats
    statistic: float
    p_value: float
    effect: float
    """The square root of what the cells' relative deviations add up to, beyond what noise and sampling give: Cohen's w."""
    simulated: int
    excess: float
    rows: float
    null_variance: float
    null_mean: float
    p_is_upper_bound: bool = False
    """Whether no simulated table is as far out: p could be smaller with more of them."""

    def effect_interval(self, level: float, df: int) -> tuple[float, float]:
        """Effects that the table does not contradict: 0 is one of them just if the test at this level does not reject."""
        z = NormalDist().inv_cdf((1 + level) / 2)
        slope = 2 * z * z * self.null_mean / df  # the variance grows by 4 * (mean / df) per unit of excess
        spread = math.sqrt(max(slope * (slope + 2 * self.excess) + z * z * self.null_variance, 0.0))
        ends = [self.excess + slope - spread, self.excess + slope + spread]
        low = 0.0 if self.p_value >= 1 - level else max(ends[0], 0.0)
        return math.sqrt(low / self.rows), math.sqrt(max(ends[1], 0.0) / self.rows)


def independent(tables: Floats) -> Floats:
    """The tables that independence makes of the margins; noise below 0 is cut off."""
    down = np.maximum(tables.sum(axis=-1, keepdims=True), 0.0)
    across = np.maximum(tables.sum(axis=-2, keepdims=True), 0.0)
    total = (down.sum(axis=-2, keepdims=True) + across.sum(axis=-1, keepdims=True)) / 2
    return np.asarray(down * across / np.maximum(total, 1.0))


def proportional(probabilities: Floats) -> Expectation:
    """The tables that fixed probabilities make of the number of rows."""

    def expected(tables: Floats) -> Floats:
        return np.asarray(np.maximum(tables.sum(axis=(-2, -1), keepdims=True), 0.0) * probabilities)

    return expected


def judge(noisy: Floats, expectation: Expectation, epsilon: float, generator: np.random.Generator) -> Judged:
    """The statistic of a noisy table, with the p-value among simulated ones."""
    variance = laplace_variance(epsilon)
    expected = expectation(noisy)
    weights = np.maximum(expected, 1.0)
    rows = max(float(expected.sum()), 1.0)
    repeats = max(_LEAST_SIMULATED, min(SIMULATED, _MOST_NUMBERS // noisy.size))
    statistics, deviations = [], []
    for start in range(0, repeats, block := max(1, _MOST_NUMBERS // noisy.size)):
        tables = _null_tables(expected, epsilon, min(block, repeats - start), generator)
        null_expected = expectation(tables)
        statistics.append(chi_square(tables, null_expected, variance))
        deviations.append(((tables - null_expected) ** 2 / weights).sum(axis=(-2, -1)))
    null_statistics, null_deviations = np.concatenate(statistics), np.concatenate(deviations)
    statistic = float(chi_square(noisy, expected, variance))
    beyond = int(np.count_nonzero(null_statistics >= statistic * (1 - 1e-12)))
    mean = float(null_deviations.mean())
    excess = float(((noisy - expected) ** 2 / weights).sum()) - mean
    return Judged(
        expected,
        statistic,
        (1 + beyond) / (1 + repeats),
        math.sqrt(max(excess, 0.0) / rows),
        repeats,
        excess,
        rows,
        float(null_deviations.var()),
        mean,
        beyond == 0,
    )


def judge_alike(noisy: Floats, expectation: Expectation, epsilon: float, generator: np.random.Generator, alike: int) -> Judged:
    """As `judge`, where `alike` rows may be of one unit, and all the same: by the table of a part of the rows, with its noise."""
    judged = judge(noisy / alike, expectation, epsilon * alike, generator)
    return replace(judged, expected=judged.expected * alike)


def chi_square(tables: Floats, expected: Floats, variance: float) -> Floats:
    """The statistic of tables."""
    parts = (tables - expected) ** 2 / np.maximum(expected + variance, 1e-300)
    return np.asarray(parts.sum(axis=(-2, -1)))


def _null_tables(expected: Floats, epsilon: float, count: int, generator: np.random.Generator) -> Floats:
    """Noisy tables of as many rows, drawn from the hypothesis."""
    total = float(expected.sum())
    noise = simulated_noise(generator, epsilon, (count, *expected.shape))
    if total <= 0:
        return noise
    drawn = generator.multinomial(round(total), (expected / total).ravel(), count)
    return drawn.reshape(count, *expected.shape) + noise
