"""Intervals: the months, days and microseconds that databases count separately, as one ISO 8601 text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.moments import duration_text

if TYPE_CHECKING:
    import pyarrow

_DAY = 86_400_000_000


def interval_text(months: int, days: int, microseconds: int) -> str:
    """An interval as text. Without months it is the duration that it is elsewhere, with days of 24 hours."""
    rest = days * _DAY + microseconds
    if not months:
        return duration_text(rest, "us")
    clock = duration_text(abs(rest), "us").removeprefix("P") if rest else ""
    return f"P{months}M{'-' * (rest < 0)}{clock}"


def interval_column(
    months: NDArray[Any], days: NDArray[Any], microseconds: NDArray[Any], raw_missing: NDArray[np.bool_]
) -> pyarrow.DictionaryArray:
    """Intervals as a column of texts, each distinct one written once."""
    import pyarrow

    parts = np.empty(len(months), dtype=[("months", np.int64), ("days", np.int64), ("microseconds", np.int64)])
    parts["months"], parts["days"], parts["microseconds"] = months, days, microseconds
    distinct, raw_codes = np.unique(parts, return_inverse=True)
    texts = [interval_text(*part) for part in distinct.tolist()]
    codes = pyarrow.array(raw_codes.astype(np.int32), mask=raw_missing)
    return pyarrow.DictionaryArray.from_arrays(codes, pyarrow.array(texts, pyarrow.string()))
