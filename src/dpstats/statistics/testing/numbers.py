"""Public numbers that a test is given."""

from __future__ import annotations

import sys
from fractions import Fraction

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.rounding import exact_rational

_LARGEST, _SMALLEST = Fraction(sys.float_info.max), Fraction(sys.float_info.min)


def checked_number(value: object, name: str) -> Fraction:
    """A number that a float can hold: what cannot be computed with is refused before anything is spent."""
    number = exact_rational(value, name)
    if abs(number) > _LARGEST:
        raise InvalidParameterError(f"{name} must be a number of ordinary size, at most about 1.8e308.")
    return number


def checked_scale(value: object) -> Fraction:
    """A positive scale that a float can hold."""
    scale = checked_number(value, "scale")
    if scale < _SMALLEST:
        raise InvalidParameterError(f"scale must be a positive number, got {value}.")
    return scale
