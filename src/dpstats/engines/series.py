"""Series rows: the columns of pandas, polars, pyarrow and whatever else narwhals knows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.blocks import present_rows
from dpstats.engines.kinds import kind_of_type, not_numbers
from dpstats.engines.typed import number_array
from dpstats.engines.untyped import nearest_floats

_WIDE_WHOLES = ("Int128", "UInt128")
_NULL_TYPES = ("Null", "null", "null[pyarrow]")


class SeriesRows:
    """A narwhals series as the rows of a column; nulls are dropped before anything becomes a numpy array."""

    def __init__(self, series: Any) -> None:
        self._series = series
        self._type = type(series.dtype).__name__
        self._declared = _declared_type(series)
        self._is_wide = self._type in _WIDE_WHOLES or self._declared.lower().startswith("decimal")
        self._is_number = self._is_wide or series.dtype.is_numeric() or self._type == "Boolean"

    def numbers(self) -> list[NDArray[Any]]:
        """The rows that are not null, as chunks of one number type; without a copy where none is null."""
        if self._declared in _NULL_TYPES:
            return [np.empty(0)]
        if not self._is_number:
            raise not_numbers(kind_of_type(self._type))
        present = self._series.drop_nulls() if self._series.null_count() else self._series
        if self._is_wide:
            return [nearest_floats(present.to_list())]
        return [number_array(piece) for piece in _pieces(present)]

    def present(self) -> int:
        """Rows that are neither null nor NaN."""
        if self._is_number and not self._is_wide:
            return present_rows(self.numbers())
        return int(len(self._series) - self._series.null_count())


def _declared_type(series: Any) -> str:
    """The library's own name for the type, for the types that narwhals has no word for."""
    native = series.to_native()
    return str(native.type if series.implementation.is_pyarrow() else native.dtype)


def _pieces(series: Any) -> list[NDArray[Any]]:
    """The numpy arrays behind a series without nulls, one for each of its chunks where it has chunks."""
    native = series.to_native()
    pieces = []
    if series.implementation.is_polars():
        pieces = [chunk.to_numpy() for chunk in native.get_chunks()]
    elif series.implementation.is_pyarrow():
        pieces = [chunk.to_numpy(zero_copy_only=False) for chunk in native.iterchunks()]
    return pieces or [series.to_numpy()]
