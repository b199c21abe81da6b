"""Effects of an additive classifier: cyclic boosting, one column after the other, by noisy sums of residuals.

Claim      All of it is paid for out of one budget: a share for each column in each cycle
Neighbors  ADD_REMOVE of one row
Why        A step releases the sums of residuals by the codes of one column, with noise. A row adds to one code, whole numbers no
           longer than a bound (residuals.py). The model that residuals are taken of was released by the steps before. From the
           third cycle on one more sum says how far residuals fall. How many cycles there are goes by the released number of rows
Numerics   Sums are exact and noise is exact; effects are computed from released numbers in floats, in a fixed order
Source     classifiers.proof.md; Nori, Caruana, Bu, Shen & Kulkarni 2021 (cyclic boosting of noisy residuals, on given bins)
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.classification.finding import FoundFeatures
from dpstats.statistics.classification.noise import Budget, noisy_sums, norm_of
from dpstats.statistics.classification.residuals import CURVATURE_BOUND, SCALE, CurvatureSum, Margins, ResidualSum, residual_bound
from dpstats.statistics.classification.smoothing import smoothed

Floats = NDArray[np.float64]

FIRST_CURVATURES = (0.2, 0.1)
"""By how much a row's residual falls when its score rises by 1, about, in the first cycles; in later ones it is measured."""
LEAST_CURVATURE, MOST_CURVATURE = 0.02, 0.2
CURVATURE_SHARE = Fraction(1, 200)
"""What measuring it takes of a share, in each cycle after the first two."""
WEIGHTS = (1, 1, 2, 2)
"""What each cycle takes of a budget, in proportion."""
STRENGTHS = (30.0, 400.0, 1200.0)
"""Rows, in standard deviations of the noise of a step that took all of an even part, from which on there is one cycle more."""
OWN_VARIANCE = 0.1
"""About the variance of a row's residual: what sums differ by from table to table."""
MOST_STEP = 2.0
"""No step changes an effect by more."""
DECIMALS = 6
"""Effects are rounded to these, so that they are the same on every machine."""


def cycles_for(rows: float, features: int, classes: int, budget: Budget, share: Fraction) -> int:
    """How many cycles, by a public rule on the released number of rows."""
    law = budget.law(share / features)
    reach = residual_bound(classes, norm_of(budget)) / SCALE
    strength = rows / (reach * math.sqrt(law.variance))
    return 1 + sum(strength >= enough for enough in STRENGTHS)


def boosted(table: CodedTable, found: FoundFeatures, budget: Budget, share: Fraction, rng: RandomSource) -> tuple[Margins, int]:
    """Spend a share on the effects of all features; and in how many cycles."""
    features, classes = len(found.features), len(found.classes)
    directions = Margins((), classes).directions
    effects = [np.zeros((directions, feature.size)) for feature in found.features]
    cycles = cycles_for(found.rows, features, classes, budget, share)
    known = len(FIRST_CURVATURES)
    steps_share = share * (1 - CURVATURE_SHARE * max(cycles - known, 0))
    for cycle in range(cycles):
        step_share = steps_share * Fraction(WEIGHTS[cycle], sum(WEIGHTS[:cycles]) * features)
        if cycle < known:
            curvature = FIRST_CURVATURES[cycle]
        else:
            curvature = _curvature(table, found, tuple(effects), budget, share * CURVATURE_SHARE, rng)
        for place, feature in enumerate(found.features):
            row_sum = ResidualSum(Margins(tuple(effects), classes), place, feature.size, norm_of(budget))
            noisy, variance = noisy_sums(table.code_sums(found.codings, row_sum), row_sum.bound, budget, step_share, rng)
            sums = np.array(noisy, dtype=np.float64).reshape(directions, feature.size) / SCALE
            step = _steps(sums, variance / SCALE**2, found.counts[place], feature.ordered, curvature)
            effects[place] = np.round(effects[place] + step, DECIMALS)
    return Margins(tuple(effects), classes), cycles


def _curvature(
    table: CodedTable, found: FoundFeatures, effects: tuple[Floats, ...], budget: Budget, share: Fraction, rng: RandomSource
) -> float:
    """By how much a row's residual falls when its score rises by 1: a noisy mean over rows."""
    row_sum = CurvatureSum(ResidualSum(Margins(effects, len(found.classes)), 0, found.features[0].size, norm_of(budget)))
    [noisy], _ = noisy_sums(table.code_sums(found.codings, row_sum), CURVATURE_BOUND, budget, share, rng)
    return min(max(noisy / SCALE / found.rows, LEAST_CURVATURE), MOST_CURVATURE)


def _steps(sums: Floats, variance: float, counts: Floats, ordered: int, curvature: float) -> Floats:
    """How far effects move, from noisy sums of residuals: as far as both the noise and other tables' differences allow."""
    slopes = curvature * counts
    variances = (variance + OWN_VARIANCE * counts) / (slopes * slopes)
    steps = np.array([smoothed(row / slopes, variances, ordered) for row in sums])
    return np.asarray(np.clip(steps, -MOST_STEP, MOST_STEP))
