"""Public numbers that a test is given."""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import partial

from dpstats.foundations.accepted import Number
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.json_types import NUMBER
from dpstats.foundations.registry import Parameter
from dpstats.foundations.rounding import exact_rational

_LARGEST, _SMALLEST = Fraction(sys.float_info.max), Fraction(sys.float_info.min)


def checked_number(value: object, name: str) -> Fraction:
    """A number that a float can hold: what cannot be computed with is refused before anything is spent."""
    number = exact_rational(value, name)
    if abs(number) > _LARGEST:
        raise InvalidParameterError(f"{name} must be a number of ordinary size, at most about 1.8e308.")
    return number


def null_parameter(name: str) -> Parameter:
    """The number that a parameter of the law is under the null hypothesis."""
    return Parameter(name, f"the {name} under the null hypothesis", partial(checked_number, name=name), 0, NUMBER, takes=Number)


def checked_scale(value: object) -> Fraction:
    """A positive scale that a float can hold."""
    scale = checked_number(value, "scale")
    if scale < _SMALLEST:
        raise InvalidParameterError(f"scale must be a positive number, got {value}.")
    return scale
