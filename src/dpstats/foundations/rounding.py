"""Rounding against ourselves: the one place where a real number becomes one that a claim can rest on.

Noise is rounded up, distances down, costs up. Parameters become exact rationals; the exponential is bracketed between two
integers, never approximated in floating point.

Numerics   `decimal` rounds `exp` and `ln` correctly (half even), so the true value lies strictly within one unit in the
           last place of what it returns; every bound here is that result moved one unit outward.
"""

from __future__ import annotations

import decimal
import math
import re
import sys
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpstats.foundations.errors import InvalidParameterError

_EXTREME_EXPONENT = 999_999_999_999
_LONGEST_NUMBER = 400
_MOST_BITS = 4000
_SMALL = 1000
_LARGEST_FLOAT = Fraction(sys.float_info.max)
_HUGE_POWER = re.compile(r"[eE][+-]?0*[^\D0]\d{3}")


def exact_rational(value: object, name: str) -> Fraction:
    """`value` as the rational that its owner wrote: 0.1 means one tenth, not the nearest binary fraction.

    Takes integers, floats, `Fraction`, `Decimal`, numpy scalars and text such as "0.1" or "1/3".
    """
    if type(value) is not Fraction:
        value = _plain(_without_numpy(value))
    if isinstance(value, bool):
        raise InvalidParameterError(f"{name} must be a number, got {value}.")
    if isinstance(value, (int, Fraction)):
        if max(abs(value.numerator), value.denominator).bit_length() > _MOST_BITS:
            raise InvalidParameterError(f"{name} must be a number of ordinary size such as {_example(name)}.")
        return Fraction(value)
    if isinstance(value, (float, Decimal)):
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise InvalidParameterError(f"{name} must be a finite number such as {_example(name)}, got {value}.")
        value = str(value)
    if isinstance(value, str):
        if len(value) > _LONGEST_NUMBER or _HUGE_POWER.search(value.replace("_", "")):
            raise InvalidParameterError(f"{name} must be a number of ordinary size such as {_example(name)}, got {value[:20]!r}.")
        try:
            return Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise InvalidParameterError(f"{name} must be a number such as {_example(name)}, got {value!r}.") from None
    raise InvalidParameterError(f"{name} must be a number, got {type(value).__name__}.")


def _example(name: str) -> str:
    """A number to show to somebody who got the parameter `name` wrong."""
    return "1e-6" if name == "delta" else "0.5 or '1/3'"


def decimal_text(value: Fraction, digits: int = 6) -> str:
    """`value` in decimals for people: exact when it is short or a ratio of small numbers, otherwise rounded *up* in the
    last digit and marked by '~'.
    """
    context = _context(digits + 10, decimal.ROUND_CEILING)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    short = _context(digits, decimal.ROUND_CEILING).normalize(quotient)
    text = f"{short:f}" if -7 < short.adjusted() < 16 or not short else f"{short:e}"
    if Fraction(short) == value:
        return text
    return str(value) if max(abs(value.numerator), value.denominator) <= _SMALL else f"~{text}"


def round_up(value: float, digits: int = 2) -> float:
    """A positive number for people, rounded up to `digits` digits."""
    if not (math.isfinite(value) and value > 0):
        return value
    text = _context(digits, decimal.ROUND_CEILING).create_decimal(repr(value))
    return float(text)


def exp_bounds(exponent: Fraction, bits: int) -> tuple[int, int]:
    """Integers (low, high) with low <= 2**bits * exp(-exponent) <= high and high - low small, for exponent >= 0."""
    if exponent == 0:
        return 1 << bits, 1 << bits
    if exponent > bits + 2:  # exp(-x) < 2**-x for x > 0: already below one unit
        return 0, 1
    context = _context(int(bits * 0.30103) + 12, decimal.ROUND_HALF_EVEN)
    below = _context(context.prec, decimal.ROUND_FLOOR)
    above = _context(context.prec, decimal.ROUND_CEILING)
    numerator, denominator = Decimal(-exponent.numerator), Decimal(exponent.denominator)
    low = context.next_minus(context.exp(below.divide(numerator, denominator)))
    high = context.next_plus(context.exp(above.divide(numerator, denominator)))
    return math.floor(Fraction(low) * (1 << bits)), math.ceil(Fraction(high) * (1 << bits))


def exp_float(exponent: Fraction) -> float:
    """exp(-exponent) for 0 <= exponent <= 700, within 1 + 2**-30 unit roundoffs."""
    context = _context(30, decimal.ROUND_HALF_EVEN)
    return float(context.exp(context.divide(Decimal(-exponent.numerator), Decimal(exponent.denominator))))


def exp_sequence_bounds(first: Fraction, step: Fraction, count: int, bits: int) -> tuple[list[int], list[int]]:
    """Bounds as in `exp_bounds` for the exponents first, first + step, ..., `count` of them, by repeated multiplication."""
    guard = bits + count.bit_length() + 8
    low, high = exp_bounds(first, guard)
    ratio_low, ratio_high = exp_bounds(step, guard)
    shift = guard - bits
    lows, highs = [], []
    for _ in range(count):
        lows.append(low >> shift)
        highs.append(-(-high >> shift))
        low = (low * ratio_low) >> guard
        high = -((-high * ratio_high) >> guard)
    return lows, highs


def log_bounds(value: Fraction, digits: int = 40) -> tuple[Fraction, Fraction]:
    """Rationals (low, high) around ln(value), value > 0, that agree to about `digits` digits."""
    if value == 1:
        return Fraction(0), Fraction(0)
    context = _context(digits, decimal.ROUND_HALF_EVEN)
    below = _context(digits, decimal.ROUND_FLOOR)
    above = _context(digits, decimal.ROUND_CEILING)
    numerator, denominator = Decimal(value.numerator), Decimal(value.denominator)
    low = context.ln(below.divide(numerator, denominator))
    high = context.ln(above.divide(numerator, denominator))
    # ln(1) is exactly 0 and needs no step; one from 0 would be too small to be written out as a fraction.
    return Fraction(context.next_minus(low) if low else 0), Fraction(context.next_plus(high) if high else 0)


def sqrt_bounds(value: Fraction, bits: int = 128) -> tuple[Fraction, Fraction]:
    """Rationals (low, high) around the square root of value >= 0, 2**-bits apart at most."""
    scaled = (value.numerator << (2 * bits)) // value.denominator
    root = math.isqrt(scaled)
    exact = root * root * value.denominator == value.numerator << (2 * bits)
    return Fraction(root, 1 << bits), Fraction(root if exact else root + 1, 1 << bits)


def power_of_two_at_most(value: Fraction) -> Fraction:
    """The largest integer power of two that is <= value > 0."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    candidate = Fraction(2) ** exponent
    return candidate if candidate <= value else candidate / 2


def nearest_float(value: Fraction | float) -> float:
    """The float nearest to a number; beyond the largest float that one, never an error."""
    return float(max(-_LARGEST_FLOAT, min(value, _LARGEST_FLOAT)))


def cumulative(values: Sequence[int]) -> list[int]:
    """Running totals, exact for integers of any size."""
    return list(accumulate(values))


def _plain(value: object) -> object:
    """A number or text of Python's own type: a subclass may have put anything into its methods."""
    if type(value) in (bool, int, float, str, Fraction, Decimal):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, Decimal):
        return Decimal(Decimal.__str__(value))
    if isinstance(value, Fraction):
        return Fraction(Fraction.__str__(value))
    return value


def _without_numpy(value: object) -> object:
    """A numpy scalar as a plain number; its digits are those of its own precision, so that float32(0.1) is one tenth too."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, np.floating):
        return Decimal(np.format_float_scientific(value))
    return value.item() if isinstance(value, (np.bool_, np.integer)) else value


def _context(precision: int, rounding: str) -> decimal.Context:
    return decimal.Context(
        prec=precision, rounding=rounding, Emin=-_EXTREME_EXPONENT, Emax=_EXTREME_EXPONENT, traps=[decimal.InvalidOperation]
    )
