"""Tables in memory: nothing is copied, and what is no table is refused with advice."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.cells import ColumnType, Numbers
from dpstats.engines.stores.memory import MemoryStore, columns_in_memory
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataTypeError
from tests.engines.stores.ugly import plain_cells

NUMBERS = np.arange(9, dtype=np.float64)


def column_x(table: Any) -> list[Any]:
    """The column x of a table as numbers."""
    store = open_store(table)[0]
    return [cell for batch in store.batches(["x"]) for cell in plain_cells(batch.cells("x", ColumnType.NUMBER))]


def structured() -> Any:
    table = np.zeros(9, dtype=[("x", "f8"), ("y", "i4")])
    table["x"] = NUMBERS
    return table


@pytest.mark.parametrize(
    "table",
    [
        {"x": NUMBERS},
        {"x": NUMBERS, "y": list("abcdefghi")},
        pd.DataFrame({"x": NUMBERS}, copy=False),
        pl.DataFrame({"x": NUMBERS}),
        pa.table({"x": NUMBERS}),
        pa.record_batch({"x": NUMBERS}),
        structured(),
    ],
    ids=["dict", "mixed dict", "pandas", "polars", "pyarrow", "record batch", "structured"],
)
def test_no_table_is_copied(table: Any) -> None:
    (batch,) = open_store(table)[0].batches(["x"])
    cells = batch.cells("x", ColumnType.NUMBER)
    assert isinstance(cells, Numbers)
    there = table["x"].to_numpy() if hasattr(table["x"], "to_numpy") else table["x"]
    assert np.shares_memory(cells.raw_values, there)
    assert cells.raw_values.tolist() == NUMBERS.tolist()


@pytest.mark.parametrize("cut", [pl.concat, pa.concat_tables], ids=["polars", "pyarrow"])
def test_large_pieces_are_batches_of_their_own_and_crumbs_are_not(cut: Any) -> None:
    make = pl.DataFrame if cut is pl.concat else pa.table
    options = {"rechunk": False} if cut is pl.concat else {}
    table = cut([make({"x": NUMBERS}), make({"x": NUMBERS[:3]})], **options)
    columns = columns_in_memory(table)
    assert columns is not None
    assert [batch.rows for batch in MemoryStore(columns, smallest_piece=6).batches(["x"])] == [9, 3]
    assert [batch.rows for batch in MemoryStore(columns, smallest_piece=7).batches(["x"])] == [12]
    assert [batch.rows for batch in MemoryStore(columns, smallest_piece=1).batches([])] == [12]


def test_columns_in_different_pieces_are_cut_where_any_of_them_is() -> None:
    columns = {
        "x": pa.chunked_array([NUMBERS[:2], NUMBERS[2:]]),
        "y": pl.concat([pl.Series(NUMBERS[:5]), pl.Series(NUMBERS[5:])], rechunk=False),
        "z": list(range(9)),
        "u": pd.Series(NUMBERS, index=list("ihgfedcba")),
        "v": NUMBERS,
    }
    batches = list(MemoryStore(columns, smallest_piece=1).batches(list(columns)))
    assert [batch.rows for batch in batches] == [2, 3, 4]
    for name in columns:
        assert [cell for batch in batches for cell in plain_cells(batch.cells(name, ColumnType.NUMBER))] == NUMBERS.tolist()


@pytest.mark.parametrize(
    "column",
    [
        range(9),
        tuple(range(9)),
        array.array("d", range(9)),
        memoryview(array.array("d", range(9))),
        pd.Index(NUMBERS),
        pd.array(NUMBERS),
        pa.array(NUMBERS),
        NUMBERS[::-1][::-1],
        np.repeat(NUMBERS, 2)[::2],
        NUMBERS.astype(">f8"),
    ],
    ids=["range", "tuple", "array", "memoryview", "index", "extension array", "arrow", "reversed", "strided", "big endian"],
)
def test_a_column_may_be_in_any_container_of_rows(column: Any) -> None:
    assert column_x({"x": column}) == NUMBERS.tolist()


def test_an_endless_range_of_rows_and_an_empty_one_are_columns() -> None:
    assert column_x({"x": range(0)}) == []
    assert column_x({"x": range(2**64, 2**64 + 2)}) == [1.84467440737096e19] * 2


def test_the_index_of_a_pandas_frame_is_no_column() -> None:
    frame = pd.DataFrame({"x": NUMBERS}, index=pd.Index(NUMBERS[::-1], name="order"))
    assert list(open_store(frame)[0].columns) == ["x"]
    assert column_x(frame) == NUMBERS.tolist()


def test_a_frame_of_pandas_that_grows_later_is_the_one_that_was_opened() -> None:
    frame = pd.DataFrame({"x": NUMBERS})
    store = open_store(frame)[0]
    frame["y"] = 1
    assert list(store.columns) == ["x"]


def test_a_list_that_grew_since_is_noticed() -> None:
    rows = [1, 2]
    store = MemoryStore({"x": rows, "y": [3, 4]})
    rows.append(5)
    with pytest.raises(DataTypeError, match=r"^the columns differ in their number of rows"):
        list(store.batches(["y"]))


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "has no columns"),
        (pd.DataFrame(), "has no columns"),
        ({"x": [812, 1], "y": [812]}, r"^the columns differ in their number of rows: pass .* in the same order\.$"),
        ({7: [812]}, "named by texts, got a name of type int"),
        (pd.DataFrame([[812, 2]]), "named by texts, got a name of type int"),
        (pd.DataFrame([[812, 2]], columns=["x", "x"]), "more than one column named x"),
        (pd.DataFrame([[812]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "a name of type tuple"),
        (pa.table([pa.array([812]), pa.array([2])], names=["x", "x"]), "more than one column named x"),
        (np.full((2, 2), 812), r"have no names: pass \{'x': data\[:, 0\]"),
        (np.full(2, 812), "must have named fields"),
        (np.float64(812), "a float64 cannot be protected: pass a dict of columns"),
        (pd.Series([812]), "a single column is no table"),
        (pl.Series([812]), "a single column is no table"),
        ([{"x": 812}], "a list of rows is no table: pass columns by name"),
        ([(812, 1)], "a list of rows is no table"),
        ([], "a list of rows is no table"),
        ({"x": 812}, "column x: data must be .*, got int: pass"),
        ({"x": {812}}, "column x: data must be .*, got a set: pass"),
        ({"x": "812"}, "column x: data must be .*, got a single str: pass"),
        ({"x": iter([812])}, "column x: data must be .*, got a list_iterator: pass"),
        ({"x": np.full((2, 2), 812)}, "column x: data must have one dimension"),
        ({"x": np.array(812)}, "column x: data must be .*, got a single value"),
        ({"x": pd.DataFrame({"y": [812]})}, "column x: data must be one column, got a DataFrame"),
        (812, "a int cannot be protected"),
        (None, "a NoneType cannot be protected"),
        (pa.RecordBatchReader.from_batches(pa.schema([]), []), "a RecordBatchReader cannot be protected"),
    ],
)
def test_what_is_no_table_is_refused_without_a_word_about_its_values(table: Any, says: str) -> None:
    with pytest.raises(DataTypeError, match=says) as complaint:
        open_store(table)
    assert "812" not in str(complaint.value)
