"""Columns in polars Series."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Moments, Numbers
from dpstats.engines.columns.distinct import labels_of, moment_labels, number_labels, tick_labels
from dpstats.engines.columns.elements import ElementColumn, nearest_float
from dpstats.engines.columns.native import NOT_A_TIME, NativeColumn, no_labels, no_numbers, numbers_of
from dpstats.engines.columns.texts import PLAIN_NUMBER, PLAIN_WHOLE, completed, exact_label, identity_of_text, parsed_labels
from dpstats.engines.exact.tallies import label_text
from dpstats.engines.exact.wholes import floats_of_wholes
from dpstats.engines.kinds import Kind, kind_of_type
from dpstats.engines.moments import clock_texts, moment_texts

_WIDE = ("Int128", "UInt128")
_TYPES = {
    **dict.fromkeys(("Float16", "Float32", "Float64", "Decimal", "Null"), ColumnType.NUMBER),
    **dict.fromkeys([f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)], ColumnType.INTEGER),
    "Boolean": ColumnType.BOOLEAN,
    **dict.fromkeys(("String", "Categorical", "Enum", "Time", "Duration"), ColumnType.TEXT),
    **dict.fromkeys(("Date", "Datetime"), ColumnType.MOMENT),
}


def polars_column(series: pl.Series) -> NativeColumn:
    """A polars Series as a column; one of Python objects as those objects."""
    return ElementColumn(series.to_list()) if _name_of(series) == "Object" else PolarsColumn(series)


class PolarsColumn(NativeColumn):
    """A polars Series of a declared type."""

    def __init__(self, series: pl.Series) -> None:
        self._raw_series = series
        self._name = _name_of(series)
        self.type = _TYPES.get(self._name, ColumnType.OTHER)
        self.is_exact = self._name not in ("Decimal", *_WIDE)

    def __len__(self) -> int:
        return len(self._raw_series)

    @property
    def holds(self) -> Kind:
        """What the series' type says that it holds."""
        return Kind.NUMBER if self.type.is_numeric else kind_of_type(self._name)

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not missing."""
        return super().present() if self.type.is_numeric else self._raw_series.is_not_null().to_numpy()

    def numbers(self) -> Numbers:
        """The rows in their own number type."""
        if self._name == "Null":
            return no_numbers(len(self), np.float64)
        if self._name == "Decimal":
            return _parsed_texts(self._raw_series.cast(pl.String), whole=False)
        if self._name in _WIDE:
            return self._wide_numbers()
        narrow = {"Boolean": pl.UInt8, "Float16": pl.Float32}.get(self._name)
        raw_series = self._raw_series if narrow is None else self._raw_series.cast(narrow)
        if not raw_series.null_count():
            return numbers_of(raw_series.to_numpy())
        return numbers_of(raw_series.fill_null(0).to_numpy(), raw_series.is_not_null().to_numpy())

    def moments(self) -> Moments:
        """The dates and times."""
        unit = "D" if self._name == "Date" else self._raw_series.dtype.time_unit  # type: ignore[attr-defined]
        return Moments(self._ticks(f"M8[{unit}]"), getattr(self._raw_series.dtype, "time_zone", None) is not None)

    def labels(self, exact: bool = False) -> Labels:
        """The rows by their text."""
        if self.type.is_numeric:
            return self._exact_labels() if exact and not self.is_exact else number_labels(self.numbers(), exact)
        if self.type is ColumnType.MOMENT:
            return moment_labels(self.moments())
        if self._name == "Time":
            return tick_labels(self._ticks("M8[ns]"), clock_texts)
        if self._name == "Duration":
            return tick_labels(self._ticks(f"m8[{self._raw_series.dtype.time_unit}]"), moment_texts)  # type: ignore[attr-defined]
        if self.type is ColumnType.TEXT:
            return _labels(self._raw_series, pl.String, exact)
        return _labels(self._raw_series, pl.Binary, exact) if self._name == "Binary" else no_labels(len(self))

    def parsed(self, whole: bool) -> Numbers:
        """The texts as numbers."""
        return _parsed_texts(self._raw_series, whole) if self._name == "String" else parsed_labels(self.labels(), whole)

    def _ticks(self, dtype: str) -> NDArray[Any]:
        """The whole numbers behind dates, times or durations, as numpy's."""
        return self._raw_series.to_physical().cast(pl.Int64).fill_null(NOT_A_TIME).to_numpy().view(dtype)

    def _wide_numbers(self) -> Numbers:
        """Whole numbers of 128 bits as floats."""
        raw_narrow = self._raw_series.cast(pl.Int64, strict=False)
        raw_values = floats_of_wholes(raw_narrow.fill_null(0).to_numpy())
        raw_present = self._raw_series.is_not_null()
        raw_beyond = (raw_narrow.is_null() & raw_present).to_numpy()
        if raw_beyond.any():
            raw_values[raw_beyond] = [nearest_float(whole) for whole in self._raw_series.filter(pl.Series(raw_beyond))]
        return numbers_of(raw_values, raw_present.to_numpy())

    def _exact_labels(self) -> Labels:
        cells = _labels(self._raw_series.cast(pl.String), pl.String)
        return labels_of(cells.raw_codes, [identity_of_text(text) for text in cells.raw_labels])


def _name_of(series: pl.Series) -> str:
    return series.dtype.base_type().__name__


def _labels(series: pl.Series, written: Any, exact: bool = False) -> Labels:
    """Texts, bytes or categories by the first row that holds each of them.

    They come as bytes, because polars panics, and prints that it does, where a text from elsewhere is no good UTF-8.
    """
    first = pl.col("row").min().over("cell")
    raw_first = pl.DataFrame({"cell": series}).with_row_index("row").select(first).to_series().to_numpy()
    raw_is_first = raw_first == np.arange(raw_first.size)
    raw_codes = (np.cumsum(raw_is_first) - 1)[raw_first]
    raw_distinct = series.filter(pl.Series(raw_is_first)).cast(written).cast(pl.Binary)
    read = exact_label if exact else label_text
    return labels_of(raw_codes, [read(cell) for cell in raw_distinct.to_list()])


def _parsed_texts(series: pl.Series, whole: bool) -> Numbers:
    """Texts as numbers: plain ones by polars, all at once, and the others one by one."""
    raw_is_plain = series.str.contains(PLAIN_WHOLE if whole else PLAIN_NUMBER).fill_null(False)
    raw_plain = series.set(~raw_is_plain, None).cast(pl.Int64 if whole else pl.Float64, strict=False)
    raw_read = raw_plain.is_not_null()
    raw_rest = series.is_not_null() & ~raw_read
    rest = _labels(series.filter(raw_rest), pl.String)
    return completed(raw_plain.fill_null(0).to_numpy(), raw_read.to_numpy(), rest, raw_rest.to_numpy())
