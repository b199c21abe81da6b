"""What is refused by its declared type or shape: in one sentence that says what to pass, and nothing about the data."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpstats.engines.tables.given import as_column
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.summaries import WindowRequest

SECRET = 987654321
TEXT = [f"secret{SECRET}"] * 37
DAY = datetime.date(1987, 6, 5)

NOT_A_COLUMN = [
    {SECRET},
    frozenset([SECRET]),
    {"secret": [SECRET]},
    (row for row in [SECRET]),
    iter([SECRET]),
    f"secret{SECRET}",
    b"secret987654321",
    None,
    SECRET,
    float(SECRET),
    np.float64(SECRET),
    np.array(SECRET),
    np.full((37, 2), SECRET),
    np.ma.array(np.full((37, 2), SECRET)),
    np.full((37, 2, 2), SECRET, dtype=object),
    pd.DataFrame({"a": [SECRET]}),
    pl.DataFrame({"a": [SECRET]}),
    pl.LazyFrame({"a": [SECRET]}),
    pa.table({"a": [SECRET]}),
    object(),
]

NOT_NUMBERS = [
    np.array(TEXT),
    np.array([b"secret"]),
    np.array(TEXT, dtype=np.dtypes.StringDType()),
    pd.Series(TEXT),
    pd.Series(TEXT, dtype="string"),
    pd.Series(TEXT, dtype=pd.ArrowDtype(pa.string())),
    pl.Series(TEXT),
    pa.array(TEXT),
    pa.array(TEXT, type=pa.large_string()),
    pa.array([b"secret"]),
    pd.Series([SECRET], dtype="category"),
    pl.Series(TEXT, dtype=pl.Categorical),
    pl.Series(["a"], dtype=pl.Enum(["a"])),
    pa.array(TEXT).dictionary_encode(),
    np.array([DAY], dtype="M8[D]"),
    np.array([SECRET], dtype="m8[s]"),
    pd.Series(pd.to_datetime([DAY])),
    pd.Series(pd.to_datetime([DAY])).dt.tz_localize("UTC"),
    pd.Series(pd.period_range(DAY, periods=2, freq="D")),
    pl.Series([DAY]),
    pa.array([DAY]),
    np.array([SECRET + 1j]),
    pd.Series([SECRET + 1j]),
    np.zeros(37, dtype=[("a", "f8")]),
    pl.Series([{"a": SECRET}]),
    pl.Series([[SECRET]]),
    pa.array([[SECRET]]),
]


def _check_message(message: str) -> None:
    assert "secret" not in message
    assert not re.search(r"\d{3}|37|36|1987", message)
    assert message.endswith(".")
    assert message.count(". ") == 0
    assert ": pass " in message or ": convert " in message


@pytest.mark.parametrize("numeric", [True, False])
@pytest.mark.parametrize("data", NOT_A_COLUMN, ids=lambda data: type(data).__name__)
def test_what_is_not_one_column_is_refused(data: Any, numeric: bool) -> None:
    with pytest.raises(DataTypeError) as refusal:
        as_column(data, numeric=numeric)
    _check_message(str(refusal.value))


@pytest.mark.parametrize("data", NOT_NUMBERS, ids=lambda data: type(data).__name__)
def test_a_column_of_another_type_is_refused_where_numbers_are_needed(data: Any) -> None:
    with pytest.raises(DataTypeError) as refusal:
        as_column(data)
    _check_message(str(refusal.value))


@pytest.mark.parametrize("data", NOT_NUMBERS, ids=lambda data: type(data).__name__)
def test_a_column_of_another_type_can_be_counted(data: Any) -> None:
    column = as_column(data, numeric=False)
    assert column.dtype is None
    assert column.count() == sum(row is not None for row in data)
    with pytest.raises(DataTypeError):
        column.order_windows([WindowRequest(Fraction(1, 2), 1)])
    with pytest.raises(DataTypeError):
        column.counts_below([1])
    with pytest.raises(DataTypeError):
        column.sum_between(0, 1, Fraction(1))


NO_LABELS: list[tuple[Any, str]] = [
    (np.array([SECRET + 1j]), "complex numbers"),
    (pd.Series([SECRET + 1j]), "complex numbers"),
    (np.zeros(37, dtype=[("a", "f8")]), "records"),
    (pl.Series([{"a": SECRET}]), "records"),
    (pl.Series([[SECRET]]), "nested rows"),
    (pa.array([[SECRET]]), "nested rows"),
    (pd.Series(pd.period_range(DAY, periods=2, freq="D")), "another type"),
    (pd.Series(pd.interval_range(0, 2)), "another type"),
]


@pytest.mark.parametrize(("data", "kind"), NO_LABELS, ids=lambda value: value if isinstance(value, str) else type(value).__name__)
def test_a_column_without_labels_in_order_is_refused_by_its_kind(data: Any, kind: str) -> None:
    column = as_column(data, numeric=False)
    assert column.stored() == len(data)
    with pytest.raises(DataTypeError, match=f"got one of {kind}:") as refusal:
        column.most_common(2)
    _check_message(str(refusal.value))


@pytest.mark.parametrize(
    "data",
    [
        ["a", None],
        np.array(["a", None], dtype=object),
        pd.Series(["a", None]),
        pl.Series(["a", None]),
        pa.array(["a", None]),
        pl.Series([DAY, None]),
        pd.to_datetime(pd.Series([DAY, None])),
        np.array([DAY, "NaT"], dtype="M8[D]"),
        np.ma.array(["a", "b"], mask=[False, True]),
        np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None)),
        np.array([1j, np.nan]),
        pl.Series([1.0, float("nan")]),
        pa.array([1.0, float("nan"), None]),
        [1, float("nan")],
        [DAY, np.datetime64("NaT", "s")],
    ],
    ids=lambda data: type(data).__name__,
)
def test_missing_rows_of_any_type_do_not_count(data: Any) -> None:
    assert as_column(data, numeric=False).count() == 1


def test_the_number_of_dimensions_may_be_named() -> None:
    with pytest.raises(DataTypeError, match=r"one dimension, got 2:"):
        as_column(np.zeros((2, 2)))


@pytest.mark.parametrize(("element", "numbers"), [("a", 0), ("7", 1), (DAY, 0), (7j, 0), ([7], 0), ((7, 8), 0), (b"7", 1)])
def test_an_element_without_a_declared_type_is_a_number_or_missing_whatever_the_others_are(element: Any, numbers: int) -> None:
    for others in ([], [1.5], [1, None] * 9, ["a"] * 9, [DAY] * 9):
        alone, rest = as_column([element]), as_column(others)
        assert alone.count() == numbers
        assert as_column([*others, element]).count() == rest.count() + numbers
