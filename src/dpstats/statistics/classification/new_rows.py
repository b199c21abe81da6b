"""New rows for a classifier: columns of whoever asks, as an array, a data frame or a dict. Nothing here is protected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.errors import DataTypeError, UnknownNameError
from dpstats.foundations.text_tables import counted
from dpstats.statistics.classification.features import CodedFeature

RowsOf = Callable[[Any], Mapping[str, Any]]
_HOW = "pass rows by columns, or columns by name"


def codes_of_rows(data: Any, features: Sequence[CodedFeature], rows_of: RowsOf | None) -> NDArray[np.int64]:
    """The codes of new rows, rows by features; `rows_of` makes columns of them, where a formula says how."""
    columns = _columns(data if rows_of is None else rows_of(data), [feature.name for feature in features])
    codes = [feature.codes_of(column) for feature, column in zip(features, columns, strict=True)]
    if len({len(each) for each in codes}) > 1:
        raise DataTypeError("the columns differ in their number of rows.")
    return np.column_stack(codes)


def _columns(data: Any, names: Sequence[str]) -> list[Any]:
    """The columns that a classifier was fitted on: by name where the data has names, else by place."""
    known = list(data) if isinstance(data, Mapping) else getattr(data, "column_names", getattr(data, "columns", None))
    if known is not None and not isinstance(data, np.ndarray):
        known = list(known)
        missing = [name for name in names if name not in known]
        if missing:
            raise UnknownNameError(
                f"the classifier needs a column {missing[0]!r}; it was fitted on {', '.join(map(repr, names))}."
            )
        return [data[name] for name in names]
    rows = data if isinstance(data, np.ndarray) else np.array(data, dtype=object)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise DataTypeError(f"the classifier has {counted(len(names), 'feature')}: {_HOW}, such as [[...], [...]].")
    return [rows[:, place] for place in range(len(names))]
