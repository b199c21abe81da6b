"""Rows by number: some rows of a container, in a container of the same kind.

Claim      What is taken depends on the rows that are taken, in their order, and on the container's type, which is public; not on
           the other rows, nor on where in the container the rows stood
Why        What containers carry along from other rows is left behind: the numbers that pandas gives to rows without labels, the
           levels of a MultiIndex, the notes of arrow tables (which hold the number of rows), and the pieces that arrow and polars
           keep their columns in. Labels of rows stay with them
Limits     The categories of a categorical column, and the length that numpy gives to texts, are parts of a type. Where they were
           found from the rows, a single row can change them for all
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import DataTypeError

Numbers = NDArray[np.int64]
Take = Callable[[Numbers], Any]
_WHAT_TO_PASS = (
    "a list, a numpy array, a frame or a column of pandas, polars or pyarrow, a sparse matrix, a dict of columns,"
    " or a tuple of several of these with the same rows, such as (X, y)"
)


class RowsTaker:
    """Containers of the same rows. They are not copied, and must not change while they are in use."""

    def __init__(self, containers: Sequence[tuple[int, Take]]) -> None:
        """`containers` are lengths with what takes rows."""
        raw_lengths = {length for length, _ in containers}
        if len(raw_lengths) > 1:
            raise DataTypeError("the data differ in their number of rows: pass columns of the same rows, in the same order.")
        self._raw_count = raw_lengths.pop()
        self._takes = [take for _, take in containers]

    @property
    def count(self) -> int:
        """How many rows there are; raw."""
        return self._raw_count

    def take(self, numbers: Numbers) -> tuple[Any, ...]:
        """The rows of these numbers, from 0, as the arguments of a function: one container for each that was given."""
        return tuple(take(numbers) for take in self._takes)


def rows_taker(data: Any) -> RowsTaker:
    """What takes rows of a container, or of each in a tuple of containers.

    A tuple is always one of containers, never of rows: otherwise rows could decide what it is.
    """
    containers = data if isinstance(data, tuple) else (data,)
    if not containers:
        raise DataTypeError(f"there is no data: pass {_WHAT_TO_PASS}.")
    return RowsTaker([_opened(container) for container in containers])


def _opened(data: Any) -> tuple[int, Take]:
    """The length of a container and what takes its rows; an error that says what to pass where it has none."""
    try:
        opened = _open(data)
        if opened is not None:
            opened[1](np.zeros(0, dtype=np.int64))  # some types cannot be taken from, which must not show up later
            return opened
    except DataTypeError:
        raise
    except Exception:
        pass  # its own message may carry values
    raise DataTypeError(f"data must be rows, got {type(data).__name__}: pass {_WHAT_TO_PASS}.")


def _open(data: Any) -> tuple[int, Take] | None:
    if isinstance(data, Mapping):
        return _open_dict(data)
    if isinstance(data, (list, range)):
        return len(data), lambda numbers: [data[number] for number in numbers.tolist()]
    if isinstance(data, (str, bytes, bytearray, tuple, Set, Iterator)):
        return None
    return _open_array(data) if isinstance(data, np.ndarray) else _open_foreign(data)


def _open_dict(columns: Mapping[Any, Any]) -> tuple[int, Take] | None:
    """A dict of columns; a tuple in it is a column."""
    if not columns:
        return None
    opened = {name: _opened(list(column) if isinstance(column, tuple) else column) for name, column in columns.items()}
    rows = RowsTaker(list(opened.values()))
    return rows.count, lambda numbers: dict(zip(opened, rows.take(numbers), strict=True))


def _open_array(array: NDArray[Any]) -> tuple[int, Take] | None:
    if array.ndim == 0:
        return None
    held = np.asarray(array) if isinstance(array, np.memmap) else array
    return len(held), lambda numbers: held[numbers]


def _open_foreign(data: Any) -> tuple[int, Take] | None:
    """A container of a library; only of one that is loaded, because otherwise nobody can have made one."""
    pandas, polars, arrow, sparse = (sys.modules.get(name) for name in ("pandas", "polars", "pyarrow", "scipy.sparse"))
    if pandas and isinstance(data, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        data = pandas.Series(data)
    if pandas and isinstance(data, (pandas.DataFrame, pandas.Series)):
        return len(data), lambda numbers: _taken_from_pandas(pandas, data, numbers)
    if polars and isinstance(data, (polars.DataFrame, polars.Series)):
        return len(data), lambda numbers: data[numbers].rechunk()
    if arrow and isinstance(data, (arrow.Table, arrow.RecordBatch)):
        bare = data.replace_schema_metadata(None)
        return len(data), lambda numbers: _in_one_piece(arrow, bare.take(arrow.array(numbers)))
    if arrow and isinstance(data, (arrow.Array, arrow.ChunkedArray)):
        return len(data), lambda numbers: _in_one_piece(arrow, data.take(arrow.array(numbers)))
    if sparse and sparse.issparse(data):
        matrix = data.tocsr()
        return matrix.shape[0], lambda numbers: matrix[numbers]
    if hasattr(data, "__array__") or isinstance(data, memoryview) or type(data).__module__ == "array":
        return _open_array(np.asarray(data))
    return None


def _taken_from_pandas(pandas: Any, data: Any, numbers: Numbers) -> Any:
    raw_taken = data.iloc[numbers]
    if isinstance(data.index, pandas.RangeIndex):
        return raw_taken.reset_index(drop=True)  # numbers of rows: where they stand among the others
    if isinstance(data.index, pandas.MultiIndex):
        return raw_taken.set_axis(raw_taken.index.remove_unused_levels(), axis=0)
    return raw_taken


def _in_one_piece(arrow: Any, raw_taken: Any) -> Any:
    if isinstance(raw_taken, arrow.ChunkedArray):
        return arrow.chunked_array([raw_taken.combine_chunks()], raw_taken.type)
    return raw_taken.combine_chunks() if isinstance(raw_taken, arrow.Table) else raw_taken
