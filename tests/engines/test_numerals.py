"""Numbers that come as numerals are the numbers that they are elsewhere, and stay apart as ids."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.engines.cells import ColumnType, Labels, Numbers, present_cells
from dpstats.engines.columns.numerals import NumeralColumn
from dpstats.engines.reading import read_cells, read_identities, type_of
from dpstats.foundations.units import float_of_whole

INTEGER, NUMBER = ColumnType.INTEGER, ColumnType.NUMBER


def column(texts: list[str | None], kind: ColumnType) -> NumeralColumn:
    return NumeralColumn(pa.array(texts, pa.string()), kind)


def read(texts: list[str | None], kind: ColumnType) -> list[float | None]:
    cells = read_cells(column(texts, kind), kind)
    assert isinstance(cells, Numbers)
    assert cells.raw_values.dtype == np.float64
    return [
        value if there else None for value, there in zip(cells.raw_values.tolist(), present_cells(cells).tolist(), strict=True)
    ]


@given(st.lists(st.none() | st.integers(-(2**127), 2**127 - 1)))
def test_wide_wholes_are_the_floats_that_they_are_in_polars(wholes: list[int | None]) -> None:
    expected = read_cells(pl.Series(wholes, dtype=pl.Int128), INTEGER)
    assert isinstance(expected, Numbers)
    raw_there = present_cells(expected).tolist()
    found = read([None if whole is None else str(whole) for whole in wholes], INTEGER)
    assert found == [value if there else None for value, there in zip(expected.raw_values.tolist(), raw_there, strict=True)]
    assert found == [None if whole is None else float_of_whole(whole) for whole in wholes]


@given(st.lists(st.decimals(allow_nan=False, allow_infinity=False, places=12)))
def test_decimals_are_the_nearest_floats(decimals: list[Decimal]) -> None:
    assert read([format(decimal, "f") for decimal in decimals], NUMBER) == [float(decimal) for decimal in decimals]


def test_the_odd_ones_are_infinite_or_missing() -> None:
    assert read(["NaN", "Infinity", "-Infinity", None, "1" + "0" * 400, "0." + "0" * 400 + "1"], NUMBER) == [
        None,
        math.inf,
        -math.inf,
        None,
        math.inf,
        0.0,
    ]
    assert read(["9" * 5000, "-" + "9" * 5000, "x", None, "-0"], INTEGER) == [math.inf, -math.inf, None, None, 0.0]


@pytest.mark.parametrize("kind", [INTEGER, NUMBER])
def test_different_numbers_have_different_identities(kind: ColumnType) -> None:
    texts: list[str | None] = [str(2**100), str(2**100 + 1), None, "7", "07"]
    cells = read_identities(column(texts, kind), kind)
    assert isinstance(cells, Labels)
    assert cells.raw_codes.tolist() == [0, 1, -1, 2, 2]
    assert cells.raw_labels == [str(2**100), str(2**100 + 1), "7"]
    assert type_of(column(texts, kind)) is kind
    labels = read_cells(column(texts, kind), ColumnType.TEXT)
    assert isinstance(labels, Labels)
    assert "7" in labels.raw_labels
