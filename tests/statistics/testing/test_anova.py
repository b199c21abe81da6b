"""The analysis of variance: its level holds, its means and shares are right, groups are found; what it spends adds up."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
import scipy.stats

import dpstats as dp
from dpstats.statistics import analyses_of_variance
from dpstats.statistics.analyses_of_variance import FIND_GROUPS_SHARE
from dpstats.statistics.clipped.margins import Spread
from dpstats.statistics.testing.between_groups import judge_means, spread_between
from dpstats.testing import seeded
from tests.statistics.testing.columns import most_rejections
from tests.twins.hypotheses import noiseless_groups_p

THREE = ["a", "b", "c"]


def spreads(generator: np.random.Generator, rows: list[int], noise: float, shift: float = 0.0) -> list[Spread]:
    """Means of normal rows with Laplace noise, as groups' cells give them."""
    found = []
    for place, count in enumerate(rows):
        values = generator.normal(size=count)
        mean = values.mean() + generator.laplace(0, (noise / 2) ** 0.5) + shift * (place == 0)
        found.append(Spread(float(count), float(mean), float(values.var(ddof=1) / count), noise, 3.0, 0.0))
    return found


@pytest.mark.parametrize(("rows", "noise"), [([50, 50, 50], 0.0), ([50, 80, 200], 0.02), ([100] * 6, 0.1)])
def test_the_level_holds_with_noise_and_without(rows: list[int], noise: float) -> None:
    generator, p_values, forgetful = np.random.default_rng(4), [], []
    with patch("dpstats.statistics.testing.between_groups.SIMULATED", 499):
        for _ in range(400):
            groups = spreads(generator, rows, noise)
            p_values.append(judge_means(groups, np.zeros((len(rows),) * 2), generator).p_value)
            forgetful.append(noiseless_groups_p(groups))
    assert 0.015 < np.mean(np.array(p_values) <= 0.05) <= most_rejections(400)
    if noise:
        assert np.mean(np.array(forgetful) <= 0.05) > 2 * most_rejections(400)


def test_the_spread_between_groups_is_that_of_squared_distances() -> None:
    means, variances = np.array([[1.0, 2.0, 4.0]]), np.array([[0.5, 1.0, 2.0]])
    weights = 1 / variances[0]
    middle = (weights * means[0]).sum() / weights.sum()
    expected = (weights * (means[0] - middle) ** 2).sum()
    assert spread_between(means, variances)[0] == pytest.approx(expected)
    assert spread_between(means, variances, np.zeros((3, 3)))[0] == pytest.approx(expected)
    assert spread_between(means, variances, np.full((3, 3), 9.0))[0] == 0.0


def table(rows: int, shift: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(rows)
    by = generator.choice(THREE, rows)
    return generator.normal(size=rows) + shift * (by == "a"), by


def test_with_much_epsilon_it_is_welchs_test() -> None:
    values, by = table(900, 0.25)
    found = dp.anova(values, by, THREE, epsilon=1000, rng=seeded(1)).value
    groups = [values[by == each] for each in THREE]
    pairs = scipy.stats.f_oneway(*groups)
    assert found.means == pytest.approx([each.mean() for each in groups], abs=0.01)
    assert found.p_value == pytest.approx(pairs.pvalue, abs=0.02)
    assert found.statistic == pytest.approx(pairs.statistic, rel=0.2)


def test_groups_are_found_with_delta() -> None:
    values, by = table(3_000)
    found = dp.anova(values, by, epsilon=1, delta=1e-6, rng=seeded(1))
    assert found.method == "thresholded"
    assert found.value.groups == tuple(THREE)
    assert found.value.p_value < 0.01
    assert 0.05 < found.interval.low < found.value.estimate < found.interval.high
    with pytest.raises(dp.DpstatsError, match="needs delta"):
        dp.anova(values, by, epsilon=1)
    alone = dp.anova(values, np.repeat("a", len(values)), epsilon=1, delta=1e-6, rng=seeded(1))
    assert "Fewer than two groups" in alone.reason


@pytest.mark.floors
def test_few_rows_get_no_reply_and_rough_ones_no_verdict() -> None:
    values, by = table(90)
    assert isinstance(dp.anova(values, by, THREE, epsilon=0.2, rng=seeded(1)), dp.NoReply)
    rough = dp.anova(values, by, THREE, epsilon=0.2, rough=True, rng=seeded(1))
    assert rough.rough
    assert rough.value.p_value == 1.0
    assert tuple(rough.interval) == (0.0, 1.0)


def test_finding_and_comparing_spend_epsilon_together() -> None:
    values, by = table(2_000)
    spent: list[Fraction] = []
    original, original_keys = analyses_of_variance.compare_groups, analyses_of_variance.choose_keys

    def keys(raw, epsilon, delta, rng):  # type: ignore[no-untyped-def]
        spent.append(epsilon)
        assert delta == Fraction(1, 10**6)
        return original_keys(raw, epsilon, delta, rng)

    def compare(table, groups, epsilon, question, rng):  # type: ignore[no-untyped-def]
        spent.append(epsilon)
        return original(table, groups, epsilon, question, rng)

    with patch.object(analyses_of_variance, "choose_keys", keys), patch.object(analyses_of_variance, "compare_groups", compare):
        assert dp.anova(values, by, epsilon=1, delta=Fraction(1, 10**6), rng=seeded(1))
    assert spent == [FIND_GROUPS_SHARE, 1 - FIND_GROUPS_SHARE]
