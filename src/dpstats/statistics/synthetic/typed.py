"""The types of synthetic columns, by what may be drawn in them, so that every block of rows has the same.

Whole numbers and truth values are such where no cell can be missing; in arrow tables, which have missing cells of every type, in
any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.decoding import OTHER

_LARGEST_WHOLE = 2.0**63 - 1024


def typed_values(column: MeasuredColumn, values: NDArray[Any]) -> NDArray[Any]:
    """Drawn values in numpy's type that suits the column."""
    may_miss = bool(column.drawable[-1])
    if not column.fine.is_labels:
        return _wholes(values) if column.fine.whole and not may_miss else values
    kinds = _label_kinds(column)
    if may_miss or len(kinds) != 1 or not kinds <= {bool, int}:
        return values
    return values.astype(np.bool_ if kinds == {bool} else np.int64)


def without_gaps(column: MeasuredColumn, values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Typed values; whole numbers that may be missing as whole numbers, with a mark of those that are."""
    if column.fine.is_labels or not column.fine.whole or values.dtype.kind == "i":
        return values, None
    missing = np.isnan(values)
    return _wholes(np.where(missing, 0.0, values)), missing


def arrow_table(columns: Sequence[MeasuredColumn], rows: Mapping[str, NDArray[Any]]) -> Any:
    """Typed values as an arrow table."""
    import pyarrow

    return pyarrow.table({column.fine.name: _arrow_array(column, rows[column.fine.name]) for column in columns})


def _arrow_array(column: MeasuredColumn, values: NDArray[Any]) -> Any:
    import pyarrow

    if not column.fine.is_labels:
        held, missing = without_gaps(column, values)
        return pyarrow.array(held, from_pandas=True) if missing is None else pyarrow.array(held, mask=missing)
    kinds = _label_kinds(column)
    if kinds <= {bool, int, float} and (bool not in kinds or len(kinds) == 1):
        numbers = pyarrow.float64() if float in kinds else pyarrow.int64()
        return pyarrow.array(values, pyarrow.bool_() if bool in kinds else numbers)
    codes = {value: place for place, value in enumerate([*column.fine.labels, OTHER])}
    places = np.fromiter((codes.get(value, -1) for value in values.tolist()), dtype=np.int32, count=values.size)
    texts = pyarrow.array([str(label) for label in codes], pyarrow.string())
    return texts.take(pyarrow.array(places, mask=places < 0))


def _label_kinds(column: MeasuredColumn) -> set[type]:
    """The types of labels that may be drawn."""
    others = {str} if column.drawable[-2] else set()
    return {type(label) for label in column.fine.labels} | others


def _wholes(values: NDArray[Any]) -> NDArray[np.int64]:
    return np.asarray(np.clip(values, -(2.0**63), _LARGEST_WHOLE)).astype(np.int64)
