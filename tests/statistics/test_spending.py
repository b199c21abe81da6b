"""What a tested method hands out to its count, scale, tests and release adds up to the question's epsilon and delta."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
import dpstats.statistics
from dpstats.foundations.registry import find_statistic
from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from dpstats.mechanisms.propose_test_release import release_with_noise
from dpstats.statistics.propose_test_release import proposals, setting
from dpstats.statistics.propose_test_release import trimmed_means as trimmed
from dpstats.testing import seeded

EPSILON, DELTA = Fraction(7, 5), Fraction(1, 10**5)
NAMES = ("median", "iqr", "trimmed_mean", "mode")
METHODS = [(name, method.name) for name in NAMES for method in find_statistic(name).methods.values() if method.needs_delta]
PAYS_FOR_BOTH_TESTS = {("iqr", "quartiles")}
"""Its cascades release different things, so that only a reply of the second test uses up the whole budget."""
PRIVATE_COUNT = {"dwork-lei", "ptr", "quartiles"}


class Spending:
    """Everything that a method's parts are given."""

    def __init__(self) -> None:
        self.counts: list[Fraction] = []
        self.scales: list[Fraction] = []
        self.tests: list[tuple[Fraction, Fraction]] = []
        self.releases: list[Fraction] = []
        self.refuse_first = False

    @property
    def epsilon(self) -> Fraction:
        return sum([*self.counts, *self.scales, *(epsilon for epsilon, _ in self.tests), *self.releases], Fraction(0))

    @property
    def delta(self) -> Fraction:
        return sum((delta for _, delta in self.tests), Fraction(0))


@pytest.fixture
def spending(monkeypatch: pytest.MonkeyPatch) -> Spending:
    """A record of what is spent, by tests that pass (the first one not, if the record says so)."""
    record = Spending()

    def watch_count(raw_count: int, epsilon: Fraction, rng: Any) -> int:
        record.counts.append(epsilon)
        return raw_count

    def watch_draw(column: Any, quantiles: Any, epsilon: Fraction, *others: Any, **named: Any) -> Any:
        record.scales.append(epsilon)
        return real_draw(column, quantiles, epsilon, *others, **named)

    def watch_passes(test: Any, _distance: int, _rng: Any) -> bool:
        record.tests.append((test.epsilon, test.delta))
        return not (record.refuse_first and len(record.tests) == 1)

    def watch_noise(values: Any, sensitivity: Any, epsilon: Fraction, *others: Any) -> Any:
        record.releases.append(epsilon)
        return [float(value) for value in values]

    real_draw = proposals.draw_quantiles
    for module in (setting, trimmed):
        monkeypatch.setattr(module, "noisy_count", watch_count)
    monkeypatch.setattr(proposals, "draw_quantiles", watch_draw)
    monkeypatch.setattr(BestTest, "passes", watch_passes)
    monkeypatch.setattr(LaplaceTest, "passes", watch_passes)
    monkeypatch.setattr(sys.modules[release_with_noise.__module__], "add_laplace", watch_noise)
    return record


def answer(name: str, method: str, neighbors: str) -> Any:
    rows = np.random.default_rng(3).normal(0, 1, 20_000).round(2)
    return getattr(dp, name)(rows, epsilon=EPSILON, delta=DELTA, method=method, neighbors=neighbors, rng=seeded(1))


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize(("name", "method"), METHODS)
def test_all_parts_of_a_method_together_spend_the_whole_of_epsilon_and_no_more_than_delta(
    name: str, method: str, neighbors: str, spending: Spending
) -> None:
    spending.refuse_first = (name, method) in PAYS_FOR_BOTH_TESTS
    assert isinstance(answer(name, method, neighbors), dp.Release)
    assert spending.epsilon == EPSILON
    assert 0 < spending.delta <= DELTA


@pytest.mark.parametrize(("name", "method"), METHODS)
def test_a_count_is_bought_only_where_the_number_of_rows_is_private_and_used(name: str, method: str, spending: Spending) -> None:
    answer(name, method, "add_remove")
    assert len(spending.counts) == (method in PRIVATE_COUNT)
    spending.counts.clear()
    answer(name, method, "change_one")
    assert len(spending.counts) == ((name, method) == ("trimmed_mean", "dwork-lei"))  # rows may be missing


@pytest.mark.parametrize("method", ["ptr", "stable", "dwork-lei"])
def test_a_list_of_quantiles_spends_what_one_does(method: str, spending: Spending) -> None:
    rows = np.random.default_rng(3).normal(0, 1, 20_000)
    outcome = dp.quantile(rows, [0.25, 0.5, 0.75], epsilon=EPSILON, delta=DELTA, method=method, rng=seeded(1))
    assert isinstance(outcome, dp.Release)
    assert spending.epsilon == EPSILON
    assert 0 < spending.delta <= DELTA
