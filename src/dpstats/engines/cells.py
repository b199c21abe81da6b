"""Cells: one column of a batch of rows in canonical form, the same whichever store the rows came from.

Everything after this point (filters, derived columns, bounds on rows per unit, groups, summaries) is computed from cells alone,
so that every store gives the same answers to the last bit. A cell is missing where its row has null, NaN, NaT, or something that
the column's type has no place for; no value can make reading fail.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ColumnType(enum.Enum):
    """The declared, public type of a column."""

    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    TEXT = "text"
    MOMENT = "date"
    """Dates, and dates with a time of day."""
    UNDECLARED = "undeclared"
    """A list, an object column, a CSV column without a declared type: the question decides how it is read."""
    TRUTH = "truth"
    """How a share reads its column: 1 and 0 for true and false, another number or 2 for what is neither. No column is of this
    type; a view says that it is read so."""
    OTHER = "other"
    """Nested and binary columns: only their rows can be counted."""

    @property
    def is_numeric(self) -> bool:
        """Whether cells of this type are `Numbers`."""
        return self in (ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.TRUTH)


@dataclass(frozen=True)
class Numbers:
    """Cells that are numbers: float32, float64 or a whole type of up to 64 bits; booleans are uint8."""

    raw_values: NDArray[Any]
    raw_present: NDArray[np.bool_] | None = None
    """Which cells are not missing; None where none is. A NaN is never present."""

    def __len__(self) -> int:
        return int(self.raw_values.size)


@dataclass(frozen=True)
class Labels:
    """Cells that are texts: places in a list of distinct texts, -1 where missing."""

    raw_codes: NDArray[np.int64]
    raw_labels: list[str]

    def __len__(self) -> int:
        return int(self.raw_codes.size)


@dataclass(frozen=True)
class Moments:
    """Cells that are dates or times, as numpy's datetime64 of some unit; NaT where missing."""

    raw_values: NDArray[np.datetime64]
    zoned: bool = False
    """Whether the times are in UTC, from a column with a time zone."""

    def __len__(self) -> int:
        return int(self.raw_values.size)


@dataclass(frozen=True)
class Opaque:
    """Cells of a type that has no values for us; only which of them are there."""

    raw_present: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.raw_present.size)


Cells = Numbers | Labels | Moments | Opaque


def present_cells(cells: Cells) -> NDArray[np.bool_]:
    """Which cells are not missing."""
    if isinstance(cells, Labels):
        return cells.raw_codes >= 0
    if isinstance(cells, Moments):
        return ~np.isnat(cells.raw_values)
    if cells.raw_present is None:
        return np.ones(len(cells), dtype=np.bool_)
    return cells.raw_present


def both_present(one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
    """The rows that are present on both sides; None stands for all rows."""
    if one is None or other is None:
        return other if one is None else one
    return np.asarray(one & other)


def select_cells(cells: Cells, rows: NDArray[Any] | slice) -> Cells:
    """The cells at some rows: a mask, places in order, or a slice, which copies nothing."""
    if isinstance(cells, Labels):
        return Labels(cells.raw_codes[rows], cells.raw_labels)
    if isinstance(cells, Moments):
        return Moments(cells.raw_values[rows], cells.zoned)
    if isinstance(cells, Opaque):
        return Opaque(cells.raw_present[rows])
    return Numbers(cells.raw_values[rows], None if cells.raw_present is None else cells.raw_present[rows])
