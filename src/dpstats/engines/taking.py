"""Rows by number: some rows of a container, in a container of the same kind.

Claim      What is taken depends on the rows that are taken, in their order, and on the container's type, which is public; not on
           the other rows, nor on where in the container the rows stood
Why        What containers carry along from other rows is left behind: the numbers that pandas gives to rows without labels, the
           levels of a MultiIndex, the step of dates, categories that none of the rows has (with the order of unordered ones), the
           dictionaries and the notes of arrow (which hold the number of rows), and the pieces that arrow and polars keep their
           columns in. Labels of rows stay with them. Rows travel to other processes, where polars numbers categories anew
Limits     The length that numpy gives to texts, the order of ordered categories, and an Enum of polars are parts of a type. Where
           they were found from the rows, a single row can change them for all
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
    raw_taken.attrs = {}
    if isinstance(data.index, pandas.RangeIndex):
        raw_taken = raw_taken.reset_index(drop=True)  # numbers of rows: where they stand among the others
    else:
        raw_taken.index = _own_labels(pandas, raw_taken.index)
    if isinstance(raw_taken, pandas.Series):
        return _own_values(pandas, raw_taken)
    for place, dtype in enumerate(data.dtypes):
        if isinstance(dtype, (pandas.CategoricalDtype, pandas.ArrowDtype)):
            raw_taken.isetitem(place, _own_values(pandas, raw_taken.iloc[:, place]))
    return raw_taken


def _own_labels(pandas: Any, raw_index: Any) -> Any:
    """Labels of rows, without what was made of the labels of others."""
    if isinstance(raw_index, pandas.MultiIndex):
        raw_columns = [_own_labels(pandas, raw_index.get_level_values(level)) for level in range(raw_index.nlevels)]
        return pandas.MultiIndex.from_arrays(raw_columns, names=raw_index.names)
    if isinstance(raw_index, (pandas.DatetimeIndex, pandas.TimedeltaIndex)):
        return type(raw_index)(raw_index, freq=None)
    if isinstance(raw_index.dtype, (pandas.CategoricalDtype, pandas.ArrowDtype)):
        return pandas.Index(_own_values(pandas, raw_index.to_series()), name=raw_index.name)
    return raw_index


def _own_values(pandas: Any, raw_column: Any) -> Any:
    """A column with the categories that are in it, in their own order: as declared, else sorted, else as they come."""
    if isinstance(raw_column.dtype, pandas.CategoricalDtype):
        return raw_column.cat.set_categories(_own_categories(pandas, raw_column))
    if isinstance(raw_column.dtype, pandas.ArrowDtype):
        arrow = sys.modules["pyarrow"]  # pandas has loaded it
        raw_held = raw_column.array.__arrow_array__()
        raw_array = pandas.arrays.ArrowExtensionArray(_in_one_piece(arrow, raw_held))
        return pandas.Series(raw_array, index=raw_column.index, name=raw_column.name)
    return raw_column


def _own_categories(pandas: Any, raw_column: Any) -> Any:
    raw_codes = pandas.unique(raw_column.cat.codes[raw_column.cat.codes >= 0])
    if raw_column.cat.ordered:
        return raw_column.cat.categories.take(np.sort(raw_codes))
    raw_seen = raw_column.cat.categories.take(raw_codes)
    try:
        return raw_seen.sort_values()
    except TypeError:
        return raw_seen


def _in_one_piece(arrow: Any, raw_taken: Any) -> Any:
    """A column or a table of arrow in one chunk, with dictionaries that hold what is in it."""
    if isinstance(raw_taken, arrow.ChunkedArray):
        return arrow.chunked_array([_own_dictionary(arrow, raw_taken.combine_chunks())], raw_taken.type)
    if isinstance(raw_taken, (arrow.Table, arrow.RecordBatch)):
        raw_columns = [_in_one_piece(arrow, raw_column) for raw_column in raw_taken.columns]
        return type(raw_taken).from_arrays(raw_columns, schema=raw_taken.schema)
    return _own_dictionary(arrow, raw_taken)


def _own_dictionary(arrow: Any, raw_array: Any) -> Any:
    kind = raw_array.type
    if not arrow.types.is_dictionary(kind):
        if _holds_dictionary(arrow, kind):
            raise DataTypeError("the data have a dictionary of arrow inside a nested column: cast that to plain values first.")
        return raw_array
    if not kind.ordered:
        raw_fresh = raw_array.dictionary_decode().dictionary_encode()
        return arrow.DictionaryArray.from_arrays(raw_fresh.indices.cast(kind.index_type), raw_fresh.dictionary)
    raw_is_null = np.asarray(raw_array.indices.is_null().to_numpy(zero_copy_only=False), dtype=bool)
    raw_places = np.asarray(raw_array.indices.fill_null(0).to_numpy(zero_copy_only=False))
    raw_used = np.unique(raw_places[~raw_is_null])
    raw_indices = arrow.array(np.searchsorted(raw_used, raw_places), kind.index_type, mask=raw_is_null)
    return arrow.DictionaryArray.from_arrays(raw_indices, raw_array.dictionary.take(arrow.array(raw_used)), ordered=True)


def _holds_dictionary(arrow: Any, kind: Any) -> bool:
    """Whether a dictionary is somewhere in a type."""
    inner = [kind.field(place).type for place in range(kind.num_fields)] if arrow.types.is_nested(kind) else []
    return arrow.types.is_dictionary(kind) or any(_holds_dictionary(arrow, each) for each in inner)
