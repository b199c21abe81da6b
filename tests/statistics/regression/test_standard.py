"""Standardisation: scales of features are found, also where few rows lie away from the middle."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpstats.statistics.regression.budget_split import PureBudgetSplit
from dpstats.statistics.regression.standard import standardise
from dpstats.testing import seeded
from tests.statistics.regression.transcripts import table_of

SHARE = Fraction(2, 100)


def test_a_scale_is_hardly_ever_drawn_beyond_all_rows() -> None:
    """Screens of 14, 15 and 17 inches: drawn by even slopes, one scale in five was more than three times the largest distance."""
    generator = np.random.default_rng(2)
    screens = generator.choice([14.0, 15.0, 17.0], 6000, p=[0.58, 0.32, 0.1])
    table = table_of(np.column_stack([screens, generator.normal(0, 1, 6000)]))
    scales = []
    for seed in range(80):
        rng = seeded(seed)
        shares, budget = (SHARE, SHARE), PureBudgetSplit(Fraction(2), rng)
        scales.append(standardise(table, 1, True, shares, budget, rng, farther=True).scales[0])
    assert sum(scale > 3 * 3.0 / 1.645 for scale in scales) <= 2
    assert sum(scale < 0.3 for scale in scales) <= 2


def scales_of(feature: np.ndarray, nats: float) -> list[float]:
    """Scales of a feature at 60 seeds, where rows times the epsilon of a scale are so many nats."""
    table = table_of(np.column_stack([feature, np.zeros(len(feature))]))
    scales = []
    for seed in range(60):
        rng = seeded(seed)
        budget = PureBudgetSplit(Fraction(2), rng)
        shares = (Fraction(1, 10), Fraction(nats / len(feature) / 2).limit_denominator(1 << 20))
        scales.append(standardise(table, 1, True, shares, budget, rng, farther=True).scales[0])
    return scales


def test_amounts_that_are_mostly_0_are_not_taken_for_marks() -> None:
    """Four of five rows have none: the scale came out as 1, rows with an amount lay beyond the ball, and steps led nowhere."""
    generator = np.random.default_rng(5)
    amounts = np.where(generator.random(6_000) < 0.8, 0.0, generator.gamma(2, 1_000, 6_000))
    assert all(300 < scale < 20_000 for scale in scales_of(amounts, 240))


def test_rare_marks_mostly_keep_the_scale_1() -> None:
    marks = (np.random.default_rng(6).random(6_000) < 0.03).astype(float)
    assert sum(scale != 1.0 for scale in scales_of(marks, 240)) <= 8
