"""Mann and Whitney's test: a row moves its lead by less than 1, its level holds, its interval covers; twins are refuted."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.foundations.summaries import NumberRuns
from dpstats.statistics.rank_sum_tests import LEAD_ROWS_SHARE, LEAD_SENSITIVITY
from dpstats.statistics.testing.noise import simulated_noise
from dpstats.statistics.testing.rank_leads import NoisyLead, raw_lead
from dpstats.testing import seeded
from tests.laws.hypotheses import counts_law, joint_law
from tests.laws.tested_statistics import noisy_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.statistics.testing.columns import most_rejections
from tests.twins.hypotheses import noiseless_lead_p, rank_sum_law

EPSILON = Fraction(7, 10)
CUTS = tuple(Fraction(cut, 2) for cut in range(-6, 7))
VALUES = st.lists(st.integers(0, 5), max_size=12)


def runs(values: Any) -> NumberRuns:
    counted = sorted(Counter(values).items())
    return NumberRuns(np.array([v for v, _ in counted], dtype=np.int64), np.array([c for _, c in counted], dtype=np.int64))


@given(VALUES, VALUES, st.integers(0, 5))
def test_a_row_moves_the_lead_by_less_than_one(first: list[int], second: list[int], added: int) -> None:
    lead = raw_lead(runs(first), runs(second))
    assert lead == -raw_lead(runs(second), runs(first))
    for moved in (raw_lead(runs([*first, added]), runs(second)), raw_lead(runs(first), runs([*second, added]))):
        assert abs(moved - lead) < 1


def test_the_lead_is_mann_and_whitneys_statistic() -> None:
    first, second = [3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9]
    usual = scipy.stats.mannwhitneyu(first, second).statistic
    assert raw_lead(runs(first), runs(second)) == Fraction(2 * usual - len(first) * len(second)) / (len(first) + len(second))


def lead_law(first: Any, second: Any) -> Any:
    rows = counts_law([len(first), len(second)], 1 / (EPSILON * LEAD_ROWS_SHARE), 0, 3)
    return joint_law(
        rows, noisy_law(raw_lead(runs(first), runs(second)), LEAD_SENSITIVITY, EPSILON * (1 - LEAD_ROWS_SHARE), CUTS)
    )


TABLES = [list(t) for size in (0, 2) for t in itertools.combinations_with_replacement(range(2), size)]


def test_the_law_keeps_to_epsilon_on_every_small_pair() -> None:
    losses = [
        largest_log_ratio(lead_law(first, second), lead_law([*first, added], second))
        for first, second in itertools.product(TABLES, TABLES)
        for added in range(2)
    ]
    assert max(losses) <= EPSILON + 1e-9
    assert max(losses) > 0.6 * EPSILON


def test_a_rank_sum_with_noise_for_one_row_is_refuted() -> None:
    laws = [rank_sum_law(raw_lead(runs(rows), runs([0] * 4)), len(rows) + 4, EPSILON, CUTS) for rows in ([], [1])]
    assert largest_log_ratio(*laws) > 2 * EPSILON


@pytest.mark.parametrize(("rows", "epsilon"), [(60, 1.0), (1_000, 0.1), (1_000, 1.0)])
@pytest.mark.parametrize("part", [0.5, 0.1])
def test_the_level_holds(rows: int, epsilon: float, part: float) -> None:
    generator, p_values, forgetful = np.random.default_rng(rows), [], []
    first = int(rows * part)
    for _ in range(400):
        ranks = generator.permutation(rows)[:first].sum()
        lead = (2 * (ranks - first * (first - 1) / 2) - first * (rows - first)) / rows + generator.laplace(0, 1.2 / epsilon)
        sizes = tuple(np.array([first, rows - first]) + simulated_noise(generator, epsilon / 6, (2,)))
        noisy = NoisyLead(lead, sizes, epsilon / 1.2, epsilon / 6)  # type: ignore[arg-type]
        p_values.append(noisy.p_value("two-sided"))
        forgetful.append(noiseless_lead_p(noisy))
    assert np.mean(np.array(p_values) <= 0.05) <= most_rejections(400)
    if epsilon == 0.1:
        assert np.mean(np.array(forgetful) <= 0.05) > 2 * most_rejections(400)


def test_intervals_cover_the_chance_and_alternatives_look_one_way() -> None:
    generator, held = np.random.default_rng(5), []
    chance = float(scipy.stats.norm.cdf(0.5 / 2**0.5))
    for seed in range(120):
        by = np.repeat(["a", "b"], 200)
        release = dp.mann_whitney(generator.normal(size=400) + 0.5 * (by == "a"), by, ["a", "b"], epsilon=0.5, rng=seeded(seed))
        held.append(release.interval.low <= chance <= release.interval.high)
    assert np.mean(held) > 0.9
    values, by = np.arange(300.0), np.repeat(["low", "high"], 150)
    one_way = {
        way: dp.mann_whitney(values, by, ["low", "high"], way, epsilon=1, rng=seeded(1)).value for way in ("less", "greater")
    }
    assert one_way["less"].p_value < 1e-6
    assert one_way["greater"].p_value > 0.999
    assert one_way["less"].estimate < 0.1
