"""Tables in memory: columns by name, from dicts, structured arrays and the data frames of pandas, polars, pyarrow and others."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import one_error_for, shown
from dpstats.engines.reading import held_column, type_of
from dpstats.engines.stores.contents import content_of
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.stores.whereabouts import Whereabouts
from dpstats.foundations.errors import DataTypeError

SMALLEST_PIECE = 1 << 16
"""Rows that the pieces of a chunked table must have on average to be batches of their own; smaller ones go together."""
_BY_NAME = "pass columns by name, such as {'income': income, 'age': age}"


class MemoryStore(LocalStore):
    """Columns in this process's memory. They are not copied, and must not change while they are in use.

    The whole table is one batch, or one for each piece where its columns lie in memory in large pieces. The index of a pandas
    frame is no column: reset_index() makes it one.
    """

    in_memory = True

    def __init__(self, raw_columns: Mapping[str, Any], smallest_piece: int = SMALLEST_PIECE) -> None:
        """`raw_columns` holds columns of one length by name."""
        self._smallest_piece = smallest_piece
        if not raw_columns:
            raise DataTypeError("the table has no columns.")
        for name in raw_columns:
            _check_name(name)
        self._raw_columns = {name: _as_held(name, data) for name, data in raw_columns.items()}
        self._rows()
        self.columns: Mapping[str, ColumnType] = {name: type_of(data) for name, data in self._raw_columns.items()}
        undeclared = {name: data for name, data in self._raw_columns.items() if self.columns[name] is ColumnType.UNDECLARED}
        self.first_classes = {name: type(_first(data)) for name, data in undeclared.items() if len(data)}

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows in their order."""
        rows = self._rows()
        wanted = {name: self._raw_columns[name] for name in columns}
        ends = [*sorted({end for data in wanted.values() for end in _piece_ends(data)} - {0, rows}), rows]
        if rows < len(ends) * self._smallest_piece or len(ends) == 1:
            yield Batch(wanted, rows)
            return
        start = 0
        for end in ends:
            yield Batch({name: slice_rows(data, start, end) for name, data in wanted.items()}, end - start)
            start = end

    def whereabouts(self) -> Whereabouts:
        """What is in the columns; they lie nowhere that could be found again."""
        return Whereabouts(content=lambda: content_of(self._raw_columns, self.columns))

    def _rows(self) -> int:
        """The length of all columns; looked at anew each time, because a list may have grown."""
        raw_lengths = {len(data) for data in self._raw_columns.values()}
        if len(raw_lengths) > 1:
            raise DataTypeError("the columns differ in their number of rows: pass columns of the same rows, in the same order.")
        return raw_lengths.pop()


def columns_in_memory(table: Any) -> dict[str, Any] | None:
    """The columns of a table in memory by name, in their own containers; None for anything else."""
    if isinstance(table, Mapping):
        return dict(table)
    if isinstance(table, np.ndarray):
        return _fields(table)
    arrow, pandas = sys.modules.get("pyarrow"), sys.modules.get("pandas")
    if arrow and isinstance(table, (arrow.Table, arrow.RecordBatch)):
        _check_distinct(table.schema.names)
        return {name: table.column(place) for place, name in enumerate(table.schema.names)}
    if pandas and isinstance(table, pandas.DataFrame):
        _check_distinct(list(table.columns))
        return {name: table[name] for name in table.columns}
    return _frame_columns(table)


def _fields(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """The fields of a structured array, as views of it."""
    if array.dtype.names and array.ndim == 1:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim == 2 and not array.dtype.names:
        raise DataTypeError("the columns of a two-dimensional array have no names: pass {'x': data[:, 0], 'y': data[:, 1]}.")
    raise DataTypeError(f"an array must have named fields and one dimension to be a table: {_BY_NAME}.")


def _frame_columns(table: Any) -> dict[str, Any] | None:
    """The columns of a data frame that narwhals knows and that is in memory."""
    import narwhals

    with one_error_for("the table", f"could not be taken apart into columns: {_BY_NAME}", DataTypeError):
        frame: Any = narwhals.from_native(table, allow_series=True, pass_through=True)
        if isinstance(frame, narwhals.Series):
            raise DataTypeError(f"a single column is no table: {_BY_NAME}.")
        if not isinstance(frame, narwhals.DataFrame):
            return None
        return {name: frame.get_column(name).to_native() for name in frame.columns}


def _check_distinct(names: Sequence[Any]) -> None:
    for name in names:
        _check_name(name)
    if len(set(names)) < len(names):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise DataTypeError(f"the table has more than one column named {shown(twice)}: names must differ.")


def _check_name(name: Any) -> None:
    if not isinstance(name, str):
        raise DataTypeError(f"the columns must be named by texts, got a name of type {type(name).__name__}: rename it.")


def _as_held(name: str, data: Any) -> Any:
    """A column in a container that can be read, without a copy; an error that names the column where it is none."""
    try:
        return held_column(data)
    except DataTypeError as complaint:
        raise DataTypeError(f"column {shown(name)}: {complaint}") from None


def _first(data: Any) -> Any:
    return data.iloc[0] if hasattr(type(data), "iloc") else data[0]


def _piece_ends(data: Any) -> list[int]:
    """Where the pieces end in which a column of polars or pyarrow lies in memory."""
    if type(data).__module__.startswith("polars"):
        return list(accumulate(data.chunk_lengths()))
    if hasattr(type(data), "iterchunks"):
        return list(accumulate(len(piece) for piece in data.iterchunks()))
    return []


def slice_rows(data: Any, start: int, end: int) -> Any:
    """Some rows of a column: a view, or the references of a list."""
    if isinstance(data, (list, tuple, np.ndarray)):
        return data[start:end]
    return data.iloc[start:end] if hasattr(type(data), "iloc") else data.slice(start, end - start)
