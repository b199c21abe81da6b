"""How the columns of a DuckDB query travel: what to select for each type, and the column that is made of it.

Most types travel as they are. Whole numbers of more than 64 bits come as texts, like other types that Arrow has no place for;
infinite dates and times are missing; of nested values only their presence travels. Nothing here can fail on a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.numerals import NumeralColumn
from dpstats.engines.stores.intervals import interval_column

if TYPE_CHECKING:
    import pyarrow

_WHOLES = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint")
_WIDE = ("hugeint", "uhugeint", "bignum", "varint")
_MOMENTS = ("date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone")
_CLOCKS = ("time", "time_ns")
_TYPES = {
    **dict.fromkeys((*_WHOLES, *_WIDE), ColumnType.INTEGER),
    **dict.fromkeys(("float", "double", "decimal", "null"), ColumnType.NUMBER),
    "boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(("varchar", "enum", "uuid", *_CLOCKS, "time with time zone", "interval"), ColumnType.TEXT),
    **dict.fromkeys(_MOMENTS, ColumnType.MOMENT),
}
_AS_THEY_ARE = (*_WHOLES, "float", "double", "decimal", "boolean", "varchar", "enum", *_CLOCKS, "interval", "blob")
_NESTED = ("list", "array", "struct", "map", "union", "variant")


class DuckDBColumn:
    """One column of a table or query: its name, and how its type travels."""

    def __init__(self, place: int, name: str, declared: Any) -> None:
        """`place` tells the columns of a table apart, and `declared` is DuckDB's own type."""
        self._quoted = '"' + name.replace('"', '""') + '"'
        self._id = str(declared.id)
        self.alias = f"column_{place}"
        self.name = name
        self.type = ColumnType.OTHER if str(declared) == "JSON" else _TYPES.get(self._id, ColumnType.OTHER)

    def expression(self) -> str:
        """What to select."""
        if self._id in _MOMENTS:
            return f"CASE WHEN isfinite({self._quoted}) THEN {self._quoted} END"
        if self._id == "null":
            return f"CAST({self._quoted} AS DOUBLE)"
        if self._id in _NESTED:
            return f"CASE WHEN {self._quoted} IS NOT NULL THEN [TRUE] END"
        return self._quoted if self._id in _AS_THEY_ARE else f"CAST({self._quoted} AS VARCHAR)"

    def assemble(self, raw_selected: pyarrow.ChunkedArray) -> Any:
        """The column, from what was selected."""
        if self._id in _WIDE:
            return NumeralColumn(raw_selected, ColumnType.INTEGER)
        return _interval_texts(raw_selected.combine_chunks()) if self._id == "interval" else raw_selected


def _interval_texts(raw_intervals: pyarrow.Array) -> pyarrow.DictionaryArray:
    layout = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
    size = len(raw_intervals)
    raw_missing = raw_intervals.is_null().to_numpy(zero_copy_only=False)
    if not size:
        raw_parts = np.empty(0, dtype=layout)
    else:
        raw_parts = np.frombuffer(raw_intervals.buffers()[1], dtype=layout)[raw_intervals.offset :][:size]
    return interval_column(raw_parts["months"], raw_parts["days"], raw_parts["nanoseconds"] // 1000, raw_missing)
