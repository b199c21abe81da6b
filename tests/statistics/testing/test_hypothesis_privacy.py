"""What hypothesis tests release on neighbouring tables: exact laws, what they spend, and broken twins that are refuted."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.engines.tables.given import as_column
from dpstats.foundations.registry import find_statistic
from dpstats.foundations.summaries import NumberRuns
from dpstats.mechanisms.thresholding import noise_scale, threshold_for
from dpstats.statistics import chi_square, kolmogorov, median_tests, rank_sum_tests, sign_tests, t_tests
from dpstats.statistics.clipped import shells, zeros_and_ones
from dpstats.statistics.sign_tests import raw_sides
from dpstats.statistics.testing.gaps import STEPS, raw_gap_between, raw_gap_to
from dpstats.testing import seeded
from tests.laws.hypotheses import counts_law, gap_law
from tests.laws.keys import release_chance
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.hypotheses import delta_for_each_column, half_noise_law, lead_and_rows_law, share_law

EPSILON = Fraction(7, 10)
DELTA = Fraction(1, 10**4)
SLACK = 1e-9
CUTS = tuple(Fraction(cut, 8) for cut in range(-8, 32))
SHARE_CUTS = tuple(Fraction(cut, 16) for cut in range(-48, 64, 4))


def runs(values: list[Any]) -> NumberRuns:
    counted = sorted(Counter(values).items())
    return NumberRuns(np.array([v for v, _ in counted], dtype=np.int64), np.array([c for _, c in counted], dtype=np.int64))


def sides(rows: list[float]) -> tuple[int, int]:
    return raw_sides(as_column(np.array(rows, dtype=np.float64)), Fraction(2))


NEIGHBOURS = [
    (list(table), [*table, added])
    for size in range(3)
    for table in itertools.combinations_with_replacement([1.0, 2.0, 3.0], size)
    for added in (1.0, 2.0, 3.0)
]


def test_the_sign_tests_law_keeps_to_epsilon_on_every_small_pair_and_is_sharp() -> None:
    losses = [largest_log_ratio(*(counts_law(sides(table), 1 / EPSILON, -4, 8) for table in pair)) for pair in NEIGHBOURS]
    assert max(losses) == pytest.approx(float(EPSILON), abs=SLACK)


@pytest.mark.parametrize("twin", [half_noise_law, lead_and_rows_law])
def test_a_sign_test_with_too_little_noise_is_refuted(twin: Any) -> None:
    losses = [largest_log_ratio(*(twin(*sides(table), EPSILON, -4, 8) for table in pair)) for pair in NEIGHBOURS]
    assert max(losses) > 1.9 * EPSILON


def test_the_gaps_law_keeps_to_epsilon_on_every_small_pair() -> None:
    places = [0, STEPS // 3, STEPS]
    losses = []
    for size in range(3):
        for table in itertools.combinations_with_replacement(places, size):
            for added in places:
                laws = [
                    gap_law(raw_gap_to(runs(list(rows))), [len(rows)], EPSILON, -1, 4, CUTS) for rows in (table, (*table, added))
                ]
                losses.append(largest_log_ratio(*laws))
    assert 0.9 * EPSILON < max(losses) <= EPSILON + SLACK


def test_the_gap_between_groups_keeps_to_epsilon_on_every_small_pair() -> None:
    tables = [list(t) for size in range(3) for t in itertools.combinations_with_replacement(range(2), size)]
    for first, second in itertools.product(tables, tables):
        law = gap_law(raw_gap_between(runs(first), runs(second)), [len(first), len(second)], EPSILON, 0, 3, CUTS[::8])
        for added in range(2):
            more = [*first, added]
            other = gap_law(raw_gap_between(runs(more), runs(second)), [len(more), len(second)], EPSILON, 0, 3, CUTS[::8])
            assert largest_log_ratio(law, other) <= EPSILON + SLACK


def test_a_gap_as_a_share_of_public_rows_is_refuted() -> None:
    losses = []
    for size in range(1, 6):
        table = [STEPS // 3] * size
        laws = [share_law(raw_gap_to(runs(rows)), len(rows), EPSILON, SHARE_CUTS) for rows in (table, [*table, 0])]
        losses.append(largest_log_ratio(*laws))
    assert max(losses) > 1.2 * EPSILON


def test_labels_of_both_columns_share_delta_and_a_twin_that_does_not_is_refuted() -> None:
    def chance_of_a_new_label(each_delta: Fraction) -> Fraction:
        """A row that brings a new label to both columns: one of them is found."""
        epsilon = EPSILON * chi_square.FIND_SHARE
        hidden = 1 - release_chance(1, noise_scale(epsilon), threshold_for(epsilon, each_delta))
        return 1 - hidden**2

    fitting = [DELTA * factor for factor in (1, 2, 3, 5, 7, 11)]
    assert all(chance_of_a_new_label(delta / 2) <= delta for delta in fitting)
    assert any(chance_of_a_new_label(delta_for_each_column(delta)) > delta for delta in fitting)


class Spending:
    """What every step of a method is given."""

    def __init__(self) -> None:
        self.steps: list[Fraction] = []
        self.deltas: list[Fraction] = []


@pytest.fixture
def spending(monkeypatch: pytest.MonkeyPatch) -> Spending:
    record = Spending()
    real_counts, real_add, real_draw = chi_square.noisy_counts, kolmogorov.add_laplace, median_tests.draw_quantile
    real_keys, real_column = chi_square.choose_keys, t_tests.read_for_test

    def counts(raw_counts: Any, epsilon: Fraction, rng: Any) -> Any:
        record.steps.append(epsilon)
        return real_counts(raw_counts, epsilon, rng)

    def add(raw: Any, sensitivity: Fraction, epsilon: Fraction, grid: Any, rng: Any) -> Any:
        assert sensitivity == 1
        record.steps.append(epsilon)
        return real_add(raw, sensitivity, epsilon, grid, rng)

    def draw(column: Any, quantile: Fraction, epsilon: Fraction, neighbors: Any, rng: Any) -> int:
        assert neighbors is dp.Neighbors.ADD_REMOVE
        record.steps.append(epsilon)
        return real_draw(column, quantile, epsilon, neighbors, rng)

    def keys(counts: Any, epsilon: Fraction, delta: Fraction, rng: Any) -> Any:
        record.steps.append(epsilon)
        record.deltas.append(delta)
        return real_keys(counts, epsilon, delta, rng)

    def one_column(column: Any, epsilon: Fraction, rng: Any) -> Any:
        before = [*record.steps, epsilon]
        found = real_column(column, epsilon, rng)
        record.steps[:] = before  # what it spends inside is part of that (test_one_column.py)
        return found

    for module in (chi_square, kolmogorov, median_tests, rank_sum_tests, shells, sign_tests, zeros_and_ones):
        monkeypatch.setattr(module, "noisy_counts", counts)
    monkeypatch.setattr(kolmogorov, "add_laplace", add)
    monkeypatch.setattr(median_tests, "draw_quantile", draw)
    monkeypatch.setattr(chi_square, "choose_keys", keys)
    real_cut, real_cells = t_tests.draw_group_cut, t_tests.release_cells

    def cut(column: Any, epsilon: Fraction, rng: Any) -> Any:
        before = list(record.steps)
        found = real_cut(column, epsilon, rng)
        record.steps[:] = [*before, 2 * found.spent]  # both groups' rows are in it
        return found

    def cells(column: Any, clip: Any, degree: int, epsilon: Fraction, rng: Any) -> Any:
        record.steps.append(epsilon)
        return real_cells(column, clip, degree, epsilon, rng)

    monkeypatch.setattr(t_tests, "read_for_test", one_column)
    monkeypatch.setattr(t_tests, "draw_group_cut", cut)
    monkeypatch.setattr(t_tests, "release_cells", cells)
    return record


ROWS = np.random.default_rng(4).normal(size=800)
BY = np.where(np.arange(800) % 2, "a", "b")
PAIR = ["a", "b"]
ASKED: dict[str, tuple[tuple[Any, ...], int]] = {
    "t_test": ((ROWS,), 1),
    "two_sample_t_test": ((ROWS, BY, PAIR), 2),  # two groups that have no row in common
    "sign_test": ((ROWS,), 1),
    "median_test": ((ROWS, BY, PAIR), 1),
    "chi_square_test": ((BY, BY, PAIR, PAIR), 1),
    "association_test": ((BY, BY), 1),
    "goodness_of_fit_test": ((BY, PAIR), 1),
    "ks_test": ((ROWS,), 1),
    "two_sample_ks_test": ((ROWS, BY, PAIR), 1),
}


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("name", ASKED)
def test_all_steps_together_spend_the_whole_of_epsilon_and_half_of_it_where_a_row_may_change(
    name: str, neighbors: str, spending: Spending
) -> None:
    data, parallel = ASKED[name]
    delta = DELTA if name == "association_test" else 0
    release = getattr(dp, name)(*data, epsilon=EPSILON, delta=delta, neighbors=neighbors, rng=seeded(2))
    assert isinstance(release, dp.Release)
    paid = EPSILON if neighbors == "add_remove" else EPSILON / 2
    assert sum(spending.steps) == parallel * paid
    if delta:
        assert sum(spending.deltas) <= (delta if neighbors == "add_remove" else delta / 2)


@pytest.mark.parametrize("name", ["median_test", "ks_test", "two_sample_ks_test"])
def test_a_stated_loss_covers_what_the_steps_cost(name: str, spending: Spending) -> None:
    getattr(dp, name)(*ASKED[name][0], epsilon=1, rng=seeded(2))
    (method,) = find_statistic(name).methods.values()
    assert sum(step**2 / 2 for step in spending.steps) <= method.loss < Fraction(1, 2)
