"""Reading: a native column of whatever library as canonical cells.

Claim      Which cell a row becomes depends on that row alone, on the column's declared type and on how it is to be read. No
           majority is taken and nothing is guessed from values; the number type of the cells depends on types only. No value
           makes reading fail.
Numerics   Numbers of up to 64 bits stay what they are; decimals and wider whole numbers become the nearest float64, whole numbers
           beyond 2**53 by way of 15 digits (`foundations.units.float_of_whole`). Texts become the nearest float64.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Opaque
from dpstats.engines.columns.arrays import array_column
from dpstats.engines.columns.distinct import labels_of
from dpstats.engines.columns.elements import ElementColumn
from dpstats.engines.columns.native import NativeColumn, no_moments, no_numbers
from dpstats.engines.columns.texts import identity_of_text, parsed_moments, parsed_truths, told_truths
from dpstats.foundations.errors import DataTypeError

_WHAT_TO_PASS = "a list, a numpy array, a pandas or polars Series or a pyarrow array"
_MENDED = "\ufffd"
_OPEN = (ColumnType.TEXT, ColumnType.UNDECLARED)
_NUMBER_TYPES: dict[ColumnType, type[np.generic]] = {
    ColumnType.NUMBER: np.float64,
    ColumnType.INTEGER: np.int64,
    ColumnType.BOOLEAN: np.uint8,
    ColumnType.TRUTH: np.uint8,
}


def type_of(data: Any) -> ColumnType:
    """The declared type of a native column: a numpy array, a list or tuple, a pandas or polars Series, a pyarrow array."""
    return native_column(data).type


def read_cells(data: Any, kind: ColumnType) -> Cells:
    """A native column as cells of the type that the caller wants, one for each row.

    A column of numbers is read as numbers in its own number type, whichever of the number types is wanted. Texts and untyped
    elements are read one by one: as float64 for NUMBER, int64 for INTEGER, uint8 for BOOLEAN and microseconds for MOMENT (where
    they have an offset, in UTC), and missing where they are no such thing; for TRUTH they are 2 then, and missing only where they
    say so (`told_truths`). Everything has a text, but for nested types and others
    without values. What is UNDECLARED is read as text. A type that has no such reading (dates as numbers) is all missing.
    """
    try:
        return _read(native_column(data), kind)
    except DataTypeError:
        raise
    except Exception:  # the libraries' own messages may carry values
        raise _unreadable(kind) from None


def read_identities(data: Any, kind: ColumnType) -> Cells:
    """A native column as cells that are equal only if the rows are: for the ids of units, which must never fall together.

    Where `read_cells` rounds (decimals, whole numbers beyond 2**53 among untyped elements or as labels) or mends (bytes that are
    no UTF-8), these are texts in full. What cannot be told apart is missing: numbers that would be rounded, texts that are dates
    finer than microseconds, and texts in which somebody has put U+FFFD for what it was.
    """
    try:
        return _identities(native_column(data), kind)
    except DataTypeError:
        raise
    except Exception:
        raise _unreadable(kind) from None


def native_column(data: Any) -> NativeColumn:
    """A container of one column behind the interface that all have; an error that says what to pass where it is none."""
    held = held_column(data)
    if isinstance(held, NativeColumn):
        return held
    if isinstance(held, np.ndarray):
        return array_column(held)
    if isinstance(held, (list, tuple)):
        return ElementColumn(held)
    polars, arrow = sys.modules.get("polars"), sys.modules.get("pyarrow")
    if polars and isinstance(held, polars.Series):
        from dpstats.engines.columns.polars import polars_column

        return polars_column(held)
    if arrow and isinstance(held, (arrow.Array, arrow.ChunkedArray)):
        from dpstats.engines.columns.arrow import ArrowColumn

        return ArrowColumn(held)
    from dpstats.engines.columns.pandas import pandas_column

    return pandas_column(held)


def held_column(data: Any) -> Any:
    """A container of one column as one of those that are read: a list or tuple, a numpy array of one dimension, a pandas or
    polars Series, a pyarrow array. Nothing is copied that need not be. An error where `data` is no column, which looks at its
    class and shape alone.
    """
    if isinstance(data, np.ndarray):
        return _of_one_dimension(data)
    if isinstance(data, (list, tuple, NativeColumn)):
        return data
    if isinstance(data, range):
        return _whole_numbers(data)
    if isinstance(data, (str, bytes, bytearray)):
        raise DataTypeError(f"data must be a column of rows, got a single {type(data).__name__}: pass {_WHAT_TO_PASS}.")
    if isinstance(data, Mapping):
        raise DataTypeError(f"data must be one column, got a {type(data).__name__}: pass one of its values, such as data['x'].")
    if isinstance(data, (Set, Iterator)):
        raise DataTypeError(f"data must be a column of rows, got a {type(data).__name__}: pass list(data).")
    polars, arrow, pandas = (sys.modules.get(name) for name in ("polars", "pyarrow", "pandas"))
    if polars and isinstance(data, polars.Series):
        return data
    if arrow and isinstance(data, (arrow.Array, arrow.ChunkedArray)):
        return data
    if pandas and isinstance(data, pandas.Series):
        return data
    if pandas and isinstance(data, pandas.MultiIndex):
        raise DataTypeError("data must be one column, got a MultiIndex: pass one of its levels, such as x.get_level_values(0).")
    if pandas and isinstance(data, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        return pandas.Series(data, copy=False)
    return _foreign_column(data)


def offered_array(data: Any) -> NDArray[Any]:
    """The array that some object offers itself as."""
    try:
        if hasattr(data, "__array__") or isinstance(data, memoryview) or type(data).__module__ == "array":
            return np.asarray(data)
    except Exception:
        pass  # its own message may carry values
    raise DataTypeError(f"data must be a column of rows, got {type(data).__name__}: pass {_WHAT_TO_PASS}.")


def _of_one_dimension(array: NDArray[Any]) -> NDArray[Any]:
    if array.ndim == 0:
        raise DataTypeError(f"data must be a column of rows, got a single value: pass {_WHAT_TO_PASS}.")
    if array.ndim != 1:
        raise DataTypeError(f"data must have one dimension, got {array.ndim}: pass one column, such as x[:, 0] or x.ravel().")
    return array


def _whole_numbers(numbers: range) -> Any:
    try:
        return np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.int64)
    except OverflowError:
        return list(numbers)


def _foreign_column(data: Any) -> Any:
    """A Series of a library that narwhals knows and we do not, by way of arrow, or what offers itself as an array."""
    import narwhals  # lists and numpy arrays do without

    try:
        series: Any = narwhals.from_native(data, allow_series=True, pass_through=True)
        if isinstance(series, narwhals.Series):
            return series.to_arrow()
    except Exception:
        series = data
    if isinstance(series, (narwhals.DataFrame, narwhals.LazyFrame)):
        raise DataTypeError(f"data must be one column, got a {type(data).__name__}: pass one of its columns, such as data['x'].")
    return _of_one_dimension(offered_array(data))


def _read(column: NativeColumn, kind: ColumnType) -> Cells:
    if kind is ColumnType.OTHER:
        return Opaque(column.present())
    if kind in _OPEN:
        return column.labels()
    if kind is ColumnType.MOMENT:
        if column.type is ColumnType.MOMENT:
            return column.moments()
        return parsed_moments(column.labels()) if column.type in _OPEN else no_moments(len(column))
    if column.type.is_numeric:
        return column.numbers()
    if column.type not in _OPEN:
        return no_numbers(len(column), _NUMBER_TYPES[kind])
    if kind is ColumnType.TRUTH:
        return told_truths(column.labels(), column.present())
    return parsed_truths(column.labels()) if kind is ColumnType.BOOLEAN else column.parsed(whole=kind is ColumnType.INTEGER)


def _identities(column: NativeColumn, kind: ColumnType) -> Cells:
    if kind.is_numeric and column.type.is_numeric and not column.is_exact:
        return column.labels(exact=True)
    if kind is ColumnType.OTHER or (kind not in _OPEN and column.type not in _OPEN) or kind is ColumnType.INTEGER:
        return _read(column, kind)
    cells = column.labels(exact=True)
    if kind is ColumnType.NUMBER:
        return labels_of(cells.raw_codes, [identity_of_text(text) for text in cells.raw_labels])
    if kind is ColumnType.BOOLEAN:
        return parsed_truths(cells)
    return parsed_moments(cells, exact=True) if kind is ColumnType.MOMENT else _unmended(cells)


def _unmended(cells: Labels) -> Labels:
    """The same texts but for those that were mended on the way here: different ones may have become the same."""
    if not any(_MENDED in text for text in cells.raw_labels):
        return cells
    return labels_of(cells.raw_codes, [None if _MENDED in text else text for text in cells.raw_labels])


def _unreadable(kind: ColumnType) -> DataTypeError:
    return DataTypeError(f"a column could not be read as {kind.value}: check that its container is sound.")
