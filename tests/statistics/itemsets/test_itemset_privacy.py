"""Frequent itemsets and rules as a whole: no course of draws and noisy counts reveals more than was paid for."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.tables.table import StoreCodes
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import CutCoding, LabelCoding
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget
from dpstats.statistics.itemsets.candidates import CandidateSets, RawSetCounts
from dpstats.statistics.itemsets.measured_sets import measure_sets, with_parts
from dpstats.testing import seeded
from tests.replays.itemsets import ItemsetCourse
from tests.twins.itemsets import counts_as_they_are

EPSILON = 2.0
LISTED: dict[str, Any] = {"levels": {"color": ["red", "blue"], "size": ["s", "m"]}, "size": 2, "k": 3, "epsilon": EPSILON}
ROWS = [("red", "s"), ("red", "s"), ("blue", "m"), ("red", None), ("green", "m")]


def table_of(rows: list[tuple[Any, Any]]) -> dict[str, Any]:
    return {"color": np.array([row[0] for row in rows], object), "size": np.array([row[1] for row in rows], object)}


def raw_of(rows: list[tuple[Any, Any]]) -> RawSetCounts:
    store = MemoryStore(table_of(rows))
    codes = StoreCodes(store, TableView(store.columns), ["color", "size"], [False, False])
    tables = CandidateSets((2, 2), 0, 2).tables
    return RawSetCounts.of(codes, [LabelCoding(("red", "blue")), LabelCoding(("s", "m"))], tables)


@pytest.mark.parametrize("name", ["frequent_itemsets", "association_rules"])
@pytest.mark.parametrize("row", [("red", "s"), ("blue", "m"), ("green", "s"), ("red", None), (None, None)])
def test_no_course_reveals_more_than_epsilon(name: str, row: tuple[Any, Any]) -> None:
    losses = []
    for chosen, noisy in itertools.product([(0, 3, 2), (3, 1, 0), (1, 2, 3)], (0, 50)):
        logs = []
        for rows in (ROWS, [*ROWS, row]):
            course = ItemsetCourse(chosen, noisy)
            assert course.run(name, table_of(rows), **LISTED)
            logs.append(course.log_probability)
        losses.append(abs(logs[0] - logs[1]))
    assert max(losses) <= EPSILON + 1e-9
    assert max(losses) > 0 or row == (None, None)


@given(st.tuples(st.sampled_from(["red", "blue", "green", None]), st.sampled_from(["s", "m", "l", None])))
def test_one_row_more_raises_counts_by_one_at_most_and_one_set_of_the_same_columns(row: tuple[Any, Any]) -> None:
    here, there = raw_of(ROWS), raw_of([*ROWS, row])
    for columns, raw_counts in there.raw_counts.items():
        moved = raw_counts - here.raw_counts[columns]
        assert moved.min() >= 0
        assert moved.sum() <= 1


def test_candidates_are_all_sets_of_different_columns() -> None:
    sets = CandidateSets((2, 3, 2), 1, 3)
    listed = [sets.items(place) for place in range(sets.how_many)]
    assert len(set(listed)) == sets.how_many == 7 + (6 + 4 + 6) + 12
    raw = {
        columns: np.arange(math.prod(sets.sizes[c] for c in columns)).reshape([sets.sizes[c] for c in columns])
        for columns in sets.tables
    }
    counted = RawSetCounts(raw)
    assert [counted.count(items) for items in listed] == counted.flat(sets.tables).tolist()


@pytest.mark.parametrize("kind", [PureTableBudget, ConcentratedTableBudget])
def test_counts_spend_what_is_left_and_sets_of_the_same_columns_share(kind: Any) -> None:
    raw, budget = raw_of(ROWS * 1000), kind(Fraction(1), seeded(1))
    sets = [((0, 0),), ((0, 1),), ((0, 0), (1, 0))]
    measured = measure_sets(raw, sets, budget)
    assert budget.left == 0
    assert measured.noise == kind(Fraction(1), seeded(1)).law(Fraction(1, 3))  # all rows, one column, two columns
    assert measured.rows == pytest.approx(5000, abs=60)
    assert with_parts([((0, 0), (1, 0))]) == [((0, 0),), ((1, 0),), ((0, 0), (1, 0))]


def test_counts_without_noise_are_caught() -> None:
    sets = [((0, 0),), ((1, 0),)]
    told = [counts_as_they_are([raw_of(rows).count(items) for items in sets]) for rows in (ROWS, [*ROWS, ("red", "s")])]
    assert told[0] != told[1]  # of two neighbours each has outcomes that the other one cannot have: an infinite loss


def test_codings_without_an_item_have_a_code_of_their_own() -> None:
    values = {"x": np.array([1.0, np.nan, 5.0]), "y": np.array(["a", "b", "a"], object)}
    store = MemoryStore(values)
    codes = StoreCodes(store, TableView(store.columns), ["x", "y"], [True, False])
    raw = RawSetCounts.of(codes, [CutCoding((3.0,)), LabelCoding(("a",))], [(), (0,), (1,), (0, 1)])
    assert raw.count(()) == 3
    assert raw.raw_counts[0,].tolist() == [1, 1]
    assert raw.raw_counts[1,].tolist() == [2]
    assert raw.raw_counts[0, 1].tolist() == [[1], [1]]


def test_changing_one_row_costs_two_steps() -> None:
    words = {**LISTED, "neighbors": "change_one"}
    first, last = ItemsetCourse([0, 4, 2]), ItemsetCourse([0, 4, 2])
    first.run("frequent_itemsets", table_of([*ROWS, ("red", "s")]), **words)
    last.run("frequent_itemsets", table_of([*ROWS, ("blue", "m")]), **words)
    assert abs(first.log_probability - last.log_probability) <= EPSILON
    assert dp.frequent_itemsets(table_of(ROWS), **words, rough=True, rng=seeded(1)).cost.epsilon == EPSILON
