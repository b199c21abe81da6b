"""A cut: a number of any size or precision, as the edge that separates the same rows in a column's own number type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def edge_at(cut: float | int, dtype: np.dtype[Any]) -> Any:
    """The smallest value of the type that is at least `cut`: the same rows lie strictly below it as below `cut`.

    None when the type has no such value, that is, when every row lies below the cut. Nothing lies below NaN.
    """
    if cut != cut:
        cut = -math.inf
    return _whole_edge(cut, dtype) if dtype.kind in "iu" else _float_edge(cut, dtype)


def _whole_edge(cut: float | int, dtype: np.dtype[Any]) -> Any:
    limits = np.iinfo(dtype)
    if cut > int(limits.max):
        return None
    return dtype.type(math.ceil(cut)) if cut > int(limits.min) else dtype.type(limits.min)


def _float_edge(cut: float | int, dtype: np.dtype[Any]) -> Any:
    with np.errstate(all="ignore"):
        try:
            edge = dtype.type(float(cut))
        except OverflowError:  # an int beyond all finite floats
            edge = dtype.type(math.inf if cut > 0 else -math.inf)
        return edge if float(edge) >= cut else np.nextafter(edge, dtype.type(math.inf))
