"""Units: the row map that takes a number to a whole multiple of a public power of two, so that sums are exact integers.

The map looks at one number and at nothing else, and the type that happens to hold the number makes no difference: a whole
number beyond 2**53 is first rounded to 15 digits, to the very float64 that it becomes among floats. The map is monotone, so
that rows which are in order are so in units too.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError

LARGEST_EXACT = 9_007_199_254_740_990
"""The largest decimal of 15 digits up to 2**53. Whole numbers up to here are themselves among floats, larger ones are rounded
to 15 digits; to begin right at 2**53 would take 2**53 + 1 below 2**53."""

_FIFTEEN_DIGITS = Context(prec=15, rounding=ROUND_HALF_EVEN, traps=[])
_MOST_BITS = 1100  # whole numbers of more bits lie beyond the largest float


def in_units(value: int | float | np.number[Any], unit: Fraction) -> int:
    """A finite number, rounded to the nearest multiple of `unit` (half to even), counted in units."""
    exponent_of(unit)
    number = float_of_whole(int(value)) if isinstance(value, (int, np.integer)) else float(value)
    top, bottom = number.as_integer_ratio()
    divisor = bottom * unit.numerator
    units, rest = divmod(top * unit.denominator, divisor)
    return units + (2 * rest > divisor or (2 * rest == divisor and units % 2 == 1))


def exponent_of(unit: Fraction) -> int:
    """The e of a unit 2**e."""
    if unit.numerator.bit_count() != 1 or unit.denominator.bit_count() != 1 or unit < 0:
        raise InvalidParameterError(f"unit must be a positive power of two, got {unit}.")
    return unit.numerator.bit_length() - unit.denominator.bit_length()


def float_of_whole(number: int) -> float:
    """A whole number as a float64: itself up to about 2**53, then rounded to 15 digits; beyond the largest float infinite."""
    if abs(number) <= LARGEST_EXACT:
        return float(number)
    if number.bit_length() > _MOST_BITS:
        return math.inf if number > 0 else -math.inf
    return float(_FIFTEEN_DIGITS.create_decimal(number))
