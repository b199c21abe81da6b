"""The row map to 15-digit decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.statistics.universal.decimals import (
    HIGHEST_ORDINAL,
    float_of,
    fraction_of,
    last_digit,
    lowest_value_at,
    ordinal_of,
    ordinals_of,
)

finite = st.floats(allow_nan=False, allow_infinity=False)
ordinals = st.integers(-HIGHEST_ORDINAL, HIGHEST_ORDINAL)


@given(st.lists(st.one_of(st.floats(allow_nan=False), st.integers(-(2**70), 2**70)), min_size=2, max_size=2))
@example([math.inf, 1e308])
@example([2**53 + 1, 2.0**53])
def test_the_map_is_monotone_over_floats_and_integers_alike(pair: list[float]) -> None:
    low, high = sorted(pair)
    assert ordinal_of(low) <= ordinal_of(high)


@given(st.lists(st.floats(allow_nan=False, width=32), min_size=2, max_size=2))
def test_the_map_is_monotone_over_32_bit_floats(pair: list[float]) -> None:
    low, high = sorted(np.float32(value) for value in pair)
    assert ordinal_of(low) <= ordinal_of(high)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value="-1e9", max_value="1e9", places=5))
def test_a_decimal_of_up_to_15_digits_is_kept_exactly(value: Decimal) -> None:
    assert fraction_of(ordinal_of(float(value))) == Fraction(value)


@given(ordinals)
@example(HIGHEST_ORDINAL)
@example(1)
def test_a_lattice_point_survives_the_way_through_a_double(ordinal: int) -> None:
    assert ordinal_of(float_of(ordinal)) == ordinal


@pytest.mark.parametrize(
    ("value", "decimal"),
    [
        (12.99, "12.99"),
        (np.float32(12.99), "12.99"),
        (-0.0, "0"),
        (5e-324, "0"),
        (-3e-308, "0"),
        (True, "1"),
        (2**63 - 1, "9.22337203685478e18"),
        (10**18 - 1, "1e18"),
        (math.inf, "9.99999999999999e307"),
        (-math.inf, "-9.99999999999999e307"),
        (0.1 + 0.2, "0.3"),
    ],
)
def test_known_values_map_to_known_decimals(value: float, decimal: str) -> None:
    assert fraction_of(ordinal_of(value)) == Fraction(decimal)


@given(ordinals)
@example(0)
@example(1)
@example(-1)
@example(ordinal_of(1.0))
@example(-HIGHEST_ORDINAL + 1)
def test_the_cut_of_a_decimal_parts_the_doubles_exactly(ordinal: int) -> None:
    cut = lowest_value_at(ordinal, np.dtype(np.float64))
    if math.isfinite(cut):
        assert ordinal_of(cut) >= ordinal
        assert ordinal_of(math.nextafter(cut, -math.inf)) < ordinal
    else:
        assert ordinal == -HIGHEST_ORDINAL


@given(st.integers(-(2**63), 2**63 - 1))
@example(10**17 + 1)
def test_the_cut_of_a_decimal_parts_the_integers_exactly(value: int) -> None:
    ordinal = ordinal_of(value)
    cut = lowest_value_at(ordinal, np.dtype(np.int64))
    assert cut <= value
    assert ordinal_of(int(cut)) >= ordinal > ordinal_of(int(cut) - 1)


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
@example(0.0)
def test_the_cut_of_a_decimal_parts_32_bit_floats_exactly(value: float) -> None:
    ordinal = ordinal_of(np.float32(value))
    cut = np.float32(lowest_value_at(ordinal, np.dtype(np.float32)))
    assert ordinal_of(cut) >= ordinal
    with np.errstate(over="ignore"):
        assert ordinal_of(np.nextafter(cut, np.float32(-np.inf))) < ordinal


def assert_same_ordinals(values: np.ndarray) -> None:
    assert ordinals_of(values).tolist() == [ordinal_of(value) for value in values]


@given(st.lists(st.floats(allow_nan=False), max_size=30))
@example([math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e-307, 9.99999999999999e307, 1.7e308])
@example([123456789012345.5, 123456789012346.5, 999999999999999.5, 99999999999999.95, 1e15, 1e14, 0.1 + 0.2])
def test_many_floats_at_once_have_the_ordinals_that_each_has(values: list[float]) -> None:
    assert_same_ordinals(np.array(values))


@given(st.lists(st.integers(10**14, 10**15), min_size=1, max_size=30), st.integers(-240, 240), st.sampled_from([0.0, 0.5]))
def test_many_floats_close_to_a_half_have_the_ordinals_that_each_has(mantissas: list[int], exponent: int, half: float) -> None:
    assert_same_ordinals(np.array([float(f"{mantissa + half}e{exponent}") for mantissa in mantissas]))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.int8, np.uint8, np.float32])
def test_many_numbers_of_any_type_at_once_have_the_ordinals_that_each_has(dtype: type) -> None:
    if dtype is np.float32:
        values = np.random.default_rng(1).lognormal(3, 9, 500).astype(np.float32)
    else:
        limits = np.iinfo(dtype)
        ends = [limits.min, limits.max, 0, 1, 9, 10, 99, 100, *(10**k for k in range(2, 19)), 10**15 - 1, 10**15 + 1]
        values = np.array([value for value in ends if limits.min <= value <= limits.max], dtype=dtype)
    assert_same_ordinals(values)


def test_powers_of_ten_and_their_neighbours_have_their_ordinals() -> None:
    powers = 10.0 ** np.arange(-307, 308)
    for values in (powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf), -powers):
        assert_same_ordinals(values)


def test_the_last_digit_that_is_not_zero_has_a_power_of_ten() -> None:
    values = {3.0: 1, 300.0: 100, -0.25: Fraction(1, 100), 1e20: 10**20, 12.5: Fraction(1, 10), 0.0: 0}
    assert {value: last_digit(ordinal_of(value)) for value in values} == values
