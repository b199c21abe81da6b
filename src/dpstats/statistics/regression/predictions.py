"""Predictions: what a released regression says of new rows, the same on every machine and in every layout of the rows.

New rows are an array, a data frame or a dict of columns. They are rows of whoever asks; nothing here is protected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpstats.foundations.errors import DataTypeError, UnknownNameError
from dpstats.foundations.text_tables import counted
from dpstats.statistics.regression.families import Floats, exp_of

_HOW = "pass rows by columns of numbers, or columns by name"
_STEEPEST = 800.0  # beyond it the exponential function is 0 or infinite


def linear_predictors(rows: Floats, intercept: float, coefficients: Sequence[float] | Floats) -> Floats:
    """The intercept plus each feature times its coefficient, added feature by feature: BLAS would choose an order by itself."""
    predictors = np.full(len(rows), intercept, dtype=np.float64)
    with np.errstate(all="ignore"):
        for place, coefficient in enumerate(coefficients):
            predictors += rows[:, place] * float(coefficient)
    return predictors


def exponentials(predictors: Floats) -> Floats:
    """The exponential function of each predictor: infinite where it is too large for a float, NaN of NaN."""
    with np.errstate(all="ignore"):
        return exp_of(predictors, _STEEPEST)


def probabilities(predictors: Floats) -> Floats:
    """The inverse of the logit, for each predictor."""
    small = exponentials(-np.abs(predictors))
    with np.errstate(all="ignore"):
        return np.asarray(np.where(predictors >= 0, 1.0, small) / (1.0 + small))


def rows_by_name(data: Any, names: Sequence[str], *, are_places: bool = False) -> Floats:
    """An array of rows by features: by name where the data has names, else by place.

    `are_places` says that the names only number the features: then a frame of as many columns is taken by place.
    """
    known = _names_in(data)
    if known is None:
        return _rows_by_place(data, len(names))
    missing = [name for name in names if name not in known]
    if missing and not (are_places and len(known) == len(names)):
        raise UnknownNameError(f"the fit needs a column {missing[0]!r}; it was fitted on {', '.join(map(repr, names))}.")
    columns = [_column(data, name) for name in (known if missing else names)]
    if len({len(column) for column in columns}) > 1:
        raise DataTypeError("the columns differ in their number of rows.")
    return np.column_stack(columns)


def _names_in(data: Any) -> list[Any] | None:
    """The names of the columns of a frame or a dict; None for anything else."""
    if isinstance(data, Mapping):
        return list(data)
    known = getattr(data, "column_names", getattr(data, "columns", None))  # arrow calls them so, frames like this
    return None if known is None or isinstance(data, np.ndarray) else list(known)


def _rows_by_place(data: Any, features: int) -> Floats:
    rows = _floats(data)
    if rows.ndim == 1 and features == 1:
        rows = rows[:, np.newaxis]
    if rows.ndim != 2 or rows.shape[1] != features:
        raise DataTypeError(f"the fit has {counted(features, 'feature')}: {_HOW}, such as [[...], [...]].")
    return rows


def _column(data: Any, name: Any) -> Floats:
    column = np.atleast_1d(_floats(data[name]))
    if column.ndim != 1:
        raise DataTypeError(f"a column must have one dimension: {_HOW}.")
    return column


def _floats(values: Any) -> Floats:
    """Numbers as floats, None as NaN."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    try:
        return np.asarray(np.asarray(values, dtype=object), dtype=np.float64)
    except (TypeError, ValueError):
        raise DataTypeError(f"predictions need numbers: {_HOW}.") from None
