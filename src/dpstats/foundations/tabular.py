"""Released tables as data frames: a value that is a table goes to pandas, polars, pyarrow and DuckDB as it is.

They take it by the Arrow PyCapsule interface (`__arrow_c_stream__`), by the dataframe interchange protocol (`__dataframe__`), or,
as `pandas.DataFrame(value)` does, by its rows, one dict for each. pyarrow makes the first two and is loaded only for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from dpstats.foundations.errors import MissingExtraError

_EXTRA = "files"


class Tabular:
    """A value that is a table of named columns."""

    def table_columns(self) -> Mapping[str, Any]:
        """The columns by name, each a list or an array with a cell for every row; None is a missing cell."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Any]:
        """The rows one by one, each as a dict of its cells."""
        columns = {name: _cells(column) for name, column in self.table_columns().items()}
        return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))

    def to_arrow(self) -> Any:
        """The table as a pyarrow Table; a column of cells of several types becomes one of texts."""
        pyarrow = _pyarrow()
        return pyarrow.table({str(name): _arrow_array(pyarrow, column) for name, column in self.table_columns().items()})

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self.table_columns()))

    def to_polars(self) -> Any:
        """The table as a polars DataFrame."""
        try:
            import polars
        except ImportError:
            raise MissingExtraError.about("a polars DataFrame needs polars", _EXTRA) from None
        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self.to_arrow().schema.__arrow_c_schema__()

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> Any:
        return self.to_arrow().__dataframe__(nan_as_null, allow_copy)


def columns_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """The columns of rows that have the same cells, by name; None where a row lacks one."""
    listed = list(rows)
    names = dict.fromkeys(name for row in listed for name in row)
    return {name: [row.get(name) for row in listed] for name in names}


def _cells(column: Any) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError.about("a table that goes to another library by arrow needs pyarrow", _EXTRA) from None
    return pyarrow


def _arrow_array(pyarrow: Any, column: Any) -> Any:
    try:
        return pyarrow.array(column)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError):
        return pyarrow.array([None if cell is None else str(cell) for cell in _cells(column)], pyarrow.string())
