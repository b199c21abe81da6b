"""Instants: which of numpy's dates, times and durations lie within the seconds that 64 bits can count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MOST_SECONDS = {"Y": 31_622_400, "M": 2_678_400, "W": 604_800, "D": 86_400, "h": 3_600, "m": 60}
"""The seconds of each unit, at the most; finer units are no longer than a second."""
_LARGEST = int(np.iinfo(np.int64).max)


def have_seconds(raw_ticks: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows of a datetime64 or timedelta64 array in native byte order do; none that is NaT.

    Beyond, numpy's own conversions wrap around, so that different dates become the same.
    """
    unit, step = np.datetime_data(raw_ticks.dtype)
    limit = _LARGEST // (_MOST_SECONDS.get(unit, 1) * step)
    raw_wholes = raw_ticks.view(np.int64)
    return (raw_wholes <= limit) & (raw_wholes >= -limit)
