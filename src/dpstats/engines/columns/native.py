"""The native column: what every container of a column offers to whoever reads it as cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Moments, Numbers, present_cells
from dpstats.engines.kinds import Kind

NOT_A_TIME = np.iinfo(np.int64).min
"""What numpy's NaT is among whole numbers."""


class NativeColumn:
    """A column as some library holds it. Every answer is aligned with its rows, and no value makes one raise."""

    type: ColumnType
    """The declared type, from the container alone and never from its values."""
    is_exact: bool
    """Whether `numbers` tells all different numbers of this type apart; decimals and 128-bit whole numbers it rounds."""

    @property
    def holds(self) -> Kind:
        """What the declared type says that it holds, in words for complaints."""
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not missing, whatever they hold."""
        return present_cells(self.numbers())

    def numbers(self) -> Numbers:
        """The rows of a number type, in that type; missing where the column has another type."""
        return no_numbers(len(self), np.float64)

    def moments(self) -> Moments:
        """The rows of a column of dates; missing where the column has another type."""
        return no_moments(len(self))

    def labels(self, exact: bool = False) -> Labels:
        """The rows by their text; with `exact` different numbers have different texts."""
        raise NotImplementedError

    def parsed(self, whole: bool) -> Numbers:
        """The rows of a column of texts, or of no type, as numbers: int64 if `whole`, else float64, whatever they hold."""
        raise NotImplementedError


def number_array(array: NDArray[Any]) -> NDArray[Any]:
    """An array of numbers in a type that columns have: native byte order, float32, float64 or whole; bool is uint8.

    float16 widens to float32 and longdouble is rounded to float64, row by row.
    """
    if array.dtype.kind == "b":
        return array.view(np.uint8)
    if array.dtype.kind in "iu":
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    with np.errstate(all="ignore"):
        return array.astype(np.float32 if array.dtype.itemsize <= 4 else np.float64, copy=False)


def numbers_of(raw_array: NDArray[Any], raw_present: NDArray[np.bool_] | None = None) -> Numbers:
    """An array of numbers as cells, without a copy where its type allows; NaN is missing."""
    raw_values = number_array(raw_array)
    with np.errstate(all="ignore"):
        has_nan = raw_values.dtype.kind == "f" and raw_values.size > 0 and bool(np.isnan(raw_values.min()))
    if has_nan:  # only then a mask is made: it takes an eighth of the memory of the numbers
        raw_real = raw_values == raw_values
        raw_present = raw_real if raw_present is None else raw_present & raw_real
    return Numbers(raw_values, None if raw_present is None or raw_present.all() else raw_present)


def no_numbers(rows: int, dtype: type[np.generic]) -> Numbers:
    """Missing numbers."""
    return Numbers(np.zeros(rows, dtype=dtype), np.zeros(rows, dtype=np.bool_) if rows else None)


def no_labels(rows: int) -> Labels:
    """Missing texts."""
    return Labels(np.full(rows, -1, dtype=np.int64), [])


def no_moments(rows: int) -> Moments:
    """Missing dates."""
    return Moments(np.full(rows, "NaT", dtype="M8[us]"))


def times_where(raw_kept: NDArray[np.bool_], raw_ticks: NDArray[Any]) -> NDArray[Any]:
    """Dates, times or durations where they are kept, NaT elsewhere."""
    return np.where(raw_kept, raw_ticks.view(np.int64), NOT_A_TIME).view(raw_ticks.dtype)
