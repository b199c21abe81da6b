"""What somebody gives an estimator to fit, looked at from outside: its class, type and shape, never its values.

scikit-learn's own checks read values, and an error of theirs tells what a row holds. These raise about public things only.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from dpstats.engines.reading import offered_array
from dpstats.foundations.errors import DataTypeError


class UnsuitableDataError(DataTypeError, ValueError):
    """A `DataTypeError` that is a `ValueError` too, as users of scikit-learn expect it."""


def given_features(data: Any) -> Any:
    """Features as an array or a data frame of two dimensions; a list is one of rows, as scikit-learn reads it."""
    if issparse(data):
        raise UnsuitableDataError("sparse data is not supported: pass X.toarray().")
    raw_table = _with_shape(data, "X")
    dimensions = len(raw_table.shape)
    if dimensions != 2:
        raise UnsuitableDataError(
            f"X must have two dimensions and has {dimensions}. Reshape your data: rows are of one length, one feature alone is "
            "X.reshape(-1, 1)."
        )
    if getattr(getattr(raw_table, "dtype", None), "kind", "") == "c":
        raise UnsuitableDataError("Complex data not supported: pass real numbers, such as X.real.")
    return raw_table


def given_outcome(data: Any) -> Any:
    """An outcome as one column; an array of a single column is taken as that, with a warning."""
    if isinstance(data, (list, tuple)):
        return data
    raw_column = _with_shape(data, "y")
    if len(raw_column.shape) != 2 or raw_column.shape[1] != 1:
        return raw_column
    from sklearn.exceptions import DataConversionWarning

    advice = "A column-vector y was passed when a 1d array was expected: pass y.ravel()."
    warnings.warn(advice, DataConversionWarning, stacklevel=3)
    return (raw_column if isinstance(raw_column, np.ma.MaskedArray) else np.asarray(raw_column))[:, 0]


def _with_shape(data: Any, name: str) -> Any:
    """What has a shape as it is; lists of rows, and what offers itself as an array, as arrays."""
    if hasattr(data, "shape"):
        return data
    try:
        return _of_list(data) if isinstance(data, (list, tuple)) else offered_array(data)
    except Exception:  # a row's own message may carry values
        raise UnsuitableDataError(f"{name} must be an array or a data frame, got {type(data).__name__}.") from None


def _of_list(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """A list of rows as an array, each cell as it is: none is asked what it is, and none decides how another one is read."""
    widths = {len(row) if isinstance(row, (list, tuple)) else None for row in rows}
    width = widths.pop() if len(widths) == 1 else None
    if width is None:
        return np.array(rows, dtype=object)
    raw_table = np.empty((len(rows), width), dtype=object)
    for place, row in enumerate(rows):
        for column, cell in enumerate(row):
            raw_table[place, column] = cell
    return raw_table
