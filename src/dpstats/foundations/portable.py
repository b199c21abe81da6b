"""Float arithmetic whose results are the same on every machine.

numpy and its linear algebra sum in an order that depends on the processor, on the number of threads and on where rows lie in
memory, so the last digits of their results differ from machine to machine. What is released or predicted either is summed here,
in a fixed order, or is rounded here to digits that mean something.
"""

from __future__ import annotations

import functools
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

_PARTS = 256
"""Into how many equal parts, by ratio, each doubling is cut for `exponential`."""
_PARTS_EACH = float.fromhex("0x1.71547652b82fep+8")  # _PARTS / ln 2
_PART_HIGH = float.fromhex("0x1.62e42fef8p-9")  # ln 2 / _PARTS to so few bits that its product with a number of parts is exact
_PART_LOW = float.fromhex("0x1.1cf79abc9e3b4p-44")  # what it lacks
_LEAST_EXPONENT = -745.0  # the exponential of anything lower is 0 or the least float
_MOST_EXPONENT = 709.0
_LEAST_POWER = -1075
_BLOCK = 4096  # numbers whose intermediate results stay in the processor's cache


def inner_product(first: Floats, second: Floats) -> float:
    """The sum of the products, correctly rounded, so that its order does not matter; infinite or NaN as a sum of floats is."""
    with np.errstate(all="ignore"):
        products = np.asarray(first * second)
        try:
            return math.fsum(products.tolist())
        except (OverflowError, ValueError):  # a sum beyond the floats, or of infinities of both signs
            return float(products.sum())


def exponential(exponents: Floats) -> Floats:
    """e to the power of each number, within 1e-15 of its size; at most e**709, 0 below -745, and NaN for NaN.

    Numbers are cut into whole parts of a doubling, which are looked up, and a rest, for which five terms of the series do. Every
    operation is one that all processors round alike.
    """
    flat = np.ravel(exponents)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = _block_exponential(flat[start : start + _BLOCK])
    unknown = np.isnan(flat)
    if unknown.any():
        result[unknown] = math.nan
    return result.reshape(np.shape(exponents))


def _block_exponential(exponents: Floats) -> Floats:
    rest = np.minimum(np.fmax(exponents, _LEAST_EXPONENT), _MOST_EXPONENT)  # fmax: NaN has no place in the tables
    parts = rest * _PARTS_EACH
    np.rint(parts, out=parts)
    rest -= parts * _PART_HIGH
    rest -= parts * _PART_LOW
    whole = parts.astype(np.int64)
    roots, powers = _exponential_tables()
    result = rest * (1 / 24)
    for coefficient in (1 / 6, 1 / 2, 1.0):
        result += coefficient
        result *= rest
    looked_up = roots.take(whole & (_PARTS - 1))
    result *= looked_up
    result += looked_up
    whole >>= _PARTS.bit_length() - 1
    whole -= _LEAST_POWER
    result *= powers.take(whole)
    return np.asarray(result)


@functools.cache
def _exponential_tables() -> tuple[Floats, Floats]:
    """2 to the power of 0, 1/_PARTS, 2/_PARTS ..., each correctly rounded, and the whole powers of 2 from `_LEAST_POWER` on."""
    unit = 1 << 120
    root, roots = 2 * unit, [unit]
    for _ in range(_PARTS.bit_length() - 1):
        root = math.isqrt(root * unit)
        roots = [each for smaller in roots for each in (smaller, smaller * root // unit)]
    return np.array([each / unit for each in roots]), np.ldexp(1.0, np.arange(_LEAST_POWER, 1024))


def rounded(value: float, size: float, digits: int) -> float:
    """`value` to the unit that is the last of `digits` significant digits of `size`: 1234.5678 for 2.5 and 3 is 1234.57.

    Where `size` is 0, infinite or NaN it is the value's own; what is not finite, or would not be, stays as it is.
    """
    if not math.isfinite(value) or not value:
        return value
    size = abs(size) if math.isfinite(size) and size else abs(value)
    try:
        return round(value, digits - 1 - math.floor(math.log10(size))) + 0.0  # 0.0 for -0.0
    except OverflowError:  # one of the largest floats, rounded up
        return value


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
