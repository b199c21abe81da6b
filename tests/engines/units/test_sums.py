"""Sums by unit: the scores of a unit's rows added up exactly, however the rows come, and squares counted by octaves."""

from __future__ import annotations

import math
import pickle
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.engines.cells import ColumnType
from dpstats.engines.passes.columns import open_column
from dpstats.engines.units import sums
from dpstats.engines.units.contributions import BoundedStore, MissingUnit
from dpstats.engines.units.sums import OCTAVES, MostRows, UnitScan, UnitSteps
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.summaries import BelowScore, Clip, PlaceScore, SquareOctaves, UnitScore, units_of
from tests.engines.units.test_contributions import ListedStore, bound

VIEW = TableView({"unit": ColumnType.UNDECLARED, "value": ColumnType.INTEGER})
CLIP = Clip(-8, 20, Fraction(1, 2))
SCORES: list[UnitScore] = [
    PlaceScore(CLIP, 7),
    PlaceScore(CLIP, 7, 30),
    BelowScore((2,), 5, 3),
    BelowScore((2, math.nextafter(2, 9)), 4, 4),
]
ids = st.one_of(st.none(), st.integers(0, 4), st.sampled_from(["a", "b", "1"]))
rows = st.lists(st.tuples(ids, st.one_of(st.none(), st.integers(-30, 30))), max_size=30)


def score_by_hand(score: UnitScore, value: int) -> int:
    if isinstance(score, BelowScore):
        return score.weight * sum(value < cut for cut in score.cuts) - score.centre
    distance = score.clip.place(value) - score.centre
    return distance if score.square is None else distance**2 - score.square


def octaves_by_hand(squares: Iterable[int]) -> SquareOctaves:
    units, totals = [0] * (OCTAVES + 1), [0] * (OCTAVES + 1)
    for square in squares:
        units[square.bit_length()] += 1
        totals[square.bit_length()] += square
    return SquareOctaves(tuple(units), tuple(totals))


def by_hand(kept: Sequence[tuple[Any, int | None]], score: UnitScore, missing: MissingUnit) -> SquareOctaves:
    """From the definition, over rows that stay; 1 and "1" are different units."""
    totals: defaultdict[Any, int] = defaultdict(int)
    for place, (unit, value) in enumerate(kept):
        if value is not None and not (unit is None and missing is MissingUnit.DROP):
            totals[("alone", place) if unit is None and missing is MissingUnit.EACH else unit] += score_by_hand(score, value)
    return octaves_by_hand(total**2 for total in totals.values())


def squares_of(store: Any, score: UnitScore, missing: MissingUnit) -> SquareOctaves:
    column = open_column(store, VIEW, "value", True)
    column.take_units(UnitSteps.of(bound(30, missing=missing), Fraction(1), 1))  # type: ignore[attr-defined]
    units = units_of(column)
    assert units is not None
    return units.squares(score)


@given(rows, st.lists(st.integers(0, 9), max_size=4), st.sampled_from(SCORES), st.sampled_from(MissingUnit))
def test_scores_are_added_up_by_unit_however_the_rows_come(
    table: list[tuple[Any, int | None]], lengths: list[int], score: UnitScore, missing: MissingUnit
) -> None:
    store = BoundedStore(ListedStore(table, lengths), bound(30, missing=missing))
    assert squares_of(store, score, missing) == by_hand(table, score, missing)


def test_parts_are_added_up_before_they_are_squared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sums, "HELD_ROWS", 5)
    table = [(place % 7, place % 11 - 5) for place in range(90)]
    scan = UnitScan(VIEW, "value", ColumnType.INTEGER, SCORES[0], bound(30))
    stores = [ListedStore(table[start : start + 20], [3, 3]) for start in range(0, 90, 20)]
    parts = [pickle.loads(pickle.dumps(scan.scan(store.batches(["unit", "value"])))) for store in stores]
    assert scan.merge(parts[::-1]).octaves() == by_hand(table, SCORES[0], MissingUnit.DROP)


def test_conditions_leave_rows_of_a_unit_out() -> None:
    from dpstats.engines.expressions import condition

    table = [(unit, value) for unit in range(5) for value in range(-6, 7, unit + 1)]
    view = TableView(VIEW.schema, conditions=(condition("value > 1", VIEW.schema),))
    column = open_column(ListedStore(table, [4]), view, "value", True)
    column.take_units(UnitSteps.of(bound(30), Fraction(1), 1))  # type: ignore[attr-defined]
    found = units_of(column).squares(SCORES[0])  # type: ignore[union-attr]
    assert found == by_hand([row for row in table if row[1] > 1], SCORES[0], MissingUnit.DROP)


def test_squares_of_any_size_are_added_up_exactly() -> None:
    totals = sums.UnitTotals()
    large = np.array([2**31 - 1, -(2**31) + 1, 2**40, 3, 0, -1, 2**30], dtype=np.int64)
    totals.add(np.arange(large.size, dtype=np.uint64), large)
    totals.add_alone(large)
    capped = [min(abs(int(each)), 2**31 - 1) ** 2 for each in large]
    assert totals.octaves() == octaves_by_hand(capped * 2)


def test_steps_that_were_not_paid_for_are_refused() -> None:
    steps = UnitSteps.of(bound(3), Fraction(1, 5), 2)
    assert [steps.next(), steps.next()] == [Fraction(1, 5)] * 2
    with pytest.raises(DpstatsError, match="more steps by unit"):
        steps.next()
    free = UnitSteps.of(bound(3), None, 0)
    assert [free.next(), free.next()] == [None, None]


def test_every_question_marks_units_by_a_key_of_its_own() -> None:
    one, other = (UnitSteps.of(bound(3), None, 0).bound.key for _ in range(2))
    assert one != other
    assert len(one) >= 16


def test_a_column_of_rows_without_ids_knows_only_how_many_a_unit_has() -> None:
    from dpstats.engines.groups.answers import GroupKeys, answer_groups

    def asked(_: Any, column: Any) -> Any:
        column.take_units(UnitSteps.of(bound(9), Fraction(1), 1))
        return column.units

    keys = GroupKeys(("unit",), (ColumnType.NUMBER,), ((1,), (2,)))
    view = TableView({"unit": ColumnType.NUMBER, "value": ColumnType.INTEGER})
    found = answer_groups(ListedStore([(1, 1), (2, 2)]), view, keys, "value", True, asked)
    assert set(found.values()) == {MostRows(9)}
