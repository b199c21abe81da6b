"""What may hold a column, what it becomes, and that no single element can raise or change another row."""

from __future__ import annotations

import array
import decimal
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import Column, WindowRequest
from dpstats.statistics.universal.decimals import ordinal_of

EVERYTHING = WindowRequest(Fraction(1, 2), 10**9)


def held(column: Column) -> list[Any]:
    """All rows of a column in ascending order."""
    (window,) = column.order_windows([EVERYTHING])
    return [value for value, count in zip(window.raw_values.tolist(), window.raw_counts, strict=True) for _ in range(count)]


def masked_objects() -> Any:
    """A masked array of objects of any kind."""
    objects: Any = np.array([1, "x", 2], dtype=object)
    return np.ma.array(objects, mask=[False, False, True])


def packed() -> Any:
    """A field of packed records: neither contiguous nor aligned."""
    records = np.zeros(3, dtype=[("flag", "i1"), ("value", "f8")])
    records["value"] = [3.0, 1.0, 2.0]
    return records["value"]


@pytest.mark.parametrize(
    ("data", "rows", "dtype"),
    [
        ((3, 1, 2), [1, 2, 3], "float64"),
        (range(3, 0, -1), [1, 2, 3], "int64"),
        (range(2**70, 2**70 + 1), [1.18059162071741e21], "float64"),
        (np.arange(10.0)[::3], [0.0, 3.0, 6.0, 9.0], "float64"),
        (np.arange(4)[::-1], [0, 1, 2, 3], "int64"),
        (np.arange(6).reshape(3, 2)[:, 1], [1, 3, 5], "int64"),
        (np.array([2, 1], dtype=">i4"), [1, 2], "int32"),
        (np.array([2, 1], dtype=">f8"), [1.0, 2.0], "float64"),
        (packed(), [1.0, 2.0, 3.0], "float64"),
        (np.broadcast_to(np.float32(2), 3), [2.0, 2.0, 2.0], "float32"),
        (np.array([0.1, np.nan], dtype=np.float16), [float(np.float16(0.1))], "float32"),
        (np.array([1e300, -1e300], dtype=np.longdouble) * np.longdouble(1e300), [-np.inf, np.inf], "float64"),
        (np.array([2, 1], dtype=np.longlong), [1, 2], "int64"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False]), [1.0, 3.0], "float64"),
        (np.ma.array([1, 2]), [1, 2], "int64"),
        (masked_objects(), [1], "float64"),
        (np.array([2**70, 1, None], dtype=object), [1.0, 1.18059162071741e21], "float64"),
        (array.array("f", [2.0, 1.0]), [1.0, 2.0], "float32"),
        (pd.Index([2, 1]), [1, 2], "int64"),
        (pd.array([2**53 + 1, None]), [2**53 + 1], "int64"),
        (pd.Series([1, 2], index=["type", "dtype"]), [1, 2], "int64"),
        (pl.Series([2**100, None, 1], dtype=pl.Int128), [1.0, 1.26765060022823e30], "float64"),
        (pl.Series([None, None]), [], "float64"),
        (pa.nulls(2), [], "float64"),
        (pa.array([Decimal("0.1"), None], type=pa.decimal256(50, 30)), [0.1], "float64"),
        (pa.chunked_array([], type=pa.int16()), [], "int16"),
        (pa.chunked_array([[index] for index in range(50)]), list(range(50)), "int64"),
        (pa.array([1.5, 2.5], type=pa.float16()), [1.5, 2.5], "float32"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_a_column_keeps_its_numbers_and_its_type(data: Any, rows: list[Any], dtype: str) -> None:
    column = as_column(data)
    assert column.dtype == dtype
    assert held(column) == rows
    assert column.count() == len(rows)
    assert as_column(data, numeric=False).dtype is None


class Hostile:
    """An object that raises whenever it is looked at."""

    def _raise(self, *_: object) -> Any:
        raise RuntimeError("987654321")

    __eq__ = __lt__ = __bool__ = __float__ = __int__ = __index__ = __len__ = __iter__ = __array__ = _raise
    __hash__ = None  # type: ignore[assignment]


class HostileFloat(float):
    """A float that raises when it is converted."""

    def __float__(self) -> float:
        raise OverflowError("987654321")


class HostileInt(int):
    """An int that raises when it is converted."""

    def __int__(self) -> int:
        raise RuntimeError("987654321")


class HostileDecimal(Decimal):
    """A decimal that raises when it is asked anything."""

    def is_nan(self) -> bool:
        raise RuntimeError("987654321")


NOT_NUMBERS = [None, float("nan"), pd.NA, pd.NaT, np.ma.masked, Decimal("NaN"), Decimal("sNaN"), np.float32("nan")]
STRANGERS = ["text", b"bytes", Hostile(), object(), 1j, [1, 2], {"a": 1}, np.datetime64("NaT", "s"), np.timedelta64(3, "s")]
BEYOND = [10**400, -(10**400), Fraction(10**400, 3), Decimal("-1e400"), 2**64, -(2**63) - 1]
ODD_NUMBERS = [True, np.bool_(False), np.int8(3), np.float32(0.5), np.uint64(2**64 - 1), Fraction(1, 3), Decimal("0.1"), 7, 2.5]
SUBCLASSED = [HostileFloat(1), HostileInt(1), HostileDecimal(1)]
OBJECTS = [*NOT_NUMBERS, *BEYOND, *ODD_NUMBERS, *SUBCLASSED, Hostile(), object()]


@pytest.mark.parametrize("stranger", [*NOT_NUMBERS, *STRANGERS], ids=lambda value: type(value).__name__)
def test_an_element_that_is_no_number_is_a_missing_row(stranger: Any) -> None:
    for rows in ([1, 2, stranger, 3], (stranger, 1, 2, 3), np.array([1, 2, 3, None], dtype=object)):
        if isinstance(rows, np.ndarray):
            rows[3] = stranger
        assert sorted(map(float, held(as_column(rows)))) == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("stranger", NOT_NUMBERS, ids=lambda value: type(value).__name__)
def test_missing_elements_do_not_count(stranger: Any) -> None:
    assert as_column(["a", 1, stranger, stranger], numeric=False).count() == 2


@settings(max_examples=150)
@given(rows=st.lists(st.sampled_from(OBJECTS), max_size=12))
def test_no_list_raises(rows: list[Any]) -> None:
    held(as_column(rows))
    as_column(rows, numeric=False).count()
    holder = np.empty(len(rows), dtype=object)
    for index, row in enumerate(rows):
        holder[index] = row
    assert held(as_column(holder)) == held(as_column(rows))


@pytest.mark.parametrize("number", SUBCLASSED)
def test_a_subclass_of_a_number_is_the_number_that_it_holds(number: Any) -> None:
    assert held(as_column([number, 2.5])) == [1.0, 2.5]


def test_large_whole_numbers_among_elements_are_rounded_to_15_digits_one_by_one() -> None:
    assert held(as_column([2**53 + 1, float("nan"), None, 2**62 + 1, "x", pd.NA])) == [9007199254740990, 4.61168601842739e18]


@pytest.mark.parametrize(("bits", "signalling"), [(64, 0x7FF0000000000001), (32, 0x7F800001), (16, 0x7C01)])
def test_signalling_nan_is_missing_and_warns_of_nothing(bits: int, signalling: int) -> None:
    rows = np.zeros(20_000, dtype=f"float{bits}")
    rows.view(f"uint{bits}")[::2] = signalling
    column = as_column(rows)
    (window,) = column.order_windows([WindowRequest(Fraction(1, 2), 3)])
    assert (window.raw_rows, window.raw_values.tolist(), window.raw_counts.tolist()) == (10_000, [0.0], [10_000])
    assert column.counts_below([1e300]) == [10_000]
    assert as_column(rows, numeric=False).count() == 10_000


def test_numbers_outside_64_bits_become_floats_row_by_row() -> None:
    rows = [2**64 + 1, 2**53 + 1, -(10**30), 10**400, -(10**400), Fraction(1, 3), Fraction(-(10**400)), Decimal("0.1")]
    nearest = [18446744073709600000.0, 9007199254740990.0, -1e30, np.inf, -np.inf, 1 / 3, -np.inf, 0.1]
    assert held(as_column(rows)) == sorted(nearest)


@pytest.mark.parametrize("rows", [[1, 2], [1, 2.5], [2**63, 1], [True, 2], [np.int16(1)], [Decimal(1)], ["x"], [None], []])
def test_numbers_among_elements_have_one_type_whatever_the_others_are(rows: list[Any]) -> None:
    assert as_column(rows).dtype == np.float64


@pytest.mark.parametrize(
    ("build", "bits"),
    [
        (pl.Series, 64),
        (pa.array, 64),
        (lambda rows: pa.chunked_array([rows[:200_000], rows[200_000:]]), 64),
        (lambda rows: rows, 32),
    ],
    ids=["polars", "pyarrow", "pyarrow chunks", "numpy"],
)
def test_a_column_without_nulls_is_not_copied(build: Callable[[Any], Any], bits: int) -> None:
    data = build(np.arange(400_000, dtype=f"int{bits}"))
    as_column(data)  # imports what it needs
    tracemalloc.start()
    try:
        column = as_column(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000
    assert column.count() == 400_000


@pytest.mark.parametrize("rows", ["[1, 2.5, None]", "numpy.arange(3)", "range(3)"])
def test_lists_and_numpy_arrays_load_no_data_frame_library(rows: str) -> None:
    script = (
        "import sys, numpy; from dpstats.engines.tables.given import as_column\n"
        f"column = as_column({rows}); column.count(); column.counts_below([1])\n"
        "print([name for name in ('narwhals', 'pandas', 'polars', 'pyarrow', 'scipy') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize("added", [1.5, Decimal("2.5"), np.float32(0.1), 2**70, True])
@pytest.mark.parametrize(
    "rows",
    [[2**53 + 1, 123456789012345678, -(10**18) + 5, 999999999999999500], [np.float32(12.99), np.float32(0.1)], [1, 2, 3.5]],
)
def test_one_more_element_never_moves_the_decimals_of_the_others(rows: list[object], added: object) -> None:
    def decimals(data: list[object]) -> Counter[int]:
        return Counter(ordinal_of(value) for value in held(as_column(data)))

    assert decimals([*rows, added]) - decimals(rows) == Counter([ordinal_of(as_number(added))])


def as_number(element: object) -> float:
    """What an element alone means."""
    return float(str(element)) if isinstance(element, np.float32) else float(element)  # type: ignore[arg-type]


class Unhashable(type):
    """A metaclass that breaks whatever is asked of its classes."""

    def __hash__(cls) -> int:
        raise ValueError("no hash")

    @property
    def __module__(cls) -> str:  # type: ignore[override]
        raise ValueError("no module")


class OfBrokenClass(metaclass=Unhashable):
    """An element of such a class."""


class Sly(Decimal):
    """A decimal that turns into something that is not quite a float."""

    def __float__(self) -> float:
        raise RuntimeError("secret 812")


@pytest.mark.parametrize(
    "element", [OfBrokenClass(), Sly("2.5"), 10**1_000_001, -(10**400), Decimal("1e999999"), Decimal("sNaN")], ids=list("abcdef")
)
def test_no_single_element_raises_or_takes_long(element: object) -> None:
    with decimal.localcontext() as context:
        context.traps[decimal.Overflow] = True
        column = as_column([1.5] * 20 + [element])
        assert column.count() in (20, 21)
        assert as_column([1.5] * 20 + [element], numeric=False).count() in (20, 21)
