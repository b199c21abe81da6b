"""Float arithmetic whose results are the same on every machine.

numpy and its linear algebra sum in an order that depends on the processor, on the number of threads and on where rows lie in
memory, so the last digits of their results differ from machine to machine. What is released or predicted either is summed here,
in a fixed order, or is rounded here to digits that mean something.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

ERROR_DIGITS = 7
"""Significant digits of standard errors that are released. An estimate is released to the same unit as its standard error:
rounding adds less than 1e-6 of that error."""
OWN_DIGITS = 10
"""Significant digits of numbers whose error is not known."""


def inner_product(first: Floats, second: Floats) -> float:
    """The sum of the products, correctly rounded, so that its order does not matter; infinite or NaN as a sum of floats is."""
    with np.errstate(all="ignore"):
        products = np.asarray(first * second)
        try:
            return math.fsum(products.tolist())
        except (OverflowError, ValueError):  # a sum beyond the floats, or of infinities of both signs
            return float(products.sum())


def rounded(value: float, size: float, digits: int) -> float:
    """`value` to the unit that is the last of `digits` significant digits of `size`: 1234.5678 for 2.5 and 3 is 1234.57.

    Where `size` is 0, infinite or NaN it is the value's own; what is not finite stays as it is.
    """
    if not math.isfinite(value) or not value:
        return value
    size = abs(size) if math.isfinite(size) and size else abs(value)
    return round(value, digits - 1 - math.floor(math.log10(size))) + 0.0  # 0.0 for -0.0


def rounded_values(values: ArrayLike, errors: ArrayLike | None) -> tuple[float, ...]:
    """Estimates to `ERROR_DIGITS` digits of their standard errors, or to `OWN_DIGITS` of their own where errors are unknown."""
    numbers = _listed(values)
    sizes = [math.nan] * len(numbers) if errors is None else _listed(errors)
    pairs = zip(numbers, sizes, strict=True)
    return tuple(rounded(value, error, ERROR_DIGITS if 0 < error < math.inf else OWN_DIGITS) for value, error in pairs)


def rounded_ends(low: float, high: float) -> tuple[float, float]:
    """The ends of an interval to `ERROR_DIGITS` digits of its width."""
    low, high = rounded_values([low, high], [high - low] * 2)
    return low, high


def rounded_errors(errors: ArrayLike) -> tuple[float, ...]:
    """Standard errors to `ERROR_DIGITS` digits."""
    return tuple(rounded(error, error, ERROR_DIGITS) for error in _listed(errors))


def rounded_covariance(covariance: ArrayLike) -> tuple[tuple[float, ...], ...]:
    """A covariance, each number to `ERROR_DIGITS` digits of the product of its two standard errors."""
    matrix = np.array(covariance, dtype=np.float64)
    errors = [math.sqrt(max(0.0, variance)) for variance in np.diag(matrix).tolist()]
    return tuple(
        tuple(rounded(number, one * other, ERROR_DIGITS) for number, other in zip(row, errors, strict=True))
        for row, one in zip(matrix.tolist(), errors, strict=True)
    )


def _listed(values: ArrayLike) -> list[Any]:
    return list(np.array(values, dtype=np.float64).tolist())
