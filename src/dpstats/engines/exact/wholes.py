"""Whole numbers as floats: arrays of whole numbers as the float64 that each of them is among floats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.units import LARGEST_EXACT

_POWERS_OF_TEN = np.array([10**power for power in range(16, 20)], dtype=np.uint64)


def are_exact(rows: NDArray[Any]) -> bool:
    """Whether all whole numbers of an array are small enough to be themselves among floats."""
    if rows.dtype.itemsize < 8 or not rows.size:
        return True
    return int(rows.max()) <= LARGEST_EXACT and int(rows.min()) >= -LARGEST_EXACT


def floats_of_wholes(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Each row as `foundations.units.float_of_whole` has it, in one step; a copy."""
    floats = rows.astype(np.float64)
    if not are_exact(rows):
        beyond = np.flatnonzero((rows > LARGEST_EXACT) | (rows < -LARGEST_EXACT if rows.dtype.kind == "i" else False))
        floats[beyond] = _fifteen_digits(rows[beyond])
    return floats


def _fifteen_digits(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Whole numbers of 16 to 20 digits, rounded to 15, half to even.

    The product at the end is the float nearest to the decimal, because both of its factors are floats.
    """
    negative = rows < 0
    sizes = rows.astype(np.uint64)  # modulo 2**64
    sizes = np.where(negative, ~sizes + np.uint64(1), sizes)
    steps = np.uint64(10) ** (np.searchsorted(_POWERS_OF_TEN, sizes, side="right") + 1).astype(np.uint64)
    digits, rest = np.divmod(sizes, steps)
    half = steps // np.uint64(2)
    digits += (rest > half) | ((rest == half) & (digits % np.uint64(2) == 1))
    floats = digits.astype(np.float64) * steps.astype(np.float64)
    return np.where(negative, -floats, floats)
