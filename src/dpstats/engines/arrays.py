"""The array engine: a column in memory, from whatever holds one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import present_rows, sort_present, stored_rows
from dpstats.engines.exact.powers import power_sums
from dpstats.engines.exact.selection import counts_below, counts_below_of_sorted, windows_by_brackets, windows_of_sorted
from dpstats.engines.exact.sums import sum_between
from dpstats.engines.exact.tallies import common_numbers, merged_labels, tally_sorted
from dpstats.engines.kinds import Kind
from dpstats.engines.typed import TypedRows
from dpstats.engines.untyped import UntypedRows
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.summaries import Clip, Column, LabelCounts, NumberRuns, OrderWindow, WindowRequest

SMALL_ROWS = 1 << 14
"""Rows up to which a sorted copy is the fastest way to a single window."""
PASS_WORK, WINDOW_WORK, CUT_WORK = 4, 8, 1
"""What a pass over the rows costs, and on top of it a window by brackets and a cut to count below."""
PATIENCE = 160
"""Work that a column does without a sorted copy; what is asked beyond it is answered from one, which is kept."""

_WHAT_TO_PASS = "a list, a numpy array, a pandas or polars Series or a pyarrow array"


class Rows(Protocol):
    """What a container has to say about its rows."""

    def numbers(self) -> list[NDArray[Any]]:
        """The rows as chunks of one number type; an error when the declared type is another."""
        ...

    def present(self) -> int:
        """Rows that are not missing."""
        ...

    def stored(self) -> int:
        """Rows, missing or not."""
        ...

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels; an error when the declared type has none in order."""
        ...


class Container(Rows, Protocol):
    """The rows of a container that somebody handed over."""

    def kind(self) -> Kind:
        """What it holds, by its declared type, or where it has none by what more than half of its elements are."""
        ...


class ArrayColumn:
    """A column of numbers in memory. The arrays behind it are not copied and must not change while it is in use."""

    def __init__(self, chunks: Sequence[NDArray[Any]], stored: int | None = None) -> None:
        """`chunks` are one or more one-dimensional arrays of one number type in native byte order.

        `stored` is the number of rows where missing ones have been taken out of the chunks.
        """
        self._held = stored_rows(chunks)
        self._stored = self._held if stored is None else stored
        crumbs = len(chunks) > 1 and self._held < len(chunks) * SMALL_ROWS
        self._chunks = [np.concatenate(chunks)] if crumbs else list(chunks)
        self._work = 0
        self._raw_rows: int | None = None
        self._raw_sorted: NDArray[Any] | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The number type of the column."""
        return self._chunks[0].dtype

    def count(self) -> int:
        """Rows that are not missing."""
        if self._raw_rows is None:
            self._raw_rows = present_rows(self._chunks)
        return self._raw_rows

    def stored(self) -> int:
        """Rows of the table, missing ones included."""
        return self._stored

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """One window for each request, in the order of the requests."""
        windows = windows_by_brackets(self._chunks, requests) if self._can_pass(WINDOW_WORK * len(requests)) else None
        return windows_of_sorted(self._sorted(), requests) if windows is None else windows

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """For each cut the number of rows strictly below it, by exact comparison in the column's own number type."""
        if self._can_pass(CUT_WORK * len(cuts)):
            return counts_below(self._chunks, cuts)
        return counts_below_of_sorted(self._sorted(), cuts)

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """The exact sum in units over the rows strictly between two bounds."""
        return sum_between(self._chunks, low, high, unit)

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """The exact sums over all rows of powers of where they lie in a clip, in one pass."""
        return power_sums(self._chunks, clip, degree)

    def tally(self) -> NumberRuns:
        """Every distinct number with its count."""
        runs = tally_sorted(self._sorted())
        return NumberRuns(runs.values, runs.counts)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common numbers with their counts."""
        return common_numbers(self._sorted(), how_many)

    def _can_pass(self, work: int) -> bool:
        """Whether to pass over the rows rather than sort a copy of them."""
        self._work += PASS_WORK + work
        return self._raw_sorted is None and self._held > SMALL_ROWS and self._work <= PATIENCE

    def _sorted(self) -> NDArray[Any]:
        if self._raw_sorted is None:
            self._raw_sorted = sort_present(self._chunks)
        return self._raw_sorted


class LabelColumn:
    """A column of any type, of which the number of rows and the labels may be asked; nothing is read before it is asked."""

    dtype = None

    def __init__(self, rows: Rows, labels: Sequence[Rows] = ()) -> None:
        """`labels` are the same rows by kind, where labels are read from other containers than the one that counts."""
        self._rows = rows
        self._labels = labels or [rows]

    def count(self) -> int:
        """Rows that are not missing."""
        return self._rows.present()

    def stored(self) -> int:
        """Rows of the table, missing ones included."""
        return self._rows.stored()

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels with their counts; refused where the declared type has none in order."""
        return merged_labels([rows.most_common(how_many) for rows in self._labels], how_many)

    def order_windows(self, requests: Sequence[WindowRequest]) -> list[OrderWindow]:
        """Refused: there are no numbers to order."""
        raise _not_opened_for_numbers()

    def counts_below(self, cuts: Sequence[float | int]) -> list[int]:
        """Refused: there are no numbers to compare."""
        raise _not_opened_for_numbers()

    def sum_between(self, low: float | int, high: float | int, unit: Fraction) -> int:
        """Refused: there are no numbers to add."""
        raise _not_opened_for_numbers()

    def power_sums(self, clip: Clip, degree: int) -> tuple[int, ...]:
        """Refused: there are no numbers to add."""
        raise _not_opened_for_numbers()

    def tally(self) -> NumberRuns:
        """Refused: there are no numbers to count."""
        raise _not_opened_for_numbers()


def as_column(data: object, *, numeric: bool | None = True) -> Column:
    """`data` as a column: a list, tuple or range, a numpy array, a pandas or polars Series, a pyarrow array.

    Numbers keep their type: float64, float32, and whole numbers of up to 64 bits; bool becomes uint8, float16 float32, and
    longdouble, decimals, fractions and wider whole numbers the nearest float64, row by row. Null, NaN and masked rows are
    missing. The declared type of a column is public, and a column of text, dates or categories is refused by its type. A list
    or an object array declares none: its type is what more than half of its elements are, and single elements that are no
    numbers are missing rows, never an error. Whether all numbers in it are whole and of 64 bits also belongs to that type.

    With `numeric=False` a column of any type is accepted, for its count and its labels only. With `numeric=None` it is opened for
    its numbers if its type, by the same rule, is one of numbers, and for its labels if not.
    """
    rows = rows_of(data)
    if numeric is None:
        numeric = rows.kind() is Kind.NUMBER
    return ArrayColumn(rows.numbers(), rows.stored()) if numeric else LabelColumn(rows)


def as_labelled(data: object, *labels: object) -> Column:
    """The column `data` for its count, with the labels of other containers that hold the same rows by kind."""
    return LabelColumn(rows_of(data), [rows_of(part) for part in labels])


def _not_opened_for_numbers() -> DataTypeError:
    return DataTypeError("this column was opened for its count and labels only: open it with numeric=True to ask for numbers.")


def rows_of(data: object) -> Container:
    """The rows of a container; an error that says what to pass where it is none."""
    if isinstance(data, np.ndarray):
        return _array_rows(data)
    if isinstance(data, range):
        return _range_rows(data)
    if isinstance(data, (list, tuple)):
        return UntypedRows(data)
    if isinstance(data, (str, bytes, bytearray)):
        raise DataTypeError(f"data must be a column of rows, got a single {type(data).__name__}: pass {_WHAT_TO_PASS}.")
    if isinstance(data, Mapping):
        raise DataTypeError(f"data must be one column, got a {type(data).__name__}: pass one of its values, such as data['x'].")
    if isinstance(data, (Set, Iterator)):
        raise DataTypeError(f"data must be a column of rows, got a {type(data).__name__}: pass list(data).")
    return _foreign_rows(data)


def _array_rows(array: NDArray[Any]) -> Container:
    if array.ndim == 0:
        raise DataTypeError(f"data must be a column of rows, got a single value: pass {_WHAT_TO_PASS}.")
    if array.ndim != 1:
        raise DataTypeError(f"data must have one dimension, got {array.ndim}: pass one column, such as x[:, 0] or x.ravel().")
    stored = array.size
    if isinstance(array, np.ma.MaskedArray):
        array = array.compressed() if np.ma.is_masked(array) else array.data
    return UntypedRows(array.tolist(), stored) if array.dtype.kind == "O" else TypedRows(np.asarray(array), stored)


def _range_rows(numbers: range) -> Container:
    try:
        return TypedRows(np.arange(numbers.start, numbers.stop, numbers.step, dtype=np.int64))
    except OverflowError:
        return UntypedRows(numbers)


def _foreign_rows(data: Any) -> Container:
    """The rows of a data frame library's column, or of anything that offers itself as an array."""
    import narwhals  # lists and numpy arrays do without

    from dpstats.engines.series import SeriesRows

    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas and isinstance(data, pandas.MultiIndex):
        raise DataTypeError("data must be one column, got a MultiIndex: pass one of its levels, such as x.get_level_values(0).")
    if pandas and isinstance(data, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        data = pandas.Series(data)
    if arrow and isinstance(data, arrow.Array):
        data = arrow.chunked_array([data])
    try:
        series: Any = narwhals.from_native(data, allow_series=True, pass_through=True)
    except Exception:
        series = data
    if isinstance(series, (narwhals.DataFrame, narwhals.LazyFrame)):
        raise DataTypeError(f"data must be one column, got a {type(data).__name__}: pass one of its columns, such as data['x'].")
    if not isinstance(series, narwhals.Series):
        return _array_rows(offered_array(data))
    if isinstance(getattr(series.to_native(), "dtype", None), np.dtype):
        return _array_rows(series.to_numpy())
    return UntypedRows(series.to_list()) if series.dtype == narwhals.Object else SeriesRows(series)


def offered_array(data: Any) -> NDArray[Any]:
    """The array that some object offers itself as."""
    try:
        if hasattr(data, "__array__") or isinstance(data, memoryview) or type(data).__module__ == "array":
            return np.asarray(data)
    except Exception:
        pass  # its own message may carry values
    raise DataTypeError(f"data must be a column of rows, got {type(data).__name__}: pass {_WHAT_TO_PASS}.")
