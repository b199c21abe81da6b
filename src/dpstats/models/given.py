"""What somebody gives an estimator to fit, looked at from outside: its class, type and shape, never its values.

scikit-learn's own checks read values, and an error of theirs tells what a row holds. These raise about public things only. Rows
go on to the one reader as they are (engines/reading.py): no array is made of them, because all rows would decide its type.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse

from dpstats.engines.reading import held_column, offered_array
from dpstats.engines.tables.features import features_of, row_length
from dpstats.foundations.errors import DataTypeError


class UnsuitableDataError(DataTypeError, ValueError):
    """A `DataTypeError` that is a `ValueError` too, as users of scikit-learn expect it."""


def given_features(data: Any) -> Any:
    """Features as an array or a data frame of two dimensions, or a list of rows, as scikit-learn reads one.

    The first row of a list says how many features there are. Rows of another length are missing.
    """
    if issparse(data):
        raise UnsuitableDataError("sparse data is not supported: pass X.toarray().")
    if isinstance(data, (list, tuple)):
        return _given_rows(data)
    raw_table = data if hasattr(data, "shape") else _offered(data)
    _check_dimensions(len(raw_table.shape))
    if getattr(getattr(raw_table, "dtype", None), "kind", "") == "c":
        raise UnsuitableDataError("Complex data not supported: pass real numbers, such as X.real.")
    return raw_table


def shown_shape(raw_features: Any) -> Any:
    """What scikit-learn may look at: features that have a shape and names, or a stand-in without rows for a list of rows."""
    return np.empty((0, row_length(raw_features[0]))) if isinstance(raw_features, (list, tuple)) else raw_features


def given_outcome(data: Any) -> Any:
    """An outcome as one column; an array or a frame of a single column is taken as that, with a warning."""
    try:
        if isinstance(data, (list, tuple)) or tuple(getattr(data, "shape", ()))[1:] != (1,):
            return held_column(data)
        (feature,) = features_of(data)
        raw_column = held_column(feature.raw_values)
    except DataTypeError as complaint:
        raise UnsuitableDataError(str(complaint).replace("data must", "y must", 1)) from None
    from sklearn.exceptions import DataConversionWarning

    advice = "A column-vector y was passed when a 1d array was expected: pass y.ravel(), or one column of a frame."
    warnings.warn(advice, DataConversionWarning, stacklevel=3)
    return raw_column


def _given_rows(rows: Sequence[Any]) -> Sequence[Any]:
    """A list whose rows are lists or tuples, or were arrays of one dimension."""
    first = rows[0] if rows else None
    if _is_array_row(first):
        return [list(row) if _is_array_row(row) else row for row in rows]
    _check_dimensions(2 if isinstance(first, (list, tuple)) else 1)
    return rows


def _is_array_row(row: Any) -> bool:
    return type(row) in (np.ndarray, np.ma.MaskedArray) and row.ndim == 1


def _check_dimensions(dimensions: int) -> None:
    if dimensions != 2:
        raise UnsuitableDataError(
            f"X must have two dimensions and has {dimensions}. Reshape your data: one feature alone is X.reshape(-1, 1), and a "
            "list holds rows that are lists, tuples or arrays."
        )


def _offered(data: Any) -> Any:
    try:
        return offered_array(data)
    except DataTypeError:
        raise UnsuitableDataError(f"X must be an array or a data frame, got {type(data).__name__}.") from None
