"""The lattice of 15-digit decimals, and the row map that takes every number to it.

A lattice point is written as one integer, its *ordinal*: 0 for zero, +-(1 + decade_index * 9e14 + mantissa - 1e14) for
+-mantissa * 10**(decade - 14) with a 15-digit mantissa. Ordinals sort as the numbers do. The map is monotone, depends on
one row alone, and is exact for decimals of up to 15 digits, so that 12.99 stays 12.99.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import OrderWindow

DIGITS = 15
LOWEST_DECADE, HIGHEST_DECADE = -307, 307
_FIRST_MANTISSA: int = 10 ** (DIGITS - 1)
DECADE_POINTS = 9 * _FIRST_MANTISSA
HIGHEST_ORDINAL = (HIGHEST_DECADE - LOWEST_DECADE + 1) * DECADE_POINTS

Number = int | float | np.integer[Any] | np.floating[Any]


def ordinal_of(value: Number) -> int:
    """The lattice point nearest to `value` (half to even); beyond the last decade the outermost one, below the first 0."""
    if isinstance(value, (int, np.integer)):
        return _ordinal_of_integer(int(value))
    if not math.isfinite(value):
        return HIGHEST_ORDINAL if value > 0 else -HIGHEST_ORDINAL
    if isinstance(value, np.float32):  # a 32-bit 12.99 means 12.99 and not the double nearest to its binary value
        value = float(str(value))
    text = f"{abs(value):.14e}"  # such as 1.29900000000000e+01
    magnitude = _magnitude(int(text[17:]), int(text[0] + text[2:16]))
    return magnitude if value > 0 else -magnitude


def _ordinal_of_integer(value: int) -> int:
    size = abs(value)
    decade = len(str(size)) - 1
    if decade < DIGITS:
        return (1 if value > 0 else -1) * _magnitude(decade, size * 10 ** (DIGITS - 1 - decade))
    mantissa = round(Fraction(size, 10 ** (decade - DIGITS + 1)))  # round() on a Fraction is half to even
    if mantissa == 10**DIGITS:
        decade, mantissa = decade + 1, _FIRST_MANTISSA
    return (1 if value > 0 else -1) * _magnitude(decade, mantissa)


def _magnitude(decade: int, mantissa: int) -> int:
    if mantissa == 0 or decade < LOWEST_DECADE:
        return 0
    if decade > HIGHEST_DECADE:
        return HIGHEST_ORDINAL
    return 1 + (decade - LOWEST_DECADE) * DECADE_POINTS + mantissa - _FIRST_MANTISSA


def ordinals_of(values: NDArray[Any]) -> NDArray[np.int64]:
    """`ordinal_of` for many numbers at once: in double-doubles where those settle it beyond doubt, one by one elsewhere."""
    if len(values) > _BLOCK:
        return np.concatenate([ordinals_of(values[begin : begin + _BLOCK]) for begin in range(0, len(values), _BLOCK)])
    if values.dtype == np.float64:
        sizes = np.abs(values)
        settled = (sizes > _SMALLEST_QUICK) & (sizes < _LARGEST_QUICK)
        sizes = np.where(settled, sizes, 1.5)
        decades = np.floor(np.log10(sizes)).astype(np.int64)
        mantissas, sure = _quick_mantissas(sizes, decades)
        settled &= sure
    elif values.dtype.kind in "iu":
        settled = (values < 10**DIGITS) & (values > -(10**DIGITS))
        whole = np.abs(np.where(settled, values, 0).astype(np.int64))
        decades = np.searchsorted(_INTEGER_POWERS, whole, side="right") - 1
        mantissas = np.where(whole, whole * _INTEGER_POWERS[DIGITS - 1 - np.maximum(decades, 0)], 0)
    else:
        return np.array([ordinal_of(value) for value in values], dtype=np.int64)
    ordinals = _signed_ordinals(values < 0, decades, mantissas)
    if not settled.all():
        for place in np.flatnonzero(~settled).tolist():
            ordinals[place] = ordinal_of(values[place])
    return ordinals


_BLOCK = 4096
"""Numbers that are mapped together, so that they stay in the processor's cache."""
_INTEGER_POWERS = 10 ** np.arange(DIGITS, dtype=np.int64)
_SMALLEST_QUICK, _LARGEST_QUICK = 1e-250, 1e250
_POWERS = [Fraction(10) ** (DIGITS - 1 - decade) for decade in range(-251, 252)]
_HIGH_PARTS = np.array([float(power) for power in _POWERS])
_LOW_PARTS = np.array([float(power - Fraction(float(power))) for power in _POWERS])
_SPLITTER = 2.0**27 + 1
_DOUBT = 2.0**-20


def _quick_mantissas(sizes: NDArray[np.float64], decades: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The mantissas of positive numbers with these decades, and which of them are sure.

    A size times a power of ten as an exact product of two doubles (Dekker 1971) and a small rest; it errs by less than 2**-40,
    so that only what lies close to a half, or outside of 15 digits, is in doubt.
    """
    power, rest = _HIGH_PARTS[decades + 251], _LOW_PARTS[decades + 251]
    product = sizes * power
    size_high, power_high = sizes * _SPLITTER, power * _SPLITTER
    size_high, power_high = size_high - (size_high - sizes), power_high - (power_high - power)
    size_low, power_low = sizes - size_high, power - power_high
    error = ((size_high * power_high - product) + size_high * power_low + size_low * power_high) + size_low * power_low
    nearest = np.rint(product)
    fraction = (product - nearest) + (error + sizes * rest)
    mantissas = nearest + (fraction > 0.5) - (fraction < -0.5)
    sure = np.abs(np.abs(fraction) - 0.5) > _DOUBT
    sure &= (product > _FIRST_MANTISSA) & (mantissas > _FIRST_MANTISSA) & (mantissas < 10 * _FIRST_MANTISSA)
    return mantissas.astype(np.int64), sure


def _signed_ordinals(negative: NDArray[np.bool_], decades: NDArray[np.int64], mantissas: NDArray[np.int64]) -> NDArray[np.int64]:
    magnitudes = 1 + (decades - LOWEST_DECADE) * DECADE_POINTS + mantissas - _FIRST_MANTISSA
    return np.where(mantissas == 0, 0, np.where(negative, -magnitudes, magnitudes))


class LatticeGroups(NamedTuple):
    """Rows of a window by the lattice point that the row map takes them to, ascending."""

    ordinals: NDArray[np.int64]
    raw_counts: NDArray[np.int64]


def lattice_groups(windows: Sequence[OrderWindow]) -> list[LatticeGroups]:
    """The rows of each window by lattice point. Only the outermost groups of one can have further rows outside the window."""
    ordinals = ordinals_of(np.concatenate([window.raw_values for window in windows]))
    ends = np.cumsum([len(window.raw_values) for window in windows])
    return [grouped(each, window.raw_counts) for each, window in zip(np.split(ordinals, ends[:-1]), windows, strict=True)]


def grouped(ordinals: NDArray[np.int64], raw_counts: NDArray[np.int64]) -> LatticeGroups:
    """Ascending ordinals, each of them once."""
    differs = ordinals[1:] != ordinals[:-1]
    if differs.all():
        return LatticeGroups(ordinals, raw_counts)
    firsts = np.append(0, 1 + np.flatnonzero(differs))
    return LatticeGroups(ordinals[firsts], np.add.reduceat(raw_counts, firsts))


def decade_and_mantissa(magnitude: int) -> tuple[int, int]:
    """Decade and 15-digit mantissa of the positive ordinal `magnitude`."""
    index, offset = divmod(magnitude - 1, DECADE_POINTS)
    return index + LOWEST_DECADE, offset + _FIRST_MANTISSA


def float_of(ordinal: int) -> float:
    """The double nearest to a lattice point; `ordinal_of` takes it back."""
    if ordinal == 0:
        return 0.0
    decade, mantissa = decade_and_mantissa(abs(ordinal))
    return math.copysign(float(f"{mantissa}e{decade - DIGITS + 1}"), ordinal)


def fraction_of(ordinal: int) -> Fraction:
    """The exact value of a lattice point."""
    if ordinal == 0:
        return Fraction(0)
    decade, mantissa = decade_and_mantissa(abs(ordinal))
    size = mantissa * Fraction(10) ** (decade - DIGITS + 1)
    return size if ordinal > 0 else -size


def last_digit(ordinal: int) -> Fraction:
    """The power of ten of the last digit of a lattice point that is not 0; 0 for zero."""
    if ordinal == 0:
        return Fraction(0)
    decade, mantissa = decade_and_mantissa(abs(ordinal))
    zeros = next(digits for digits in range(DIGITS) if mantissa % 10 ** (digits + 1))
    return Fraction(10) ** (decade - DIGITS + 1 + zeros)


def lowest_value_at(ordinal: int, dtype: np.dtype[Any]) -> int | float:
    """The smallest number of type `dtype` whose lattice point is `ordinal` or higher: a cut for exact counting.

    Rows are at or above the lattice point exactly when they are not below this cut.
    """
    if ordinal <= -HIGHEST_ORDINAL:
        return -math.inf
    if ordinal > HIGHEST_ORDINAL:
        return math.inf
    if dtype.kind in "iu":
        low = math.floor(fraction_of(max(ordinal - 1, -HIGHEST_ORDINAL)))
        return _first_at_least(ordinal, low, math.ceil(fraction_of(ordinal)), lambda place: place)
    if dtype == np.float32:
        with np.errstate(over="ignore", under="ignore"):
            near = np.float32(float_of(ordinal))
        centre = _float32_place(float(near))
        return float(_value_of_float32(_first_at_least(ordinal, centre - 3, centre + 3, _value_of_float32)))
    low = _float64_place(float_of(max(ordinal - 1, -HIGHEST_ORDINAL)))
    return _value_of_float64(_first_at_least(ordinal, low, _float64_place(float_of(ordinal)), _value_of_float64))


def _first_at_least(ordinal: int, low: int, high: int, value_of: Callable[[int], Number]) -> int:
    """The first place in (low, high] whose value is at `ordinal` or above; `high` is, by choice of the caller.

    It is near the middle as a rule: from there the steps grow until it is passed.
    """

    def reached(place: int) -> bool:
        return ordinal_of(value_of(place)) >= ordinal

    step, place = 1, (low + high) // 2
    if reached(place):
        high = place
        while high - step > low and reached(high - step):
            high, step = high - step, 2 * step
        low = max(low, high - step)
    else:
        low = place
        while low + step < high and not reached(low + step):
            low, step = low + step, 2 * step
        high = min(high, low + step)
    while high - low > 1:
        place = (low + high) // 2
        low, high = (low, place) if reached(place) else (place, high)
    return low if reached(low) else high


def _float64_place(value: float) -> int:
    """The position of a double in their order, 0.0 at 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _value_of_float64(place: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<q", abs(place)))
    return math.copysign(value, place) if place else 0.0


_LAST_FLOAT32_PLACE = 0x7F80_0000  # +inf


def _float32_place(value: float) -> int:
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF)


def _value_of_float32(place: int) -> np.float32:
    size = min(abs(place), _LAST_FLOAT32_PLACE)
    (value,) = struct.unpack("<f", struct.pack("<i", size))
    return np.float32(math.copysign(value, place) if place else 0.0)
