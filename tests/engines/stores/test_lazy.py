"""Lazy queries: their schema is read at once, their rows when they are asked for."""

from __future__ import annotations

import polars as pl
import pytest

from dpstats.engines.cells import ColumnType
from dpstats.engines.stores.lazy import LazyStore
from dpstats.engines.stores.opening import open_store
from dpstats.foundations.errors import DataFileError, DataTypeError
from tests.engines.stores.ugly import plain_cells


def noting_query(runs: list[list[str]]) -> pl.LazyFrame:
    """A query that notes which columns it is run for."""

    def note(frame: pl.DataFrame) -> pl.DataFrame:
        runs.append(frame.columns)
        return frame

    return pl.LazyFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "c"]}).map_batches(note, schema={"x": pl.Float64, "y": pl.String})


def test_opening_runs_nothing_and_a_collected_query_runs_once() -> None:
    runs: list[list[str]] = []
    store = open_store(noting_query(runs))[0]
    assert dict(store.columns) == {"x": ColumnType.NUMBER, "y": ColumnType.TEXT}
    assert not store.in_memory
    table = store.repeatable()
    assert runs == []
    for _ in range(3):
        (batch,) = table.batches(["x"])
        assert plain_cells(batch.cells("x", ColumnType.NUMBER)) == [1, 2, 3]
    assert len(runs) == 1
    assert store.repeatable() is table
    assert table.in_memory


def test_only_the_asked_columns_are_read(tmp_path: pytest.TempPathFactory) -> None:
    query = pl.LazyFrame({"x": [1.0, 2.0], "y": ["1", "Xanthippe"]}).with_columns(pl.col("y").cast(pl.Int64))
    store = LazyStore(query)
    (batch,) = store.batches(["x"])
    assert plain_cells(batch.cells("x", ColumnType.NUMBER)) == [1, 2]


def test_a_query_that_fails_on_its_rows_says_nothing_about_them() -> None:
    query = pl.LazyFrame({"y": ["1", "Xanthippe"]}).with_columns(pl.col("y").cast(pl.Int64))
    store = LazyStore(query)
    with pytest.raises(DataFileError, match=r"^the lazy frame could not be run\.$") as complaint:
        list(store.batches(["y"]))
    assert complaint.value.__suppress_context__
    with pytest.raises(DataFileError, match=r"^the lazy frame could not be run\.$"):
        list(store.repeatable().batches(["y"]))


def test_a_query_without_a_schema_is_refused() -> None:
    with pytest.raises(DataTypeError, match=r"^the lazy frame has no schema: collect_schema\(\) on it shows why\.$"):
        open_store(pl.LazyFrame({"x": [1]}).select("nowhere"))


def test_names_that_look_like_patterns_are_names() -> None:
    store = LazyStore(pl.LazyFrame({"^x.*$": [1], "x1": [2], "*": [3]}))
    for name, value in (("^x.*$", 1), ("*", 3)):
        (batch,) = store.batches([name])
        assert plain_cells(batch.cells(name, ColumnType.INTEGER)) == [value]


def test_a_pass_that_is_left_early_ends_quietly() -> None:
    batches = LazyStore(pl.LazyFrame({"x": range(100)}), batch_rows=7).batches(["x"])
    assert next(batches).rows == 7
    batches.close()


def test_a_column_may_be_asked_for_twice() -> None:
    (batch,) = LazyStore(pl.LazyFrame({"x": [1]})).batches(["x", "x"])
    assert batch.rows == 1
