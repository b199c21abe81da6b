"""Columns in numpy arrays."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Moments, Numbers, present_cells
from dpstats.engines.columns.distinct import moment_labels, number_labels, tick_labels
from dpstats.engines.columns.elements import ElementColumn
from dpstats.engines.columns.instants import have_seconds
from dpstats.engines.columns.native import NativeColumn, no_labels, no_moments, no_numbers, numbers_of, times_where
from dpstats.engines.columns.texts import parsed_labels
from dpstats.engines.kinds import Kind, kind_of_array
from dpstats.engines.moments import moment_texts

_TYPES = {
    "b": ColumnType.BOOLEAN,
    **dict.fromkeys("iu", ColumnType.INTEGER),
    "f": ColumnType.NUMBER,
    **dict.fromkeys("USTm", ColumnType.TEXT),
    "M": ColumnType.MOMENT,
}


def array_column(array: NDArray[Any], zoned: bool = False) -> NativeColumn:
    """A numpy array as a column; `zoned` says that its times are in UTC, from a column with a time zone."""
    raw_missing: NDArray[np.bool_] | None = None
    if "numpy.ma" in sys.modules and isinstance(array, np.ma.MaskedArray):  # to load it takes longer than to read a column
        raw_missing = np.ma.getmaskarray(array) if np.ma.is_masked(array) else None
        array = array.data
    if array.ndim != 1 or array.dtype.kind not in "OUST":
        return NumpyColumn(array, raw_missing, zoned)
    rows = array.tolist()
    if raw_missing is not None:
        rows = [None if missing else row for row, missing in zip(rows, raw_missing.tolist(), strict=True)]
    return ElementColumn(rows, ColumnType.UNDECLARED if array.dtype.kind == "O" else ColumnType.TEXT)


class NumpyColumn(NativeColumn):
    """A numpy array whose type says what it holds, and which of its rows are missing."""

    def __init__(self, array: NDArray[Any], raw_missing: NDArray[np.bool_] | None = None, zoned: bool = False) -> None:
        self._raw_array = array
        self._raw_missing = raw_missing
        self._zoned = zoned
        dated_by = np.datetime_data(array.dtype)[0] if array.dtype.kind in "mM" else ""
        has_type = array.ndim == 1 and dated_by != "generic"
        self.is_exact = array.dtype.kind != "f" or array.dtype.itemsize <= 8
        self.type = _TYPES.get(array.dtype.kind, ColumnType.OTHER) if has_type else ColumnType.OTHER

    def __len__(self) -> int:
        return len(self._raw_array)

    @property
    def holds(self) -> Kind:
        """What the array's type says that it holds."""
        return kind_of_array(self._raw_array.dtype)

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not missing."""
        raw_present = np.ones(len(self), dtype=np.bool_)
        if self._raw_array.ndim == 1:
            if self._raw_missing is not None:
                raw_present &= ~self._raw_missing
            if self._raw_array.dtype.kind in "fcmM":
                raw_present &= self._raw_array == self._raw_array
        return raw_present

    def numbers(self) -> Numbers:
        """The rows in their own number type."""
        return numbers_of(self._raw_array, None if self._raw_missing is None else ~self._raw_missing)

    def moments(self) -> Moments:
        """The dates and times."""
        return Moments(self._ticks(), self._zoned)

    def labels(self, exact: bool = False) -> Labels:
        """The rows by their text."""
        if self.type.is_numeric:
            return number_labels(self._unrounded_numbers() if exact else self.numbers(), exact)
        if self.type is ColumnType.MOMENT:
            raw_ticks = self._ticks()
            return moment_labels(Moments(_within_seconds(raw_ticks) if exact else raw_ticks, self._zoned))
        return tick_labels(self._ticks(), moment_texts) if self.type is ColumnType.TEXT else no_labels(len(self))

    def parsed(self, whole: bool) -> Numbers:
        """Durations as numbers: there are none."""
        return parsed_labels(self.labels(), whole) if self.type is ColumnType.TEXT else no_numbers(len(self), np.float64)

    def _unrounded_numbers(self) -> Numbers:
        """The rows that their cells equal; those of a longer type than float64 may have been rounded."""
        cells = self.numbers()
        if self.is_exact:
            return cells
        with np.errstate(all="ignore"):
            return numbers_of(cells.raw_values, present_cells(cells) & (cells.raw_values == self._raw_array))

    def _ticks(self) -> NDArray[Any]:
        """Dates, times or durations in native byte order and a unit of one, NaT where missing or beyond that unit."""
        declared = self._raw_array.dtype
        if declared.kind not in "mM":
            return no_moments(len(self)).raw_values
        unit, step = np.datetime_data(declared)
        raw_ticks = np.ascontiguousarray(self._raw_array.astype(declared.newbyteorder("="), copy=False))
        if step > 1:
            raw_ticks = _within_seconds(raw_ticks).astype(f"{declared.kind}8[{unit}]")
        return raw_ticks if self._raw_missing is None else times_where(~self._raw_missing, raw_ticks)


def _within_seconds(raw_ticks: NDArray[Any]) -> NDArray[Any]:
    """The same dates, NaT where numpy would wrap around when it converts them."""
    raw_near = have_seconds(raw_ticks)
    return raw_ticks if raw_near.all() else times_where(raw_near, raw_ticks)
