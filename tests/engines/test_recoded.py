"""Recoded columns: what becomes of a row, and that stores hand them out in pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpstats.engines.cells import ColumnType, Numbers, present_cells
from dpstats.engines.recoded import NumberColumn, PlaceColumn
from dpstats.engines.stores.memory import MemoryStore
from dpstats.foundations.errors import DataTypeError


def read(cells: Any) -> list[float | None]:
    assert isinstance(cells, Numbers)
    return [value if there else None for value, there in zip(cells.raw_values.tolist(), present_cells(cells), strict=True)]


def test_elements_become_numbers_whatever_else_there_is() -> None:
    assert read(NumberColumn([1, "2.5", None, "x", True]).numbers()) == [1.0, 2.5, None, None, 1.0]
    assert NumberColumn([None]).numbers().raw_values.dtype == np.float64


@pytest.mark.parametrize(
    ("column", "labels", "places"),
    [
        ([False, 1, 1.0, "1", None, 2], [0, 1], [0, 1, 1, 1, None, None]),
        (np.array(["no", "yes", "perhaps"]), ["no", "yes"], [0, 1, None]),
        (np.array([b"no", b"yes"]), [b"no", b"yes"], [0, 1]),
        (pd.Series(["no", None, "yes"], dtype="category"), ["no", "yes"], [0, None, 1]),
        (pd.Series([True, None, False], dtype="boolean"), [False, True], [1, None, 0]),
        (pl.Series([2**60, None, 2**60 + 1]), [2**60, 2**60 + 1], [0, None, 1]),
        (np.array([0.5, np.nan, -0.0]), [0.0, 0.5], [1, None, 0]),
    ],
)
def test_labels_become_their_places_in_the_list(column: Any, labels: list[Any], places: list[int | None]) -> None:
    assert read(PlaceColumn(column, labels).numbers()) == places


def test_a_store_hands_them_out_in_pieces() -> None:
    chunked = pl.concat([pl.Series("x", [1.0, 2.0]), pl.Series("x", [3.0])], rechunk=False)
    store = MemoryStore({"x": chunked, "y": PlaceColumn(["a", "b", "c"], ["b", "c"]), "z": NumberColumn(("1", 2, "3"))}, 1)
    assert store.columns["y"] is store.columns["z"] is ColumnType.NUMBER
    pieces = [[read(batch.cells(name, ColumnType.NUMBER)) for name in "yz"] for batch in store.batches(["x", "y", "z"])]
    assert pieces == [[[None, 0.0], [1.0, 2.0]], [[1.0], [3.0]]]


def test_what_is_no_column_is_an_error_at_once() -> None:
    with pytest.raises(DataTypeError, match="one dimension"):
        PlaceColumn(np.zeros((2, 2)), [0, 1])
