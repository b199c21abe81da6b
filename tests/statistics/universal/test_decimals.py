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
    lowest_value_at,
    ordinal_of,
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
