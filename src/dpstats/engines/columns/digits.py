"""Digits: the text of a number, as a label shows it and as it tells all numbers apart."""

from __future__ import annotations

from decimal import Decimal

from dpstats.foundations.units import LARGEST_EXACT, float_of_whole

_MOST_DIGITS = 5000  # a decimal with more before or after the point is written with an exponent


def number_text(number: int | float) -> str:
    """A number that is not NaN as labels show it: whole ones as 7, others as the nearest float64 prints.

    Whole numbers beyond 2**53 are shown as the 15-digit float that they are among floats.
    """
    shown = number if isinstance(number, float) else float_of_whole(number)
    return str(int(shown)) if abs(shown) <= LARGEST_EXACT and shown.is_integer() else repr(shown)


def exact_text(number: int | float | Decimal) -> str:
    """A number that is not NaN in full: different numbers have different texts, and equal ones the same, 7.0 and 7 alike."""
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
