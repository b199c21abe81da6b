"""Features as somebody hands them over: columns of the same rows in one container, or a single column.

How many there are, and their names, is public. A list holds rows if its first element is a list or a tuple, as numpy reads it,
and columns if that is an array or a Series; otherwise it is a single column. The first row's length is the number of columns, and
rows that are of another length are missing, so that no other row can change what the list is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.complaints import one_error_for
from dpstats.engines.reading import offered_array
from dpstats.foundations.errors import DataTypeError

_WHAT_TO_PASS = "a two-dimensional array, a data frame, or a dict of columns such as {'age': age, 'schooling': schooling}"


class Feature(NamedTuple):
    """One of several columns."""

    name: object
    """What the container calls it; None where it does not, and the column may have a name of its own."""
    raw_values: Any


def features_of(data: object) -> list[Feature]:
    """The columns of a two-dimensional array, a data frame, a dict, a list of rows or of columns; anything else is one column."""
    if isinstance(data, np.ndarray):
        return _of_array(data)
    if isinstance(data, Mapping):
        return [Feature(name, raw_values) for name, raw_values in data.items()]
    if isinstance(data, (list, tuple)):
        return _of_list(data)
    if isinstance(data, (str, bytes, bytearray, range)):
        return [Feature(None, data)]
    with one_error_for("X", f"could not be taken apart into columns: pass {_WHAT_TO_PASS}", DataTypeError):
        return _of_frame(data)


def _of_array(array: NDArray[Any]) -> list[Feature]:
    if array.ndim == 1 and array.dtype.names:
        return [Feature(name, array[name]) for name in array.dtype.names]
    if array.ndim == 1:
        return [Feature(None, array)]
    if array.ndim != 2:
        raise DataTypeError(f"X must have rows and columns, or be one column, and has {array.ndim} dimensions.")
    raw_table = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)  # a column of a np.matrix is a matrix
    if raw_table.dtype.kind in "iufb" and type(raw_table) is np.ndarray:
        raw_table = np.asfortranarray(raw_table)  # each column is read many times, and by itself
    return [Feature(None, raw_table[:, place]) for place in range(raw_table.shape[1])]


def _of_list(data: Sequence[Any]) -> list[Feature]:
    first = data[0] if data else None
    if isinstance(first, (list, tuple)):
        return [Feature(None, list(raw_cells)) for raw_cells in zip(*_cells_of(data, row_length(first)), strict=True)]
    if _holds_rows(type(first)):
        if not all(_holds_rows(type(each)) for each in data):
            raise DataTypeError(f"X as a list of columns must hold arrays or Series: pass {_WHAT_TO_PASS}.")
        return [Feature(None, each) for each in data]
    return [Feature(None, data)]


def _holds_rows(kind: type) -> bool:
    """Whether things of a class are columns rather than single values or rows."""
    return issubclass(kind, Sized) and not issubclass(kind, (list, tuple, str, bytes, bytearray))


def row_length(row: list[Any] | tuple[Any, ...]) -> int:
    """How many cells a row has; not `len(row)`: a subclass may have put anything there."""
    return list.__len__(row) if issubclass(type(row), list) else tuple.__len__(row)  # type: ignore[arg-type]


def _cells_of(rows: Sequence[Any], width: int) -> Iterator[Iterable[Any]]:
    """The cells of each row; missing where it is none of that width."""
    nothing = (None,) * width
    for row in rows:
        if not issubclass(type(row), (list, tuple)) or row_length(row) != width:
            yield nothing
        else:
            yield list.__iter__(row) if issubclass(type(row), list) else tuple.__iter__(row)


def _of_frame(data: Any) -> list[Feature]:
    """The columns of a data frame, or of anything that offers itself as an array of two dimensions."""
    import narwhals  # lists, dicts and numpy arrays do without

    pandas, arrow = sys.modules.get("pandas"), sys.modules.get("pyarrow")
    if pandas and isinstance(data, pandas.DataFrame):
        return [Feature(name, data.iloc[:, place]) for place, name in enumerate(data.columns)]
    if arrow and isinstance(data, (arrow.Table, arrow.RecordBatch)):
        return [Feature(name, data.column(place)) for place, name in enumerate(data.schema.names)]
    frame: Any = narwhals.from_native(data, allow_series=True, pass_through=True)
    if isinstance(frame, narwhals.LazyFrame):
        raise DataTypeError(f"X must be in memory, got a {type(data).__name__}: collect it first, or protect it (dp.protect).")
    if isinstance(frame, narwhals.DataFrame):
        return [Feature(name, frame.get_column(name).to_native()) for name in frame.columns]
    if not isinstance(frame, narwhals.Series) and getattr(data, "ndim", 1) != 1:
        return _of_array(offered_array(data))
    return [Feature(None, data)]
