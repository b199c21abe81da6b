"""Columns in pandas Series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType, Labels, Numbers
from dpstats.engines.columns.arrays import NumpyColumn, array_column
from dpstats.engines.columns.distinct import labels_of, texts_at
from dpstats.engines.columns.elements import ElementColumn
from dpstats.engines.columns.native import NativeColumn
from dpstats.engines.columns.texts import parsed_labels
from dpstats.engines.kinds import Kind


def pandas_column(series: Any) -> NativeColumn:
    """A pandas Series as a column: numpy's, arrow's, or pandas' own types. The index is ignored."""
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype):
        return array_column(series.to_numpy())
    if isinstance(dtype, pd.ArrowDtype) or (isinstance(dtype, pd.StringDtype) and dtype.storage != "python"):
        from dpstats.engines.columns.arrow import ArrowColumn  # which loads pyarrow

        return ArrowColumn(series.array.__arrow_array__())
    if isinstance(dtype, pd.StringDtype):
        return ElementColumn(series.tolist(), ColumnType.TEXT)
    if isinstance(dtype, pd.CategoricalDtype):
        categories = pandas_column(pd.Series(dtype.categories))
        codes = series.cat.codes.to_numpy()
        raw_present = np.append(categories.present(), False)[codes]  # the code of missing rows is -1
        exact = labels_of(codes, texts_at(categories.labels(exact=True)))
        return LabelledColumn(labels_of(codes, texts_at(categories.labels())), exact, raw_present)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return array_column(series.dt.tz_convert(None).to_numpy(), zoned=True)
    if isinstance(dtype, pd.SparseDtype):
        return array_column(np.asarray(series.array))
    if isinstance(getattr(dtype, "numpy_dtype", None), np.dtype):  # pandas' own types with missing rows: Int64, boolean ...
        return NumpyColumn(series.to_numpy(dtype=dtype.numpy_dtype, na_value=0), series.isna().to_numpy())
    return NumpyColumn(np.zeros(len(series), dtype="V1"), series.isna().to_numpy())  # intervals, periods: no values for us


class LabelledColumn(NativeColumn):
    """A column of categories."""

    type = ColumnType.TEXT
    holds = Kind.CATEGORY
    is_exact = False

    def __init__(self, labels: Labels, exact: Labels, raw_present: NDArray[np.bool_]) -> None:
        """`raw_present` says which rows have a category, be it one without a text."""
        self._labels = labels
        self._exact = exact
        self._raw_present = raw_present

    def __len__(self) -> int:
        return len(self._labels)

    def present(self) -> NDArray[np.bool_]:
        """Which rows have a category."""
        return self._raw_present

    def labels(self, exact: bool = False) -> Labels:
        """The categories by their text."""
        return self._exact if exact else self._labels

    def parsed(self, whole: bool) -> Numbers:
        """The categories whose texts are numbers."""
        return parsed_labels(self.labels(exact=whole), whole)
