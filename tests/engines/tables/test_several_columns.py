"""Several columns of the same rows: what each store says of them is what a loop over the rows says."""

from __future__ import annotations

import datetime
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import dpstats.statistics  # noqa: F401  (announces them to the registry)
from dpstats.engines.cells import ColumnType, Labels, Numbers
from dpstats.engines.exact import thinned
from dpstats.engines.exact.thinned import Room
from dpstats.engines.groups.keys import GroupKeys
from dpstats.engines.passes import columns as passes
from dpstats.engines.reading import type_of
from dpstats.engines.tables import groups as group_tables
from dpstats.engines.tables import table as tables
from dpstats.engines.tables.given import as_column, as_table
from dpstats.engines.tables.groups import answer_group_tables
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError, UnknownNameError
from dpstats.foundations.registry import ask
from dpstats.foundations.summaries import Clip, Column, Table, WindowRequest
from tests.engines.cell_stores import CellStore, Computed, FarStore, moments, numbers, opaque, texts

NUMBER, TEXT, INTEGER, MOMENT = ColumnType.NUMBER, ColumnType.TEXT, ColumnType.INTEGER, ColumnType.MOMENT
UNDECLARED = ColumnType.UNDECLARED
CLIP = Clip(-200, 400, Fraction(1, 4))
MEDIAN = WindowRequest(Fraction(1, 2), 3)
STORES: dict[str, Callable[..., CellStore]] = {
    "streamed": CellStore,
    "far": FarStore,
    "in memory": lambda *rest, **more: CellStore(*rest, in_memory=True, **more),
}


@pytest.fixture(autouse=True)
def _repeatable_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinned, "urandom", random.Random(17).randbytes)


@pytest.fixture(params=["streamed", "split", "far", "in memory"])
def make_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[..., CellStore]:
    """Each way to come to rows, with samples so small that columns have to be passed over."""
    monkeypatch.setattr(passes, "STREAMED", Room(40, 40))
    monkeypatch.setattr(passes, "REMOTE", Room(10, 40))
    if request.param == "streamed":
        monkeypatch.setattr(tables, "SPLIT_ROWS", -1)
        monkeypatch.setattr(group_tables, "SPLIT_ROWS", -1)
    return STORES["streamed" if request.param == "split" else request.param]


Row = tuple[float | None, int | None, str | None]


def some_rows(how_many: int = 300) -> list[Row]:
    chance = random.Random(how_many)
    return [
        (
            chance.choice([None, float("inf"), -0.0, chance.gauss(0, 30), chance.gauss(0, 30)]),
            chance.choice([None, 2**53 + 1, chance.randrange(-90, 90), chance.randrange(-90, 90)]),
            chance.choice([None, "a", "b", "b"]),
        )
        for _ in range(how_many)
    ]


def stored(make_store: Callable[..., CellStore], rows: Sequence[Row]) -> CellStore:
    x, y, by = ([row[place] for row in rows] for place in range(3))
    columns = {"x": numbers(x), "y": numbers(y, "int64"), "by": texts(by)}  # type: ignore[arg-type]
    return make_store(columns, {"x": NUMBER, "y": INTEGER, "by": TEXT}, [1, 40, 41, 200])


def complete(rows: Sequence[Row], *places: int) -> list[Any]:
    kept = [tuple(row[place] for place in places) for row in rows]
    return [row for row in kept if None not in row]


def all_about(column: Column) -> list[Any]:
    """What a column of numbers says, in a form that compares."""
    (window,) = column.order_windows([MEDIAN])
    return [
        (window.raw_below, window.raw_values.tolist(), window.raw_counts.tolist()),
        column.power_sums(CLIP, 2),
        [part.tolist() for part in column.tally()],
        column.counts_below([0]),
        column.count(),
    ]


def by_hand(values: Sequence[float]) -> list[Any]:
    return all_about(passes.ArrayColumn([np.array(values)]) if values else passes.ArrayColumn([np.empty(0)]))


def test_pairs_and_their_sums_are_those_of_a_loop(make_store: Callable[..., CellStore]) -> None:
    rows = some_rows()
    store = stored(make_store, rows)
    table = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True])
    pairs = complete(rows, 0, 1)
    x, y = table.pairs()
    assert (x.dtype, y.dtype) == (np.dtype(np.float64), np.dtype(np.int64))
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == sorted(pairs)
    places = [(CLIP.place(x), CLIP.place(y)) for x, y in pairs]
    assert table.product_sums((CLIP, CLIP), 2) == tuple(
        tuple(sum(a**i * b**j for a, b in places) for j in range(3)) for i in range(3)
    )


def test_a_column_has_the_rows_that_are_missing_in_no_column(make_store: Callable[..., CellStore]) -> None:
    rows = some_rows()
    store = stored(make_store, rows)
    table = StoreTable(store, TableView(store.columns), ["x", "y", "by"], [True, True, False])
    kept = complete(rows, 0, 1, 2)
    assert all_about(table.column(0)) == by_hand([float(x) for x, _, _ in kept])
    assert table.column(2).most_common(9) == Counter(by for _, _, by in kept).most_common()
    assert [table.column(place).stored() for place in range(3)] == [len(rows)] * 3
    assert [table.column(place).count() for place in range(3)] == [len(kept)] * 3


def test_a_column_by_label_has_the_rows_of_its_label(make_store: Callable[..., CellStore]) -> None:
    rows = some_rows()
    store = stored(make_store, rows)
    table = StoreTable(store, TableView(store.columns), ["x", "by"], [True, False])
    labels = ["b", "a", "nobody", "b"]
    for column, label in zip(table.columns_by_label(0, 1, labels), labels, strict=True):
        assert all_about(column) == by_hand([float(x) for x, by in complete(rows, 0, 2) if by == label])
    assert table.columns_by_label(0, 1, []) == []


def test_the_rows_of_all_labels_are_read_once_where_they_fit() -> None:
    store = stored(STORES["in memory"], some_rows())
    for column in StoreTable(store, TableView(store.columns), ["x", "by"], [True, False]).columns_by_label(0, 1, ["a", "b"]):
        all_about(column)
    assert store.runs == 1


def test_numbers_and_booleans_and_dates_are_labels_too() -> None:
    store = CellStore(
        {
            "x": numbers([1, 2, 3, 4]),
            "n": numbers([7, 7.5, 7, None]),
            "day": moments(["2024-02-29", None, "1970-01-01", "1970-01-01"]),
        },
        {"x": NUMBER, "n": NUMBER, "day": MOMENT},
    )
    by_number = StoreTable(store, TableView(store.columns), ["x", "n"], [True, False])
    assert [column.count() for column in by_number.columns_by_label(0, 1, [7, 7.0, np.float64(7.5), True, "7"])] == [
        2,
        2,
        1,
        0,
        0,
    ]
    assert by_number.label_pairs() == {(1, 7): 1, (2, 7.5): 1, (3, 7): 1}
    by_day = StoreTable(store, TableView(store.columns), ["x", "day"], [True, False])
    labels = ["1970-01-01", datetime.date(1970, 1, 1), datetime.datetime(2024, 2, 29), "never"]
    assert [column.count() for column in by_day.columns_by_label(0, 1, labels)] == [2, 2, 1, 0]
    assert by_day.label_pairs() == {(1, "2024-02-29"): 1, (3, "1970-01-01"): 1, (4, "1970-01-01"): 1}


def undeclared(make: Callable[..., CellStore]) -> CellStore:
    """A column of which the first and third cells are numbers, and the third and fourth have the same label otherwise."""
    raw_numbers = Numbers(np.array([5.0, 0.0, 6.0, 0.0]), np.array([True, False, True, False]))
    labels = Labels(np.array([0, 1, 2, 3]), ["5", "west", "6", "east"])
    return make({"x": numbers([1, 2, 3, None]), "u": raw_numbers}, {"x": NUMBER, "u": UNDECLARED}, [2], texts={"u": labels})


@pytest.mark.parametrize("kind", list(STORES))
def test_undeclared_labels_are_numbers_where_they_are_numbers(kind: str) -> None:
    store = undeclared(STORES[kind])
    table = StoreTable(store, TableView(store.columns), ["x", "u"], [True, False])
    assert table.label_pairs() == {(1, 5): 1, (2, "west"): 1, (3, 6): 1}
    assert table.column(1).most_common(5) == [(5, 1), (6, 1), ("west", 1)]
    assert [column.count() for column in table.columns_by_label(0, 1, [5, "5", "west", "east"])] == [1, 0, 1, 0]
    keys = GroupKeys(("x",), (NUMBER,), ((1,), (2,)))
    found = answer_group_tables(
        store, TableView(store.columns), keys, ["x", "u"], [True, False], lambda _, own: own.label_pairs()
    )
    assert found == {(1,): {(1, 5): 1}, (2,): {(2, "west"): 1}}
    assert StoreTable(store, TableView(store.columns), ["x", "u"], [True, True]).column(0).count() == 2


def doubled(cells: Numbers) -> Numbers:
    return Numbers(2 * cells.raw_values, cells.raw_present)


def is_large(cells: Numbers) -> NDArray[np.bool_]:
    mask: NDArray[np.bool_] = cells.raw_values > 10
    return mask if cells.raw_present is None else mask & cells.raw_present


@pytest.mark.parametrize("grouped", [False, True])
def test_conditions_and_derived_columns_count(make_store: Callable[..., CellStore], grouped: bool) -> None:
    rows = some_rows()
    store = stored(make_store, rows)
    twice = Computed((("x", NUMBER),), doubled)
    view = TableView(store.columns, {"twice": twice}, (Computed((("y", INTEGER),), is_large, ColumnType.BOOLEAN),))
    kept = [(2 * x, y, by) for x, y, by in complete(rows, 0, 1, 2) if y > 10]
    if not grouped:
        table = StoreTable(store, view, ["twice", "by"], [True, False])
        assert all_about(table.column(0)) == by_hand([x for x, _, _ in kept])
        assert table.column(0).stored() == sum(y is not None and y > 10 for _, y, _ in rows)
        return
    keys = GroupKeys(("by",), (TEXT,), (("a",), ("b",), ("nobody",)))

    def look(_: Any, table: Table) -> Any:
        return sorted(zip(*map(list, table.pairs()), strict=True))

    found = answer_group_tables(store, view, keys, ["twice", "y"], [True, True], look)
    for (label,), pairs in found.items():
        assert pairs == sorted((x, y) for x, y, by in kept if by == label)


def test_a_table_in_every_group_is_the_table_of_its_rows(make_store: Callable[..., CellStore]) -> None:
    rows = some_rows()
    store = stored(make_store, rows)
    keys = GroupKeys(("by",), (TEXT,), (("b",), ("nobody",), ("a",)))

    def look(key: Any, table: Table) -> Any:
        assert [side.dtype for side in table.pairs()] == [np.dtype(np.float64), np.dtype(np.int64)]
        return key, all_about(table.column(0)), table.product_sums((CLIP, CLIP), 1), table.column(1).count()

    found = answer_group_tables(store, TableView(store.columns), keys, ["x", "y"], [True, True], look)
    assert list(found) == list(keys.keys)
    for (label,), (key, about, sums, count) in found.items():
        own = [(x, y) for x, y, by in complete(rows, 0, 1, 2) if by == label]
        places = [(CLIP.place(x), CLIP.place(y)) for x, y in own]
        assert key == (label,)
        assert about == by_hand([x for x, _ in own])
        assert sums == tuple(tuple(sum(a**i * b**j for a, b in places) for j in range(2)) for i in range(2))
        assert count == len(own)
    no_keys = GroupKeys(("by",), (TEXT,), ())
    assert answer_group_tables(store, TableView(store.columns), no_keys, ["x", "y"], [True, True], look) == {}


def test_opening_a_table_reads_nothing_and_complains_about_names_and_types() -> None:
    store = CellStore({"x": numbers([1]), "by": texts(["a"]), "o": opaque([1])}, {"x": NUMBER, "by": TEXT, "o": ColumnType.OTHER})
    view = TableView(store.columns)
    table = StoreTable(store, view, ["x", "by"], [True, False])
    table.column(0)
    with pytest.raises(UnknownNameError, match="no column 'z'"):
        StoreTable(store, view, ["x", "z"], [True, True])
    with pytest.raises(DataTypeError, match="got one of text"):
        StoreTable(store, view, ["x", "by"], [True, True])
    with pytest.raises(DataTypeError, match="two columns that are read as numbers"):
        table.pairs()
    with pytest.raises(DataTypeError, match="text, dates or categories"):
        StoreTable(store, view, ["by", "o"], [False, False]).label_pairs()
    assert store.runs == 0


@pytest.mark.parametrize("declared", [(NUMBER, INTEGER), (ColumnType.BOOLEAN, UNDECLARED)])
def test_a_store_without_any_batch_has_empty_pairs_of_the_declared_types(declared: tuple[ColumnType, ColumnType]) -> None:
    store = FarStore({"x": numbers([]), "y": numbers([])}, dict(zip("xy", declared, strict=True)))
    store.batches = lambda columns: iter(())  # type: ignore[method-assign]
    x, y = StoreTable(store, TableView(store.columns), ["x", "y"], [True, True]).pairs()
    kinds = {NUMBER: np.float64, INTEGER: np.int64, ColumnType.BOOLEAN: np.uint8, UNDECLARED: np.float64}
    assert [side.dtype for side in (x, y)] == [np.dtype(kinds[kind]) for kind in declared]
    assert x.size == y.size == 0


CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "objects": lambda rows: np.array([*rows, None], dtype=object)[:-1],
    "numpy": lambda rows: np.array([np.nan if row is None else row for row in rows]),
    "masked": lambda rows: np.ma.array([row or 0 for row in rows], mask=[row is None for row in rows]),
    "pandas": lambda rows: pd.Series(rows, dtype="Float64", index=range(len(rows), 0, -1)),
    "polars": lambda rows: pl.Series(rows, dtype=pl.Float64),
    "polars objects": lambda rows: pl.Series(rows, dtype=pl.Object),
    "arrow": lambda rows: pa.array(rows, type=pa.float64()),
    "chunked": lambda rows: pa.chunked_array([pa.array(rows[:2], type=pa.float64()), pa.array(rows[2:], type=pa.float64())]),
}


@pytest.mark.parametrize("first", CONTAINERS)
@pytest.mark.parametrize("second", ["list", "polars", "masked"])
def test_arrays_of_any_library_make_a_table(first: str, second: str) -> None:
    table = as_table([CONTAINERS[first]([1.5, None, 3.0, 4.0]), CONTAINERS[second]([1, 2, None, 4])])
    assert [side.tolist() for side in table.pairs()] == [[1.5, 4.0], [1.0, 4.0]]


def test_a_list_is_read_as_it_is_in_a_single_column() -> None:
    rows, labels = [1, "2", 3.5, True, None], ["a", "1", 1, 1.0, None]
    raw_numbers = as_table([rows, [1] * 5]).pairs()[0]
    alone = as_column(rows).tally()
    assert sorted(raw_numbers.tolist()) == np.repeat(*alone).tolist() == [1, 1, 2, 3.5]
    table = as_table([labels, [1] * 5], [False, True])
    assert table.column(0).most_common(9) == as_column(labels, numeric=False).most_common(9) == [(1, 3), ("a", 1)]


@pytest.mark.parametrize(
    ("data", "numeric"),
    [
        (np.array([1, 2]), True),
        (np.array([True, False]), True),
        (np.array(["1", "2"]), False),
        (np.array(["2024-01-01"], dtype="M8[D]"), False),
        (pl.Series([1, None]), True),
        (pl.Series([None]), True),
        (pl.Series(["a"], dtype=pl.Categorical), False),
        (pa.array([1.0]), True),
        (pa.array(["1"]), False),
    ],
)
def test_either_reads_numbers_where_the_type_is_one_of_numbers(data: Any, numeric: bool) -> None:
    question = ask("histogram", epsilon=1)
    assert question.reads_numbers([type_of(data).is_numeric]) == (numeric,)
    assert (as_table([data, data], [numeric, False]).column(0).dtype is not None) is numeric


@pytest.mark.parametrize("data", [[1, 2], [None], ["a"], np.array([1], dtype=object), pd.Series(["a", None], dtype=object)])
def test_either_must_be_told_where_there_is_no_type(data: Any) -> None:
    assert type_of(data) is ColumnType.UNDECLARED
    with pytest.raises(DataTypeError, match=r"say kind='numbers' or kind='labels'"):
        ask("histogram", epsilon=1).reads_numbers([None])
    for kind in ("numbers", "labels"):
        assert ask("histogram", epsilon=1, kind=kind).reads_numbers([None]) == (kind == "numbers",)
    assert ask("histogram", ["a", "b"], epsilon=1).reads_numbers([None]) == (False,)


def test_arrays_that_do_not_fit_are_refused_without_a_word_about_their_rows() -> None:
    with pytest.raises(
        DataTypeError, match=r"^the columns differ in their number of rows: pass columns of the same rows, in the same order\.$"
    ):
        as_table([[1, 2], [1]])
    with pytest.raises(DataTypeError, match="got one of text"):
        as_table([[1, 2], np.array(["812", "813"])])
    with pytest.raises(DataTypeError, match="got a single str"):
        as_table([[1, 2], "ab"], [True, False])
    with pytest.raises(DataTypeError, match="one dimension"):
        as_table([[1, 2], np.zeros((2, 2))], [True, False])
    with pytest.raises(DataTypeError, match="complex"):
        as_table([[1, 2], np.zeros(2, dtype=complex)])


few = st.sampled_from([None, 0.0, -0.0, 1.5, -2.0, 2.0**53, float("inf")])


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(few, few, st.sampled_from([None, "a", "b"])), max_size=50),
    cuts=st.lists(st.integers(0, 50), max_size=5),
    kind=st.sampled_from(list(STORES)),
)
def test_neither_batches_nor_places_matter(rows: list[Any], cuts: list[int], kind: str) -> None:
    columns = {
        "x": numbers([x for x, _, _ in rows]),
        "y": numbers([y for _, y, _ in rows]),
        "by": texts([by for _, _, by in rows]),
    }
    store = STORES[kind](columns, {"x": NUMBER, "y": NUMBER, "by": TEXT}, cuts)
    view = TableView(store.columns)
    pairs = complete(rows, 0, 1)
    table = StoreTable(store, view, ["x", "y"], [True, True])
    assert sorted(zip(*(side.tolist() for side in table.pairs()), strict=True)) == sorted(pairs)
    assert table.product_sums((CLIP, CLIP), 1)[1][1] == sum(CLIP.place(x) * CLIP.place(y) for x, y in pairs)
    labelled = complete(rows, 1, 2)
    labels = StoreTable(store, view, ["y", "by"], [False, False]).label_pairs()
    assert labels == dict(Counter(labelled))
    found = StoreTable(store, view, ["y", "by"], [True, False]).columns_by_label(0, 1, ["a", "b"])
    assert [column.count() for column in found] == [sum(by == label for _, by in labelled) for label in "ab"]
