"""Digits: the text of a number that tells all numbers apart."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

_MOST_DIGITS = 5000  # a decimal with more before or after the point is written with an exponent


def exact_text(number: int | float | Decimal | Fraction) -> str:
    """A number that is not NaN in full: different numbers of a class have different texts, and 7, 7.0 and 7.00 have the same.

    A float that is not whole is the shortest decimal that no other float is nearer to, a fraction that no float equals is 1/3.
    """
    if isinstance(number, Fraction):
        held = _float_that_equals(number)
        if held is None and number.denominator != 1:
            return f"{exact_text(number.numerator)}/{exact_text(number.denominator)}"
        number = number.numerator if held is None else held
    if isinstance(number, float):
        if not number.is_integer():
            return repr(number)  # among them the infinities
        number = int(number)
    decimal = Decimal(number)
    if not decimal.is_finite():
        return repr(float(decimal))
    if decimal.is_zero():
        return "0"
    sign, digits, exponent = decimal.as_tuple()
    if abs(decimal.adjusted()) > _MOST_DIGITS:
        bare = "".join(map(str, digits))
        kept = bare.rstrip("0")
        return f"{'-' * sign}{kept}E{int(exponent) + len(bare) - len(kept)}"
    text = format(decimal, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _float_that_equals(number: Fraction) -> float | None:
    try:
        nearest = float(number)
    except OverflowError:
        return None
    return nearest if nearest == number else None
