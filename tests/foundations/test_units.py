"""Units: one number to a whole multiple of a power of two, exactly, in order, and whatever type holds it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.units import LARGEST_EXACT, exponent_of, float_of_whole, in_units

exponents = st.one_of(st.integers(-1100, 1100), st.integers(-60, 60))
finite = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=300)
@given(value=finite, exponent=exponents)
def test_a_float_is_rounded_as_fractions_are(value: float, exponent: int) -> None:
    unit = Fraction(2) ** exponent
    assert in_units(value, unit) == round(Fraction(value) / unit)


@settings(max_examples=300)
@given(low=st.integers(-(2**64), 2**64), step=st.integers(0, 20), exponent=st.integers(-5, 5))
def test_whole_numbers_stay_in_order(low: int, step: int, exponent: int) -> None:
    unit = Fraction(2) ** exponent
    assert in_units(low, unit) <= in_units(low + step, unit)


@pytest.mark.parametrize("sign", [1, -1])
def test_whole_numbers_stay_in_order_where_rounding_begins(sign: int) -> None:
    near = [float_of_whole(sign * number) * sign for number in range(2**53 - 50, 2**53 + 50)]
    assert near == sorted(near)
    assert near[:49] == [float(number) for number in range(2**53 - 50, 2**53 - 1)]
    assert float_of_whole(sign * LARGEST_EXACT) == float_of_whole(sign * 2**53) == sign * 9007199254740990.0


def test_half_a_unit_goes_to_the_even_multiple() -> None:
    halves = [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]
    assert [in_units(value, Fraction(1)) for value in halves] == [-2, -2, 0, 0, 2, 2]
    assert [in_units(2 * value, Fraction(2)) for value in halves] == [-2, -2, 0, 0, 2, 2]
    assert in_units(np.nextafter(0.5, 1), Fraction(1)) == 1


def test_extremes_are_exact() -> None:
    assert in_units(1e308, Fraction(1, 2**1000)) == int(1e308) << 1000
    assert in_units(5e-324, Fraction(1, 2**1074)) == 1
    assert in_units(5e-324, Fraction(1, 2**1073)) == 0
    assert in_units(-0.0, Fraction(1)) == 0
    assert in_units(1.5e308, Fraction(2**1024)) == 1
    assert in_units(2.0**1023, Fraction(2**1024)) == 0


@pytest.mark.parametrize(
    ("held", "number"),
    [
        (True, 1),
        (np.uint8(7), 7),
        (np.int64(-(2**63)), float_of_whole(-(2**63))),
        (np.uint64(2**64 - 1), 18446744073709600000.0),
        (2**53 + 1, 9007199254740990.0),
        (np.float32(0.1), 0.10000000149011612),
        (np.float64(0.1), 0.1),
    ],
)
def test_the_type_that_holds_a_number_makes_no_difference(held: Any, number: float) -> None:
    for exponent in (-70, -3, 0, 3, 70):
        assert in_units(held, Fraction(2) ** exponent) == in_units(float(number), Fraction(2) ** exponent)


def test_whole_numbers_beyond_all_floats_are_infinite() -> None:
    assert (float_of_whole(10**400), float_of_whole(-(10**1000))) == (math.inf, -math.inf)


@pytest.mark.parametrize("exponent", [-1100, -1, 0, 1, 1100])
def test_a_unit_has_an_exponent(exponent: int) -> None:
    assert exponent_of(Fraction(2) ** exponent) == exponent


@pytest.mark.parametrize("unit", [Fraction(0), Fraction(-2), Fraction(-1, 2), Fraction(3), Fraction(1, 3), Fraction(3, 2)])
def test_a_unit_is_a_positive_power_of_two(unit: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="positive power of two"):
        in_units(1.0, unit)
