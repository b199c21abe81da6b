"""Histograms: every row in one bin, noise at its scale, labels only from the threshold on, and no more spent than asked."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import dpstats as dp
from dpstats.accounting.groups import row_epsilon
from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask
from dpstats.mechanisms.thresholding import threshold_for
from dpstats.statistics import histograms
from dpstats.statistics.binned import edges as edges_module
from dpstats.statistics.binned.edges import raw_counts_between
from dpstats.statistics.binned.histogram import Histogram
from dpstats.statistics.histograms import raw_label_counts
from dpstats.testing import seeded
from tests.laws.histograms import counts_law, joint_law
from tests.laws.keys import key_law
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.twins.histograms import (
    bare_labels_law,
    closed_bin_counts,
    half_noise_law,
    raw_edges,
    whole_epsilon_after_edges,
    whole_epsilon_for_a_changed_row,
)

ONE, MILLIONTH = Fraction(1), Fraction(1, 10**6)
VALUES = (-1.0, 0.0, 0.5, 1.0, 7.0)
EDGES = (0.0, 1.0)
REGIONS = np.array(["north"] * 300 + ["south"] * 120 + ["east"] * 60 + ["Xanthippe"])


def histogram(data: object, *arguments: Any, **options: Any) -> Histogram:
    release = dp.histogram(data, *arguments, **{"epsilon": 1, "rng": seeded(1), **options})
    assert isinstance(release, dp.Release)
    assert isinstance(release.value, Histogram)
    return release.value


def neighbours(rows: tuple[Any, ...], values: Sequence[Any], relation: Neighbors) -> set[tuple[Any, ...]]:
    smaller = {rows[:place] + rows[place + 1 :] for place in range(len(rows))}
    if relation is Neighbors.ADD_REMOVE:
        return smaller | {tuple(sorted((*rows, value))) for value in values}
    return {tuple(sorted((*rest, value))) for rest in smaller for value in values}


# Counts


def test_every_row_is_counted_once_wherever_it_lies() -> None:
    column = as_column([-math.inf, -1.0, -0.0, 0.0, 0.999, 1.0, 2.0, math.inf, math.nan])
    assert raw_counts_between(column, EDGES) == [2, 3, 3]
    assert raw_counts_between(as_column(np.array([2**60, 0, 1, -5])), EDGES) == [1, 1, 2]


def test_a_32_bit_row_lies_where_its_decimal_does() -> None:
    rows = np.array([0.7, 0.3, 0.1], dtype=np.float32)  # of which some are a little below their decimals
    assert raw_counts_between(as_column(rows), (0.1, 0.3, 0.7)) == [0, 1, 1, 1]


def test_listed_labels_and_all_others_count_every_row_once() -> None:
    column = as_column(["a", "b", "a", None, 3, "c", "c"], numeric=False)
    assert raw_label_counts(column, ("a", "c", "z")) == [2, 2, 0, 2]


def test_with_next_to_no_noise_it_is_the_histogram_itself() -> None:
    rows = np.random.default_rng(1).normal(50, 15, 5_000)
    found = histogram(rows, epsilon=1e6)
    cuts = [-math.inf, *found.edges, math.inf]
    assert list(found.counts) == np.histogram(rows, cuts)[0].tolist()
    assert found.rows == 5_000
    listed = histogram(REGIONS, ["south", "west"], epsilon=1e6)
    assert (listed.labels, listed.counts, listed.names) == (("south", "west"), (120, 0, 361), ("south", "west", "all others"))


@pytest.mark.parametrize("relation", list(Neighbors))
def test_the_exact_law_of_all_counts_costs_epsilon_on_every_pair_of_small_tables(relation: Neighbors) -> None:
    epsilon = row_epsilon(Fraction(1), relation)
    worst = worst_loss(lambda rows: counts_law(raw_counts_between(as_column(list(rows)), EDGES), 1 / epsilon, -1, 4), relation)
    assert worst == pytest.approx(1.0, rel=1e-12)


def worst_loss(law_of: Any, relation: Neighbors) -> float:
    tables = [tuple(rows) for size in range(3) for rows in itertools.combinations_with_replacement(VALUES, size)]
    pairs = [(rows, other) for rows in tables for other in neighbours(rows, VALUES, relation) if len(other) <= 2]
    laws = {rows: law_of(rows) for rows in tables}
    return max(largest_log_ratio(laws[rows], laws[other]) for rows, other in pairs)


def test_the_twin_with_half_of_the_noise_is_refuted() -> None:
    law_of = lambda rows: half_noise_law(raw_counts_between(as_column(list(rows)), EDGES), ONE, -1, 4)  # noqa: E731
    assert worst_loss(law_of, Neighbors.ADD_REMOVE) > 1.9


def test_the_twin_whose_bins_hold_both_ends_is_refuted() -> None:
    law_of = lambda rows: counts_law(closed_bin_counts(rows, EDGES), ONE, -1, 4)  # noqa: E731
    assert worst_loss(law_of, Neighbors.ADD_REMOVE) > 1.9


def test_the_twin_that_takes_a_changed_row_for_one_step_is_refuted() -> None:
    scale = 1 / whole_epsilon_for_a_changed_row(ONE)
    law_of = lambda rows: counts_law(raw_counts_between(as_column(list(rows)), EDGES), scale, -1, 4)  # noqa: E731
    assert worst_loss(law_of, Neighbors.CHANGE_ONE) > 1.9


def test_the_twin_with_edges_from_the_rows_is_refuted() -> None:
    here, there = (raw_edges(rows, 4) for rows in ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 98765.0]))
    assert set(here) - {1.0} != set(there) - {1.0}  # an outcome that one table has and its neighbour never


@pytest.mark.parametrize("factor", [1.0, 0.9, 1.1])
def test_the_noise_has_the_declared_scale_and_is_told_from_others(factor: float) -> None:
    found = [histogram(np.zeros(0), list(range(1, 999)), epsilon=0.2, rng=seeded(seed)) for seed in range(20)]
    assert {each.noise for each in found} == {5.0}
    noise = np.concatenate([each.noisy for each in found])
    ratio = math.exp(-1 / (5.0 * factor))
    expected = 2 * ratio / (1 - ratio**2)
    deviations = abs(np.abs(noise).mean() - expected) / (np.abs(noise).std() / math.sqrt(noise.size))
    assert (deviations < 4) == (factor == 1.0)


# Unknown labels


def label_law(counts: Counter[str], labels: str, epsilon: Fraction, delta: Fraction) -> dict[Any, Fraction]:
    threshold = threshold_for(epsilon, delta)
    return joint_law([key_law(counts[label], 1 / epsilon, threshold, threshold + 4) for label in labels])


@pytest.mark.parametrize("relation", list(Neighbors))
def test_labels_that_nobody_listed_cost_epsilon_and_delta(relation: Neighbors) -> None:
    part = 2 if relation is Neighbors.CHANGE_ONE else 1
    epsilon, delta = ONE / part, Fraction(1, 100) / part
    near = threshold_for(epsilon, delta)
    worst = 0.0
    for rows in [(), ("a",), ("a", "b"), ("a",) * near, ("a",) * near + ("b",)]:
        for other in neighbours(rows, "ab", relation):
            laws = [label_law(Counter(table), "ab", epsilon, delta) for table in (rows, other)]
            worst = max(worst, hockey_stick(laws[0], laws[1], ONE))
    assert 0.001 < worst <= 0.01 * (1 + 1e-9)


def test_the_twin_without_a_threshold_is_refuted() -> None:
    laws = [bare_labels_law(counts, ["a", "b"], ONE, 20) for counts in ({"a": 5, "b": 1}, {"a": 5})]
    assert hockey_stick(laws[0], laws[1], ONE) > 0.9


def test_a_label_of_one_row_stays_hidden_and_those_of_many_come_by_size() -> None:
    found = histogram(REGIONS, delta=1e-6)
    assert found.labels == ("north", "south", "east")
    assert found.names == found.labels
    assert all(abs(count - true) < 15 for count, true in zip(found.counts, (300, 120, 60), strict=True))
    for seed in range(30):
        assert "Xanthippe" not in str(histogram(REGIONS, delta=1e-6, rng=seeded(seed)).to_dict())


def test_what_is_released_does_not_follow_the_order_of_the_rows() -> None:
    assert histogram(REGIONS, delta=1e-6) == histogram(REGIONS[::-1], delta=1e-6)
    assert histogram(REGIONS, ["east"]) == histogram(REGIONS[::-1], ["east"])


# Spending


class Spending:
    """What the parts of a histogram are given."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.limits: list[Fraction] = []
        self.counts: list[Fraction] = []
        real_limits, real_counts = edges_module.draw_limits, edges_module.noisy_counts

        def watch_limits(column: Any, epsilon: Fraction, rng: Any) -> Any:
            found = real_limits(column, epsilon, rng)
            assert 0 < found.spent <= epsilon
            self.limits.append(found.spent)
            return found

        def watch_counts(raw_counts: Any, epsilon: Fraction, rng: Any) -> Any:
            self.counts.append(epsilon)
            return real_counts(raw_counts, epsilon, rng)

        monkeypatch.setattr(edges_module, "draw_limits", watch_limits)
        for module in (edges_module, histograms):
            monkeypatch.setattr(module, "noisy_counts", watch_counts)


@pytest.mark.parametrize("relation", list(Neighbors))
@pytest.mark.parametrize(
    "rows", [np.zeros(0), np.full(400, 12.99), np.arange(500.0), np.random.default_rng(1).normal(size=3_000)]
)
def test_limits_look_and_counts_add_up_to_epsilon(monkeypatch: pytest.MonkeyPatch, relation: Neighbors, rows: Any) -> None:
    spending = Spending(monkeypatch)
    found = histogram(rows, neighbors=relation)
    spent = sum(spending.limits + spending.counts, Fraction(0))
    assert spent == (ONE if relation is Neighbors.ADD_REMOVE else ONE / 2)
    assert found.noise == pytest.approx(float(1 / spending.counts[-1]))
    edges_spent = spent - spending.counts[-1]
    assert edges_spent + whole_epsilon_after_edges(spent, edges_spent) > spent  # which the broken twin would pay


@pytest.mark.parametrize("bins", [[1, 2, 3], ["north", "south"]])
def test_listed_bins_leave_all_of_epsilon_to_the_counts(monkeypatch: pytest.MonkeyPatch, bins: list[Any]) -> None:
    spending = Spending(monkeypatch)
    histogram(np.array([1.0, 2.5]) if bins[0] == 1 else REGIONS, bins, epsilon="0.7")
    assert (spending.limits, spending.counts) == ([], [Fraction(7, 10)])


def test_a_delta_is_spent_on_labels_that_are_not_listed_and_on_nothing_else() -> None:
    def cost(data: object, *bins: Any) -> dp.PrivacyCost:
        return dp.histogram(data, *bins, epsilon=1, delta=1e-6, rng=seeded(1)).cost

    assert cost(REGIONS).delta == MILLIONTH
    assert cost(REGIONS, ["north"]).delta == 0
    assert cost(np.array([1.0, 2.0, 3.0] * 20)).delta == 0
    assert cost(np.array([1.0, 2.0, 3.0] * 20), [1, 2]).delta == 0


# Values


def test_intervals_cover_the_true_counts_as_often_as_they_say() -> None:
    rows = np.random.default_rng(3).integers(0, 50, 4_000)
    cuts = list(range(1, 50))
    true = raw_counts_between(as_column(rows), [float(cut) for cut in cuts])
    for level in (0.5, 0.95):
        found = [histogram(rows, cuts, epsilon=0.3, interval=level, rng=seeded(seed)) for seed in range(20)]
        hits = [low <= count <= high for each in found for low, count, high in zip(each.low, true, each.high, strict=True)]
        assert level - 0.04 < sum(hits) / len(hits) < level + (0.2 if level == 0.5 else 0.05)


def test_a_release_has_an_interval_for_each_bin_and_none_where_none_is_wanted() -> None:
    release = dp.histogram(np.array([1.0, 2.0, 3.0]), [2, 3], epsilon=1, rng=seeded(1))
    assert isinstance(release, dp.Release)
    assert [(each.low, each.high) for each in release.intervals] == list(zip(release.value.low, release.value.high, strict=True))
    silent = dp.histogram(np.array([1.0, 2.0, 3.0]), [2, 3], epsilon=1, interval=None, rng=seeded(1))
    assert isinstance(silent, dp.Release)
    assert silent.intervals == ()
    assert " to " not in silent.value.bars().replace("2 to 3", "")


def test_negative_counts_are_shown_as_zero_and_the_total_keeps_the_noise() -> None:
    found = Histogram((0.0, 1.0), (), (-3, 10, 1), 2, 0.95, 1.0)
    assert found.counts == (0, 10, 1)
    assert found.rows == 8
    assert found.shares == (0.0, 10 / 11, 1 / 11)
    assert (found.low, found.high) == ((0, 8, 0), (0, 12, 3))
    assert Histogram((0.0,), (), (-3, -1), 2, 0.95, 1.0).shares == (0.0, 0.0)


def test_it_is_the_same_after_a_trip_through_plain_values() -> None:
    for found in (
        histogram(np.array([1.5, 2.0] * 50)),
        histogram(REGIONS, delta=1e-6),
        histogram(REGIONS, ["east"], interval=None),
    ):
        assert Histogram.from_dict(found.to_dict()) == found


def test_bars_are_as_long_as_the_counts_and_shaded_by_the_interval() -> None:
    found = Histogram((0.0, 10.0), (), (0, 20, 8), 2, 0.95, 1.0)
    assert found.bars(22, ascii_only=True).splitlines() == [
        "    below 0   0  --                      0 to 2",
        "    0 to 10  20  ##################==--  18 to 22",
        "10 and more   8  ######==--              6 to 10",
    ]
    assert "█" in found.bars()
    assert Histogram((), (), (), 0, None, 1.0).bars() == ""


def test_a_label_cannot_write_lines_or_markup() -> None:
    nasty = np.array(["<b>\n</b>"] * 200)
    found = histogram(nasty, delta=1e-6)
    assert len(found.bars().splitlines()) == 1
    assert "\n" not in str(found)
    assert "<b>" not in found._repr_html_()


def test_the_text_says_how_many_bins_and_rows_and_where_most_are() -> None:
    assert str(Histogram((0.0, 10.0), (), (0, 1200, 8), 2, 0.95, 1.0)) == "3 bins, about 1,208 rows; most in 0 to 10: 1,200"
    assert str(Histogram((), (), (), 0, None, 1.0)) == "0 bins, about 0 rows"


# Questions


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (0, "from 1 to 999"),
        (1_000, "from 1 to 999"),
        ([], "1 to 999 edges or labels, got 0"),
        ([2, 1], "ascend"),
        ([1, 1], "ascend"),
        ([1, 1 + 1e-15], "15 digits"),
        ([0, math.inf], "finite number"),
        (["a", "a"], "each label once"),
        (["a", None], "texts or numbers"),
        ("ten", "a number of bins, such as 10"),
        (2.5, "a number of bins, such as 10"),
        ([1, [2]], "must be a number"),
    ],
)
def test_bins_that_are_none_are_refused(bins: object, words: str) -> None:
    with pytest.raises(dp.InvalidParameterError, match=words):
        ask("histogram", bins, epsilon=1)


def test_labels_need_a_list_or_a_delta_and_numbers_take_no_labels() -> None:
    with pytest.raises(dp.DataTypeError, match=r"needs either a list of them, such as bins=.* or delta, such as delta=1e-6"):
        dp.histogram(REGIONS, epsilon=1)
    with pytest.raises(dp.DataTypeError, match="the column holds numbers: list edges"):
        dp.histogram(np.array([1.0, 2.0]), ["a", "b"], epsilon=1)
    with pytest.raises(dp.MissingParameterError, match="needs delta"):
        dp.histogram(REGIONS, epsilon=1, method="thresholded")


def test_a_column_of_labels_takes_numbers_as_labels() -> None:
    found = histogram(["a", "b", "c", 1, 2, 2, "a", "b"], [1, 2], kind="labels", epsilon=1e6)
    assert (found.labels, found.counts) == ((1.0, 2.0), (1, 2, 5))


def test_dates_and_categories_have_labels() -> None:
    days = pl.Series(["2024-01-01"] * 80 + ["2024-01-02"] * 40).str.to_date()
    assert histogram(days, delta=1e-6).labels == ("2024-01-01", "2024-01-02")
    kinds = pl.Series(["x"] * 90, dtype=pl.Categorical)
    assert histogram(kinds, delta=1e-6).labels == ("x",)


def test_the_card_says_what_edges_cost_and_what_the_noise_is() -> None:
    card = dict(dp.histogram(np.arange(2_000.0), epsilon=1, rng=seeded(1)).card().lines)
    assert "found privately, with" in card["edges"]
    assert card["reliable from"].startswith("about 1,000 rows")
    assert "of scale" in card["noise"]
    assert "rows of this table" in card["intervals"]


def test_a_plan_says_how_wide_the_intervals_are() -> None:
    plan = dp.plan("histogram", epsilon=1, n=2_000, shape="normal", repeats=5, rng=seeded(1))
    (row,) = plan.rows
    assert row.half_width is not None
    assert 1 < row.half_width < 20
    assert "half-width" in str(plan)
