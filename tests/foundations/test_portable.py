"""Sums in a fixed order, and rounding to digits that mean something."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.foundations.portable import (
    ERROR_DIGITS,
    exponential,
    inner_product,
    rounded,
    rounded_covariance,
    rounded_ends,
    rounded_errors,
    rounded_values,
)

SIZES = st.floats(1e-100, 1e100)
INF = math.inf


@given(pairs=st.lists(st.tuples(st.floats(-1e100, 1e100), st.floats(-1e100, 1e100)), max_size=30))
def test_an_inner_product_does_not_depend_on_the_order_of_its_terms(pairs: list[tuple[float, float]]) -> None:
    first, second = np.array(pairs).reshape(-1, 2).T
    turned = np.random.default_rng(len(pairs)).permutation(len(pairs))
    assert inner_product(first[turned], second[turned]) == inner_product(first, second)


def test_terms_that_cancel_leave_the_rest() -> None:
    assert inner_product(np.array([1e16, 1.0, -1e16]), np.array([1.0, 1.0, 1.0])) == 1.0


def test_infinite_terms_have_the_sum_that_floats_give_them() -> None:
    assert inner_product(np.array([INF, 1.0]), np.array([1.0, 1.0])) == INF
    assert inner_product(np.array([1e308, 1e308]), np.array([1.0, 1.0])) == INF
    assert math.isnan(inner_product(np.array([INF, -INF]), np.array([1.0, 1.0])))


def test_exponentials_are_those_of_the_library_of_mathematics() -> None:
    exponents = np.concatenate([np.linspace(-708, 709, 5001), np.linspace(-1, 1, 2001), [1e-300, -1e-17, 0.0]])
    wanted = np.array([math.exp(each) for each in exponents])
    assert np.abs(exponential(exponents) / wanted - 1.0).max() < 1e-15


def test_exponentials_keep_their_shape_and_end_where_floats_do() -> None:
    assert exponential(np.zeros((3, 1, 2))).tolist() == np.ones((3, 1, 2)).tolist()
    assert exponential(np.zeros(0)).shape == (0,)
    ends = exponential(np.array([-INF, -1e300, -746.0, -740.0, 709.0, 710.0, INF]))
    assert ends[:3].tolist() == [0.0, 0.0, 0.0]
    assert 0.0 < ends[3] < 1e-320
    assert 8e307 < ends[4] == ends[5] == ends[6] < INF


@given(exponents=st.lists(st.floats(), max_size=8))
@example(exponents=[math.nan, INF, -INF, 5e-324, -5e-324, 1.7976931348623157e308, 0.0])
def test_every_float_has_an_exponential_and_only_nan_has_none(exponents: list[float]) -> None:
    found = exponential(np.array(exponents, dtype=np.float64))
    for exponent, power in zip(exponents, found.tolist(), strict=True):
        if math.isnan(exponent):
            assert math.isnan(power)
        else:
            assert power == pytest.approx(math.exp(min(exponent, 709.0)), rel=1e-14, abs=1e-323)


@given(numbers=st.lists(st.tuples(st.floats(), st.floats()), min_size=1, max_size=6))
@example(numbers=[(1.7976931348623157e308, math.nan)])
@example(numbers=[(-1.7976931348623157e308, 5e-324), (5e-324, 1.7976931348623157e308)])
def test_every_float_can_be_summed_and_rounded(numbers: list[tuple[float, float]]) -> None:
    values, errors = (list(each) for each in zip(*numbers, strict=True))
    assert isinstance(inner_product(np.array(values), np.array(errors)), float)
    for found in (rounded_values(values, errors), rounded_values(values, None), rounded_errors(values)):
        for value, number in zip(values, found, strict=True):
            assert math.isfinite(number) == math.isfinite(value)
    for value, error in numbers:
        assert len(rounded_ends(value, error)) == 2
        assert len(rounded_covariance([[value, error], [error, value]])) == 2


def test_exponentials_are_known_to_the_last_bit() -> None:
    """On every processor: these bits do not come from the machine that runs the test."""
    values = exponential(np.array([-700.1, -33.3, -1.0, 0.1, 1.0, 100.7]))
    assert [value.hex() for value in values.tolist()] == [
        "0x1.f52f93df4dfcep-1011",
        "0x1.f165bb9b59d94p-49",
        "0x1.78b56362cef38p-2",
        "0x1.1aec7b35a00d3p+0",
        "0x1.5bf0a8b14576ap+1",
        "0x1.36b3df32523b6p+145",
    ]


@pytest.mark.parametrize(
    ("value", "size", "digits", "wanted"),
    [
        (1234.5678, 2.5, 3, 1234.57),
        (1234.5678, -2.5, 3, 1234.57),
        (0.00123456, 0.001, 2, 0.0012),
        (15369.391316514306, 212.0, ERROR_DIGITS, 15369.3913),
        (1e-30, 1.0, ERROR_DIGITS, 0.0),
        (123456.0, 1e9, 2, 0.0),
        (0.123456, INF, 3, 0.123),
        (0.123456, 0.0, 3, 0.123),
        (0.123456, math.nan, 3, 0.123),
        (INF, 1.0, 3, INF),
        (0.0, 0.0, 3, 0.0),
    ],
)
def test_a_value_keeps_the_digits_that_its_size_allows(value: float, size: float, digits: int, wanted: float) -> None:
    assert rounded(value, size, digits) == wanted


@given(value=SIZES, size=SIZES, digits=st.integers(1, 15))
def test_rounding_moves_a_value_by_half_a_unit_of_its_size_at_most(value: float, size: float, digits: int) -> None:
    assert abs(rounded(value, size, digits) - value) <= 0.51 * size * 10.0 ** (1 - digits) + 1e-15 * value


@given(value=st.floats(0.1, 1e3), error=st.floats(1e-2, 1e3))
def test_values_that_differ_in_their_last_bits_become_one_but_for_ties(value: float, error: float) -> None:
    near = np.nextafter(value, INF)
    one, other = rounded_values([value, near], [error, error])
    assert abs(one - other) <= 1.01 * error * 10.0 ** (1 - ERROR_DIGITS)


def test_a_value_without_an_error_keeps_digits_of_its_own() -> None:
    assert rounded_values([1 / 3, 2000 / 3], None) == (0.3333333333, 666.6666667)
    assert rounded_values([1 / 3], [INF]) == (0.3333333333,)
    assert rounded_errors([1 / 3, INF, 0.0]) == (0.3333333, INF, 0.0)


def test_ends_are_rounded_by_the_width_and_infinite_ones_stay() -> None:
    assert rounded_ends(10 / 3, 16 / 3) == (3.333333, 5.333333)
    assert rounded_ends(-INF, 1 / 3) == (-INF, 0.3333333333)


def test_covariances_are_rounded_by_the_errors_that_they_belong_to() -> None:
    covariance = [[1 / 3, 1e-18, 0.0], [1e-18, 3e-8, 1.0], [0.0, 1.0, INF]]
    assert rounded_covariance(covariance) == ((0.3333333, 0.0, 0.0), (0.0, 3e-8, 1.0), (0.0, 1.0, INF))
