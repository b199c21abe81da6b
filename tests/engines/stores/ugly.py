"""Ugly columns for every store: what goes in, and the cells that must come out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Labels, Moments, Numbers
from dpstats.engines.stores.store import Batch
from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE

INF, NAN = float("inf"), float("nan")
NUMBER, INTEGER, BOOLEAN = ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN
TEXT, MOMENT, OTHER = ColumnType.TEXT, ColumnType.MOMENT, ColumnType.OTHER
ROWS = 41
ROW = "row"
"""A column that tells the rows apart, for stores that hand them out in any order."""


@dataclass(frozen=True)
class Ugly:
    """A column: its type, some rows, and what they are when they are read as this or that."""

    dtype: Any
    type: ColumnType
    rows: Sequence[Any]
    readings: Mapping[ColumnType, Sequence[Any]]


def moment(day: date, *, zoned: bool = False) -> tuple[int, bool]:
    """A date or time as the suite compares them: microseconds since 1970, and whether they are in UTC."""
    whole = day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)
    return (whole.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), zoned


def _plain(dtype: Any, kind: ColumnType, rows: Sequence[Any]) -> Ugly:
    """A column whose cells are its rows."""
    return Ugly(dtype, kind, rows, {kind: rows})


_FLOATS = [1.5, None, NAN, INF, -INF, -0.0, 0.0, 5e-324, -1.7976931348623157e308, 0.1, 0.1, 1e16, 123456789.125]
_DECIMALS = [Decimal("0.1"), None, Decimal("-0.3000"), Decimal("12345678901234.5"), Decimal("0.0000"), Decimal("7")]
_DAYS = [date(2024, 2, 29), None, date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31), date(1969, 12, 31)]
_TIMES = [
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    None,
    datetime(1970, 1, 1),
    datetime(1900, 1, 1, 0, 0, 1),
    datetime(2262, 5, 1),
]
_WORDS = ["north", None, "é", "e\u0301", "🙂", 'say "no"', "x, y", "; 'quoted'", "north", "İstanbul", "null", "NaN", "-"]
_WRITTEN = [
    "1.5",
    "x",
    None,
    "-7",
    "1e3",
    "1e400",
    "-inf",
    "nan",
    "0x10",
    "1_000",
    "+.5",
    "9007199254740993",
    "1.",
    "true",
    "2024-02-29",
]
_AS_NUMBERS = [1.5, None, None, -7, 1000, INF, -INF, None, None, None, 0.5, 9007199254740992.0, 1, None, None]
_AS_INTEGERS = [None, None, None, -7, 1000, None, None, None, None, None, None, 9007199254740993, 1, None, None]
_AS_BOOLEANS = [None] * 12 + [1, 1, None]
_AS_MOMENTS = [None] * 14 + [moment(date(2024, 2, 29))]

UGLY: dict[str, Ugly] = {
    "floats": Ugly(pl.Float64, NUMBER, _FLOATS, {NUMBER: [None if row != row else row for row in _FLOATS]}),
    "short floats": _plain(pl.Float32, NUMBER, [0.5, None, -INF, float(np.float32(0.1)), 3.0]),
    "constant": _plain(pl.Float64, NUMBER, [7.25]),
    "no floats": _plain(pl.Float64, NUMBER, [None]),
    "ties": _plain(pl.Float64, NUMBER, [1.0, 2.0, 2.0, 2.0, 3.0]),
    "wholes": _plain(pl.Int64, INTEGER, [2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 0, None, 7, 7]),
    "short wholes": _plain(pl.Int32, INTEGER, [2**31 - 1, -(2**31), None, 0, 1]),
    "unsigned": _plain(pl.UInt64, INTEGER, [2**64 - 1, 2**63, None, 0]),
    "flags": Ugly(pl.Boolean, BOOLEAN, [True, None, False], {BOOLEAN: [1, None, 0]}),
    "decimals": Ugly(pl.Decimal(20, 4), NUMBER, _DECIMALS, {NUMBER: [None if row is None else float(row) for row in _DECIMALS]}),
    "days": Ugly(pl.Date, MOMENT, _DAYS, {MOMENT: [row and moment(row) for row in _DAYS]}),
    "times": Ugly(pl.Datetime("us"), MOMENT, _TIMES, {MOMENT: [row and moment(row) for row in _TIMES]}),
    "zoned times": Ugly(
        pl.Datetime("us", "UTC"),
        MOMENT,
        [row and row.replace(tzinfo=UTC) for row in _TIMES],
        {MOMENT: [row and moment(row, zoned=True) for row in _TIMES]},
    ),
    "words": _plain(pl.String, TEXT, _WORDS),
    "blanks": _plain(pl.String, TEXT, ["", " ", None, " padded ", "x "]),
    "controls": _plain(pl.String, TEXT, ["\n", "a\r\nb", "\t", "\x1b[31m", "\x7f", None, "\u2028"]),
    "zero bytes": _plain(pl.String, TEXT, ["a\x00b", "a", "\x00", None]),
    "no words": _plain(pl.String, TEXT, [None]),
    "written": Ugly(
        pl.String,
        TEXT,
        _WRITTEN,
        {TEXT: _WRITTEN, NUMBER: _AS_NUMBERS, INTEGER: _AS_INTEGERS, BOOLEAN: _AS_BOOLEANS, MOMENT: _AS_MOMENTS},
    ),
    "sizes": _plain(pl.Enum(["small", "large"]), TEXT, ["large", None, "small", "large"]),
    "clocks": Ugly(pl.Time, TEXT, [time(23, 59, 59, 500000), None, time(0)], {TEXT: ["23:59:59.5", None, "00:00:00"]}),
    "nothing": _plain(pl.Null, NUMBER, [None]),
    "lists": Ugly(pl.List(pl.Int64), OTHER, [[1, 2], None, []], {OTHER: [True, False, True]}),
    "bytes": Ugly(pl.Binary, OTHER, [b"\xff\x00", None, b""], {OTHER: [True, False, True]}),
}


def ugly_frame(rows: int = ROWS) -> pl.DataFrame:
    """All ugly columns in one table, their rows repeated until it is full, after a column that numbers the rows."""
    series = [pl.Series(name, _repeated(ugly.rows, rows), dtype=ugly.dtype) for name, ugly in UGLY.items()]
    return pl.DataFrame([pl.Series(ROW, range(rows), dtype=pl.Int64), *series])


def expected_cells(name: str, kind: ColumnType, rows: int = ROWS) -> dict[int, Any]:
    """By row, what a column must be when it is read as that type."""
    return dict(enumerate(_repeated(UGLY[name].readings[kind], rows)))


def plain_cells(cells: Cells) -> list[Any]:
    """Cells as plain values that can be compared exactly: None where missing, and zero without a sign."""
    if isinstance(cells, Numbers):
        present = [True] * len(cells) if cells.raw_present is None else cells.raw_present.tolist()
        return [value + 0 if there else None for value, there in zip(cells.raw_values.tolist(), present, strict=True)]
    if isinstance(cells, Labels):
        return [None if code < 0 else cells.raw_labels[code] for code in cells.raw_codes.tolist()]
    if isinstance(cells, Moments):
        micros = cells.raw_values.astype("M8[us]").view(np.int64).tolist()
        return [None if np.isnat(raw) else (micro, cells.zoned) for raw, micro in zip(cells.raw_values, micros, strict=True)]
    return cells.raw_present.tolist()


@dataclass(frozen=True)
class Gather:
    """A job that brings a column back, by row."""

    name: str
    kind: ColumnType

    def scan(self, batches: Iterable[Batch]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        for batch in batches:
            numbers, values = plain_cells(batch.cells(ROW, INTEGER)), plain_cells(batch.cells(self.name, self.kind))
            assert len(numbers) == len(values) == batch.rows
            assert found.keys().isdisjoint(numbers)
            found |= dict(zip(numbers, values, strict=True))
        return found

    def merge(self, parts: Sequence[dict[int, Any]]) -> dict[int, Any]:
        assert sum(map(len, parts)) == len(set().union(*parts))
        return {row: value for part in parts for row, value in part.items()}


@dataclass(frozen=True)
class CountRows:
    """A job that counts rows and batches without any column."""

    def scan(self, batches: Iterable[Batch]) -> tuple[int, int]:
        lengths = [batch.rows for batch in batches]
        return sum(lengths), len(lengths)

    def merge(self, parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
        return sum(rows for rows, _ in parts), sum(batches for _, batches in parts)


@dataclass(frozen=True)
class CountBatches:
    """A job that counts the batches of a column that have rows."""

    def scan(self, batches: Iterable[Batch]) -> int:
        return sum(batch.rows > 0 for batch in batches)

    def merge(self, parts: Sequence[int]) -> int:
        return sum(parts)


@dataclass(frozen=True)
class Products:
    """Sums over rows, as some methods ask for them: the rows, and the products of two columns in so many parts, cut off."""

    parts: int
    reach: int

    def __call__(self, raw_rows: NDArray[np.float64]) -> NDArray[np.int64]:
        assert raw_rows.dtype == np.float64
        assert not raw_rows.flags.writeable
        assert len(raw_rows) <= MOST_ROWS_AT_ONCE
        assert not np.signbit(raw_rows[raw_rows == 0]).any()
        places = np.rint(np.clip(raw_rows, -self.reach, self.reach) * self.parts).astype(np.int64)
        return np.array([len(places), *(places.T @ places).ravel()], dtype=np.int64)

    def by_hand(self, rows: Sequence[Sequence[float]]) -> tuple[int, ...]:
        """The same by a loop over rows, in Python's numbers."""
        places = [[round(min(max(cell, -self.reach), self.reach) * self.parts) for cell in row] for row in rows]
        width = range(len(rows[0]) if rows else 0)
        return len(rows), *(sum(row[first] * row[second] for row in places) for first in width for second in width)


def _repeated(values: Sequence[Any], rows: int) -> list[Any]:
    return [values[row % len(values)] for row in range(rows)]


def rows_of(table: Any) -> list[tuple[Any, ...]]:
    """All rows of a table, cell by cell, in the order of their texts."""
    from dpstats.engines.stores.opening import open_store

    store = open_store(table)[0]
    found: list[tuple[Any, ...]] = []
    for batch in store.batches(list(store.columns)):
        found += zip(*(plain_cells(batch.cells(name, kind)) for name, kind in store.columns.items()), strict=True)
    return sorted(found, key=str)


@dataclass(frozen=True)
class CodeProducts:
    """Sums over rows of codes: the rows, and all products of two codes, times a power of two."""

    power: int

    def __call__(self, raw_codes: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        assert raw_codes.dtype.kind == "i"
        assert len(raw_codes) <= MOST_ROWS_AT_ONCE
        places = raw_codes.astype(np.int64)
        return np.array([len(places), *((places.T @ places) << self.power).ravel()], dtype=np.int64)
