"""Series rows: the columns of pandas, polars, pyarrow and whatever else narwhals knows."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import narwhals
import numpy as np
from numpy.typing import NDArray

from dpstats.engines.exact.blocks import present_rows, sort_present
from dpstats.engines.exact.tallies import common_numbers, common_texts, tally_texts
from dpstats.engines.kinds import Kind, kind_of_type, not_labels, not_numbers
from dpstats.engines.moments import clock_texts, moment_texts, zoned_texts
from dpstats.engines.typed import common_moments, number_array
from dpstats.engines.untyped import nearest_floats
from dpstats.foundations.summaries import LabelCounts

_WIDE_WHOLES = ("Int128", "UInt128")
_TIME_UNIT = re.compile(r"time\d\d\[(\w+)\]")
_NULL_TYPES = ("Null", "null", "null[pyarrow]")


class SeriesRows:
    """A narwhals series as the rows of a column; nulls are dropped before anything becomes a numpy array."""

    def __init__(self, series: Any) -> None:
        self._series = series
        self._type = type(series.dtype).__name__
        self._declared = _declared_type(series)
        self._is_wide = self._type in _WIDE_WHOLES or self._declared.lower().startswith("decimal")
        self._is_number = self._is_wide or series.dtype.is_numeric() or self._type == "Boolean"

    def kind(self) -> Kind:
        """What the type says that the series holds; one of nulls is a column of numbers without any."""
        return Kind.NUMBER if self._is_number or self._declared in _NULL_TYPES else kind_of_type(self._type)

    def numbers(self) -> list[NDArray[Any]]:
        """The rows that are not null, as chunks of one number type; without a copy where none is null."""
        if self._declared in _NULL_TYPES:
            return [np.empty(0)]
        if not self._is_number:
            raise not_numbers(self.kind())
        present = self._series.drop_nulls() if self._series.null_count() else self._series
        if self._is_wide:
            return [nearest_floats(present.to_list())]
        return [number_array(piece) for piece in _pieces(present)]

    def present(self) -> int:
        """Rows that are neither null nor NaN."""
        if self._is_number and not self._is_wide:
            return present_rows(self.numbers())
        return int(len(self._series) - self._series.null_count())

    def stored(self) -> int:
        """Rows, missing or not."""
        return len(self._series)

    def most_common(self, how_many: int) -> LabelCounts:
        """The most common labels; an error when the declared type has none in order."""
        if self._is_number or self._declared in _NULL_TYPES:
            return common_numbers(sort_present(self.numbers()), how_many)
        kind = self.kind()
        if kind is Kind.DATE:
            return self._common_moments(how_many)
        if kind not in (Kind.TEXT, Kind.CATEGORY):
            raise not_labels(kind)
        return common_texts(tally_texts(_counted(self._series, self._declared)), how_many)

    def _common_moments(self, how_many: int) -> LabelCounts:
        present = self._series.drop_nulls() if self._series.null_count() else self._series
        if self._type == "Time":
            unit = _TIME_UNIT.search(self._declared)
            return common_moments([_counted_in(unit[1] if unit else "ns", present, self._declared)], how_many, clock_texts)
        if self._type == "Date" and present.implementation.is_pandas_like():
            return common_moments([_counted_in("D", present, self._declared)], how_many)
        zoned = getattr(present.dtype, "time_zone", None) is not None
        return common_moments(_pieces(present), how_many, zoned_texts if zoned else moment_texts)


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


def _counted_in(unit: str, series: Any, declared: str) -> NDArray[Any]:
    """Days, or times of day since midnight, as the whole numbers behind them; arrow's 32-bit types turn into 32 bits only."""
    wholes = series.cast(narwhals.Int32 if "32" in declared else narwhals.Int64).to_numpy()
    return np.asarray(wholes, dtype=np.int64).view(f"M8[{unit}]")


def _counted(series: Any, declared: str) -> list[tuple[Any, int]]:
    """Every distinct row with its count; rows that are null may be among them."""
    if "view" in declared:  # arrow does not tell a null from an empty one there
        return list(Counter(series.to_list()).items())
    counted = series.value_counts(name="rows")
    return list(zip(counted[:, 0].to_list(), counted["rows"].to_list(), strict=True))
