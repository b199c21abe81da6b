"""Points that somebody asks about, as floats, points by columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.statistics.box_tree.halvings import Floats


def checked_points(points: Any, names: tuple[str, ...]) -> tuple[Floats, bool]:
    """The points, and whether there is but one, which is not in a list."""
    columns = len(names)
    named = [points[name] for name in names] if hasattr(points, "columns") and set(names) <= set(points.columns) else None
    try:
        given = np.asarray(points if named is None else np.column_stack(named), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError("points must be numbers.") from error
    is_single = given.ndim == 0 if columns == 1 else given.ndim == 1
    rows = given.reshape(1, -1) if is_single else given.reshape(-1, 1) if given.ndim == 1 else given
    if rows.ndim != 2 or rows.shape[1] != columns:
        wanted = f"{columns} numbers each, one for each of {', '.join(names)}" if columns > 1 else "single numbers"
        raise InvalidParameterError(f"points must be {wanted}; got an array of shape {given.shape}.")
    if np.isnan(rows).any():
        raise InvalidParameterError("points must not be missing.")
    return rows, is_single
