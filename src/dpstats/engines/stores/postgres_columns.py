"""How the columns of a Postgres table travel: in the server's own binary form, a column at a time.

Of some rows, each column is sent as two strings of bytes: its values that are not null, one after another, and a mark for each
row that says whether it is null or how many bytes its text has. So a column of fixed width is an array as it arrives, a text is
found by adding up lengths, and nothing is parsed but numerics, which come as texts because they can have any size. Bytes that are
no text in the database's encoding become U+FFFD, value by value. Infinite dates and times, and times that 64 bits of
microseconds since 1970 cannot hold, are missing. Of nested values only their presence travels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.numerals import NumeralColumn
from dpstats.engines.stores.filtering import SqlColumn
from dpstats.engines.stores.intervals import interval_column

if TYPE_CHECKING:
    import pyarrow

_DAYS_TO_2000 = 10_957
_MICROSECONDS_TO_2000 = _DAYS_TO_2000 * 86_400_000_000
_INTERVAL = [("microseconds", ">i8"), ("days", ">i4"), ("months", ">i4")]


@dataclass(frozen=True)
class _Fixed:
    """A type of fixed width: how its values are sent, and what they become (of all rows, with a mask of the missing ones)."""

    type: ColumnType
    send: str
    layout: Any
    build: Callable[[NDArray[Any], NDArray[np.bool_]], Any]


def _numbers(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> pyarrow.Array:
    import pyarrow

    return pyarrow.array(raw_values.astype(raw_values.dtype.newbyteorder("=")), mask=raw_missing)


def _dates(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> NDArray[Any]:
    """Days since 2000; the extreme ones are the infinite dates. Not Arrow's, which have no room for the last thirty years."""
    limits = np.iinfo(np.int32)
    raw_days = raw_values.astype(np.int64) + _DAYS_TO_2000
    raw_missing = raw_missing | (raw_values == limits.min) | (raw_values == limits.max)
    return np.where(raw_missing, np.datetime64("NaT", "D"), raw_days.view("M8[D]"))


def _times(zone: str | None) -> Callable[[NDArray[Any], NDArray[np.bool_]], pyarrow.Array]:
    """Microseconds since 2000; the extreme ones are the infinite times."""

    def build(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> pyarrow.Array:
        import pyarrow

        limits = np.iinfo(np.int64)
        raw_missing = raw_missing | (raw_values == limits.min) | (raw_values > limits.max - _MICROSECONDS_TO_2000)
        raw_since_1970 = np.where(raw_missing, 0, raw_values.astype(np.int64)) + _MICROSECONDS_TO_2000
        return pyarrow.array(raw_since_1970, mask=raw_missing).view(pyarrow.timestamp("us", tz=zone))

    return build


def _clocks(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> pyarrow.Array:
    import pyarrow

    return _numbers(raw_values, raw_missing).view(pyarrow.time64("us"))


def _intervals(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> pyarrow.DictionaryArray:
    """Months, days and microseconds, of which all are extreme in the infinite intervals of newer servers."""
    for limit in (np.iinfo(np.int32).min, np.iinfo(np.int32).max):
        raw_missing = raw_missing | ((raw_values["months"] == limit) & (raw_values["days"] == limit))
    return interval_column(raw_values["months"], raw_values["days"], raw_values["microseconds"], raw_missing)


def _presence(raw_values: NDArray[Any], raw_missing: NDArray[np.bool_]) -> pyarrow.StructArray:
    import pyarrow

    return pyarrow.StructArray.from_arrays([pyarrow.nulls(len(raw_missing))], ["value"], mask=pyarrow.array(raw_missing))


_FIXED = {
    "int2": _Fixed(ColumnType.INTEGER, "int2send({0})", ">i2", _numbers),
    "int4": _Fixed(ColumnType.INTEGER, "int4send({0})", ">i4", _numbers),
    "int8": _Fixed(ColumnType.INTEGER, "int8send({0})", ">i8", _numbers),
    "oid": _Fixed(ColumnType.INTEGER, "int8send({0}::int8)", ">i8", _numbers),
    "float4": _Fixed(ColumnType.NUMBER, "float4send({0})", ">f4", _numbers),
    "float8": _Fixed(ColumnType.NUMBER, "float8send({0})", ">f8", _numbers),
    "bool": _Fixed(ColumnType.BOOLEAN, "boolsend({0})", "?", _numbers),
    "date": _Fixed(ColumnType.MOMENT, "date_send({0})", ">i4", _dates),
    "timestamp": _Fixed(ColumnType.MOMENT, "timestamp_send({0})", ">i8", _times(None)),
    "timestamptz": _Fixed(ColumnType.MOMENT, "timestamptz_send({0})", ">i8", _times("UTC")),
    "time": _Fixed(ColumnType.TEXT, "time_send({0})", ">i8", _clocks),
    "interval": _Fixed(ColumnType.TEXT, "interval_send({0})", _INTERVAL, _intervals),
}
_NESTED = _Fixed(ColumnType.OTHER, "boolsend(TRUE)", "u1", _presence)
_TEXTS = ("text", "varchar", "bpchar", "name", "char", "citext", "uuid", "timetz", "inet", "cidr", "macaddr", "macaddr8")
_ALONE = {*_TEXTS, "numeric", "bytea", "json", "jsonb"}
_COMPARED = {name: np.dtype(_FIXED[name].layout).newbyteorder("=") for name in ("int2", "int4", "int8", "float4", "float8")}
_OF_EXTENSIONS = ("citext",)  # which may lie in any schema


class PostgresColumn:
    """One column of a table: its name, and how its type travels."""

    def __init__(self, name: str, type_name: str, *, built_in: bool, form: str) -> None:
        """`type_name` is the catalog's word for the type behind all domains, `form` is nested, enum or plain."""
        known = type_name if built_in or type_name in _OF_EXTENSIONS else ""
        self._known = "" if form == "nested" else known
        self._fixed = _NESTED if form == "nested" else _FIXED.get(known)
        self._declared = name, type_name, built_in, form
        self._is_binary = known == "bytea"
        self._is_numeric = known == "numeric"
        self.name = name
        if self._fixed is not None:
            self.type = self._fixed.type
        elif self._is_numeric:
            self.type = ColumnType.NUMBER
        else:
            self.type = ColumnType.TEXT if form == "enum" or known in _TEXTS else ColumnType.OTHER

    def __eq__(self, other: object) -> bool:
        """Whether name and type are the same."""
        return isinstance(other, PostgresColumn) and self._declared == other._declared

    def __hash__(self) -> int:
        return hash(self._declared)

    def expressions(self, quoted: str) -> tuple[str, str]:
        """The SQL of a row's value and of its mark; `quoted` is the column's name in SQL."""
        if self._fixed is _NESTED:  # a record of nulls is there, though it "is null"
            return (
                f"CASE WHEN {quoted} IS DISTINCT FROM NULL THEN boolsend(TRUE) END",
                f"boolsend({quoted} IS NOT DISTINCT FROM NULL)",
            )
        if self._fixed is not None:
            return self._fixed.send.format(quoted), f"boolsend({quoted} IS NULL)"
        sized = quoted if self._is_binary else f"{quoted}::text"
        value = sized if self._is_binary else f"textsend({sized})"
        return value, f"int4send(coalesce(octet_length({sized}), -1))"

    @property
    def stands_alone(self) -> bool:
        """Whether what travels of a stored value depends on nothing else that may change, but for the labels of enums.

        The names that a `regclass` has, and what functions of an extension write, may change.
        """
        form = self._declared[3]
        return form in ("nested", "enum") or self._fixed is not None or self._known in _ALONE

    def compared(self, quoted: str, *, texts: bool) -> SqlColumn | None:
        """The column as it can be compared exactly as its cells are; None where it cannot. `texts` are known to be good UTF-8."""
        if self._known in _COMPARED:
            return SqlColumn(quoted, _COMPARED[self._known])
        return SqlColumn(f'{quoted}::text COLLATE "C"', None) if texts and self._known in ("text", "varchar") else None

    def assemble(self, raw_bytes: bytes, raw_marks: bytes, encoding: str | None) -> Any:
        """The column of some rows, from their values and their marks; texts have an encoding, or are known to be good UTF-8."""
        if self._fixed is None:
            raw_lengths = np.frombuffer(raw_marks, dtype=">i4").astype(np.int64)
            if self._is_binary:
                return _strings(raw_bytes, raw_lengths)
            raw_texts = _texts(raw_bytes, raw_lengths, encoding)
            return NumeralColumn(raw_texts, ColumnType.NUMBER) if self._is_numeric else raw_texts
        raw_missing = np.frombuffer(raw_marks, dtype=np.bool_)
        raw_present = np.frombuffer(raw_bytes, dtype=self._fixed.layout)
        raw_values = np.zeros(raw_missing.size, dtype=raw_present.dtype)
        raw_values[~raw_missing] = raw_present
        return self._fixed.build(raw_values, raw_missing)


def _strings(raw_bytes: bytes, raw_lengths: NDArray[np.int64]) -> pyarrow.Array:
    """Strings of bytes that lie one after another; a length of -1 is none."""
    import pyarrow

    raw_ends = np.concatenate([[0], np.cumsum(np.maximum(raw_lengths, 0))])
    raw_presence = np.packbits(raw_lengths >= 0, bitorder="little")
    buffers = [pyarrow.py_buffer(raw_presence), pyarrow.py_buffer(raw_ends), pyarrow.py_buffer(raw_bytes)]
    return pyarrow.Array.from_buffers(pyarrow.large_binary(), raw_lengths.size, buffers)


def _texts(raw_bytes: bytes, raw_lengths: NDArray[np.int64], encoding: str | None) -> pyarrow.Array:
    import pyarrow

    raw_strings = _strings(raw_bytes, raw_lengths)
    if encoding is None:
        return raw_strings.view(pyarrow.large_string())
    raw_coded = raw_strings.dictionary_encode()
    raw_texts = [label.decode(encoding, errors="replace") for label in raw_coded.dictionary.to_pylist()]
    return pyarrow.DictionaryArray.from_arrays(raw_coded.indices, pyarrow.array(raw_texts, pyarrow.string()))
