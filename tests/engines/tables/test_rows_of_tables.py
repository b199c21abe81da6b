"""A table by its rows: the matrix, and sums over rows, whatever batches the rows come in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType
from dpstats.engines.groups.keys import GroupKeys
from dpstats.engines.passes import rows as passes
from dpstats.engines.passes.rows import RowScan, RowTotals
from dpstats.engines.tables import groups as group_tables
from dpstats.engines.tables.given import as_table
from dpstats.engines.tables.groups import answer_group_tables
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from tests.engines.cell_stores import CellStore, Computed, FarStore, numbers, texts
from tests.engines.stores.ugly import Products

NUMBER, INTEGER, TEXT = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.TEXT
SUMS = Products(4, 100)
STORES: dict[str, Callable[..., CellStore]] = {
    "streamed": CellStore,
    "far": FarStore,
    "in memory": lambda *rest, **more: CellStore(*rest, in_memory=True, **more),
}


def sums_of(rows: Sequence[Sequence[Any]], columns: int) -> tuple[int, ...]:
    return SUMS.by_hand([[float(cell) for cell in row] for row in rows]) if rows else (0,) * (1 + columns**2)


class Lengths:
    """A sum that notes how many rows it is shown."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def __call__(self, raw_rows: NDArray[np.float64]) -> NDArray[np.int64]:
        self.seen.append(len(raw_rows))
        return np.array([len(raw_rows)], dtype=np.int64)


few = st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, 2.0**53, float("inf"), float("-inf")])
whole = st.sampled_from([None, 0, -7, 2**53 + 1, -(2**63)])


@settings(max_examples=80)
@given(
    rows=st.lists(st.tuples(few, whole, few, st.sampled_from([None, "a", "b"])), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
    kind=st.sampled_from(list(STORES)),
    at_once=st.sampled_from([1, 3, 16, 1 << 14]),
)
def test_neither_batches_nor_places_nor_sheets_matter(rows: list[Any], cuts: list[int], kind: str, at_once: int) -> None:
    x, n, y, by = ([row[place] for row in rows] for place in range(4))
    columns = {"x": numbers(x), "n": numbers(n, "int64"), "y": numbers(y), "by": texts(by)}
    store = STORES[kind](columns, {"x": NUMBER, "n": INTEGER, "y": NUMBER, "by": TEXT}, cuts)
    view = TableView(store.columns)
    complete = [row for row in rows if None not in row[:3]]

    def look(_: Any, table: Any) -> Any:
        return sorted(table.matrix().tolist()), table.row_sums(SUMS)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "MOST_ROWS_AT_ONCE", at_once)
        found = look(None, StoreTable(store, view, ["x", "n", "y"], [True] * 3))
        assert found == (sorted([float(cell) for cell in row[:3]] for row in complete), sums_of([row[:3] for row in complete], 3))
        for limit in (-1, 10**6):
            patch.setattr(group_tables, "SPLIT_ROWS", limit)
            keys = GroupKeys(("by",), (TEXT,), (("a",), ("b",), ("nobody",)))
            for (label,), own in answer_group_tables(store, view, keys, ["y", "x"], [True, True], look).items():
                pairs = [[row[2], row[0]] for row in rows if row[3] == label and None not in (row[0], row[2])]
                assert own == (sorted(pairs), sums_of(pairs, 2))


def test_zero_has_no_sign_and_whole_numbers_are_the_nearest_floats() -> None:
    signed = np.array([-0.0, 0.0, 1.0])
    largest = np.array([2**64 - 1, 2**53 + 1, 0], dtype=np.uint64)
    matrix = as_table([signed, largest, np.array([True, False, True])]).matrix()
    assert matrix.tolist() == [[0.0, 2.0**64, 1.0], [0.0, 2.0**53, 0.0], [1.0, 0.0, 1.0]]
    assert not np.signbit(matrix).any()
    assert np.signbit(signed[0])


def test_rows_of_many_batches_are_shown_together_and_no_more_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "MOST_ROWS_AT_ONCE", 8)
    store = CellStore({"x": numbers([1.0, None] * 15), "y": numbers([2] * 30)}, {"x": NUMBER, "y": NUMBER}, range(0, 30, 3))
    table, lengths = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True]), Lengths()
    filled = store.run(RowScan(table._view, RowTotals(lengths)), ["x", "y"])
    assert lengths.seen == [8, 7]
    assert filled.totals(2) == (15,)
    whole = as_table([np.zeros(20), np.zeros(20)])
    assert whole.row_sums(again := Lengths()) == (20,)
    assert again.seen == [8, 8, 4]


def test_sums_outgrow_64_bits() -> None:
    huge = 2**62

    def most(raw_rows: NDArray[np.float64]) -> NDArray[np.int64]:
        return np.array([huge, -huge], dtype=np.int64)

    store = CellStore({"x": numbers([1.0] * 40_000)}, {"x": NUMBER})
    assert StoreTable(store, TableView(store.columns), ["x"], [True]).row_sums(most) == (3 * huge, -3 * huge)


@pytest.mark.parametrize("kind", list(STORES))
def test_a_table_without_rows_adds_nothing(kind: str) -> None:
    store = STORES[kind]({"x": numbers([]), "y": numbers([])}, {"x": NUMBER, "y": INTEGER})
    table = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True])
    assert table.matrix().shape == (0, 2)
    assert table.row_sums(SUMS) == (0,) * 5
    store.batches = lambda columns: iter(())  # type: ignore[method-assign]
    assert table.matrix().shape == (0, 2)
    assert table.row_sums(SUMS) == (0,) * 5


def test_conditions_and_derived_columns_count() -> None:
    store = CellStore({"x": numbers([1, 2, None, 4]), "y": numbers([9, 8, 7, 6])}, {"x": NUMBER, "y": NUMBER}, [2])
    twice = Computed((("x", NUMBER),), lambda cells: type(cells)(2 * cells.raw_values, cells.raw_present))
    small = Computed((("y", NUMBER),), lambda cells: cells.raw_values < 9, ColumnType.BOOLEAN)
    table = StoreTable(store, TableView(store.columns, {"twice": twice}, (small,)), ["twice", "y"], [True, True])
    assert table.matrix().tolist() == [[8.0, 6.0], [4.0, 8.0]]  # ascending, as the store keeps no order
    assert store.last_columns == ["x", "y"]


def test_a_collector_cannot_change_the_rows_and_labels_have_none() -> None:
    def greedy(raw_rows: NDArray[np.float64]) -> NDArray[np.int64]:
        raw_rows += 1
        return np.zeros(1, dtype=np.int64)

    values = np.array([1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        as_table([values, values]).row_sums(greedy)
    assert values.tolist() == [1.0, 2.0]
    with pytest.raises(DataTypeError, match="all read as numbers"):
        as_table([values, ["a", "b"]], [True, False]).matrix()
