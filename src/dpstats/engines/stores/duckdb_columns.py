"""How the columns of a DuckDB query travel: what to select for each type, and the column that is made of it.

Most types travel as they are. Whole numbers of more than 64 bits come as texts, like other types that Arrow has no place for;
infinite dates and times are missing; of nested values only their presence travels. Intervals travel in parts, because Arrow
counts their time in nanoseconds, of which 64 bits hold no more than 292 years. Nothing here can fail on a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.numerals import NumeralColumn
from dpstats.engines.stores.filtering import SqlColumn
from dpstats.engines.stores.intervals import interval_column

if TYPE_CHECKING:
    import pyarrow

_WHOLES = ("tinyint", "smallint", "integer", "bigint", "utinyint", "usmallint", "uinteger", "ubigint")
_COMPARED = {
    **{name: np.dtype(f"i{1 << place}") for place, name in enumerate(_WHOLES[:4])},
    **{name: np.dtype(f"u{1 << place}") for place, name in enumerate(_WHOLES[4:7])},
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
}
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
_FIXED = (*_WHOLES, "float", "double", "decimal", "boolean", "enum", *_CLOCKS)
_AS_THEY_ARE = (*_FIXED, "varchar", "blob")
_INTERVAL = """\
CASE WHEN {0} IS NOT NULL THEN {{
  'months': 12 * datepart('year', {0}) + datepart('month', {0}),
  'days': datepart('day', {0}),
  'microseconds': 3600000000 * datepart('hour', {0}) + 60000000 * datepart('minute', {0}) + datepart('microsecond', {0})
}} END"""
_NESTED = ("list", "array", "struct", "map", "union", "variant")


class DuckDBColumn:
    """One column of a table or query: its name, and how its type travels."""

    def __init__(self, place: int, name: str, declared: Any) -> None:
        """`place` tells the columns of a table apart, and `declared` is DuckDB's own type."""
        self._quoted = quoted(name)
        self._id = str(declared.id)
        self.alias = f"column_{place}"
        self.name = name
        self.type = ColumnType.OTHER if str(declared) == "JSON" else _TYPES.get(self._id, ColumnType.OTHER)

    def selected(self, kept: bool = False, longest: int | None = None) -> str:
        """What to select, as its alias; `kept` says that it is in a table already, by its alias.

        Texts and bytes of more bytes than the longest are U+FFFD instead, as those that are no text are.
        """
        expression, size = self.alias if kept else self._expression(), self.size(kept)
        if longest is not None and size is not None:
            mended = "encode(chr(65533))" if self._id == "blob" else "chr(65533)"
            expression = f"CASE WHEN {size} > {longest} THEN {mended} ELSE {expression} END"
        return f"{expression} AS {self.alias}"

    def _expression(self) -> str:
        if self._id in _MOMENTS:
            return f"CASE WHEN isfinite({self._quoted}) THEN {self._quoted} END"
        if self._id == "null":
            return f"CAST({self._quoted} AS DOUBLE)"
        if self._id in _NESTED:
            return f"CASE WHEN {self._quoted} IS NOT NULL THEN [TRUE] END"
        if self._id == "interval":
            return _INTERVAL.format(self._quoted)
        return self._quoted if self._id in _AS_THEY_ARE else f"CAST({self._quoted} AS VARCHAR)"

    def size(self, kept: bool = False) -> str | None:
        """How many bytes a value has when it travels as text or bytes, as SQL; None for types of a fixed size.

        `kept` says that what was selected is in a table already, by its alias.
        """
        if self._id in (*_FIXED, *_MOMENTS, *_NESTED, "interval", "null"):
            return None
        selected = self.alias if kept else self._quoted
        return f"octet_length({selected})" if self._id == "blob" else f"strlen(CAST({selected} AS VARCHAR))"

    def compared(self) -> SqlColumn | None:
        """The column as it can be compared exactly as its cells are; None where it cannot."""
        return SqlColumn(self._quoted, _COMPARED[self._id]) if self._id in _COMPARED else None

    def assemble(self, raw_selected: pyarrow.ChunkedArray) -> Any:
        """The column, from what was selected."""
        if self._id in _WIDE:
            return NumeralColumn(raw_selected, ColumnType.INTEGER)
        return _interval_texts(raw_selected.combine_chunks()) if self._id == "interval" else raw_selected


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _interval_texts(raw_intervals: pyarrow.StructArray) -> pyarrow.DictionaryArray:
    raw_missing = raw_intervals.is_null().to_numpy(zero_copy_only=False)
    months, days, microseconds = (part.fill_null(0).to_numpy(zero_copy_only=False) for part in raw_intervals.flatten())
    return interval_column(months, days, microseconds, raw_missing)
