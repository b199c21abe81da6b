"""Arithmetic on whole columns of floats, as IEEE 754 has it: x / 0 is infinite, and what is no number (0 / 0, log(-1)) is NaN.

Numerics   Every function gives for a row what it gives for that row alone: arrays are contiguous, so that numpy takes the same
           way for all of them. Whole numbers come in as the float64 that they are among floats, and -0.0 as 0.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Numbers
from dpstats.engines.exact.wholes import floats_of_wholes

Floats = NDArray[np.float64]
HIGHEST_POWER = 10
MOST_DIGITS = 15
_NO_FRACTION = 2.0**52
"""From here on floats are whole."""


def floats(cells: Numbers) -> Floats:
    """The cells as float64; what stands in missing ones does not matter."""
    raw_values: NDArray[Any] = cells.raw_values
    if raw_values.dtype.kind in "iu":
        return floats_of_wholes(raw_values)
    return np.asarray(raw_values.astype(np.float64, copy=False) + 0.0)


def power(base: Floats, exponent: int) -> Floats:
    """A power by multiplication alone, which gives the same everywhere."""
    result = np.ones_like(base)
    for bit in f"{exponent:b}":
        result = result * result
        if bit == "1":
            result = result * base
    return result


def rounded(values: Floats, digits: int = 0) -> Floats:
    """The nearest number with `digits` decimals, half to even; as it is where it is too large to have finer digits."""
    scale = 10.0 ** abs(digits)
    scaled = values * scale if digits >= 0 else values / scale
    whole = np.rint(scaled)
    nearest = whole / scale if digits >= 0 else whole * scale
    return np.where(np.abs(scaled) < _NO_FRACTION, nearest, values)
