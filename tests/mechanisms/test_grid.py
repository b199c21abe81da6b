"""The public grid: rounding in exact arithmetic, and how far it can lengthen a move."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import DataTypeError
from dpstats.mechanisms.discrete_laplace import laplace
from dpstats.mechanisms.gaussian import gaussian, squared_units
from dpstats.mechanisms.grid import LARGEST, Grid, grid_for, integer_ratio, refuse_container, take_coordinates
from dpstats.testing import seeded

number = st.floats(-1e6, 1e6) | st.fractions(-50, 50, max_denominator=64)
spacing = st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(2, 3), Fraction(1, 2**20)])


@given(raw=number, step=spacing)
@settings(max_examples=80)
def test_units_are_the_nearest_and_floor_units_the_one_below(raw: Any, step: Any) -> None:
    grid, exact = Grid(step), Fraction(raw) / step
    assert grid.units(raw) == math.floor(exact + Fraction(1, 2))
    assert grid.floor_units(raw) == math.floor(exact)


@given(raw=number, step=spacing, moved=st.fractions(0, 5, max_denominator=64))
@settings(max_examples=80)
def test_one_rounded_value_moves_by_at_most_the_move_rounded_up(raw: Any, step: Any, moved: Any) -> None:
    grid, start = Grid(step), Fraction(raw)
    limit = math.ceil(moved / step)
    assert 0 <= grid.units(start + moved) - grid.units(start) <= limit
    assert 0 <= grid.floor_units(start + moved) - grid.floor_units(start) <= limit


@given(
    pairs=st.lists(
        st.tuples(st.fractions(-4, 4, max_denominator=12), st.fractions(-4, 4, max_denominator=12)), min_size=1, max_size=4
    )
)
@settings(max_examples=80)
def test_rounded_vectors_move_by_no_more_squared_units_than_declared(pairs: Any) -> None:
    grid = Grid(Fraction(1, 2))
    length = Fraction(math.isqrt(math.ceil(sum((a - b) ** 2 for a, b in pairs) * 10**6)) + 1, 1000)  # rounded up
    moved = sum((grid.units(a) - grid.units(b)) ** 2 for a, b in pairs)
    assert moved <= squared_units(length, grid, len(pairs))


def test_whole_vectors_are_not_charged_for_rounding() -> None:
    assert squared_units(Fraction(3, 2), Grid(Fraction(1), integers=True), 5) == 2
    assert squared_units(Fraction(2), Grid(Fraction(1)), 1) == 4
    assert squared_units(Fraction(2), Grid(Fraction(1)), 4) == 16


@pytest.mark.parametrize(
    "raw", [0.1, -0.1, 5e-324, 1.7976931348623157e308, 2**53 + 1, Fraction(1, 3), np.float32(0.1), np.int8(-3)]
)
def test_a_number_is_read_exactly(raw: Any) -> None:
    ratio = integer_ratio(raw)
    exact = Fraction(int(raw)) if isinstance(raw, np.integer) else Fraction(float(raw) if isinstance(raw, np.floating) else raw)
    assert ratio is not None
    assert Fraction(*ratio) == exact


@pytest.mark.parametrize(
    ("raw", "sign"), [(float("nan"), -1), (None, -1), ("?", -1), (-math.inf, -1), (math.inf, 1), (10**400, 1)]
)
def test_scores_that_are_no_numbers_are_as_low_as_scores_can_be(raw: Any, sign: Any) -> None:
    grid = Grid(Fraction(1, 4))
    assert grid.floor_units(raw) == sign * math.floor(LARGEST * 4)


def test_the_default_grid_is_a_power_of_two_far_below_the_noise() -> None:
    chosen = grid_for(Fraction(10, 3), None, False)
    assert Fraction(10, 3) / 2**41 < chosen.spacing <= Fraction(10, 3) / 2**40
    assert chosen.spacing.numerator == 1
    assert str(chosen) == "multiples of 2**-39"


def test_tables_are_refused_by_their_shape() -> None:
    with pytest.raises(DataTypeError, match="2 dimensions"):
        take_coordinates(np.zeros((2, 2)))


@pytest.mark.parametrize(
    "value",
    [{"a": 1}, "10", np.str_("10"), b"10", {1, 2}, frozenset(), (n for n in [1]), iter([1]), None, object(), 1j, Ellipsis],
    ids=lambda value: type(value).__name__,
)
def test_what_holds_no_numbers_in_order_is_refused_by_its_type(value: Any) -> None:
    with pytest.raises(DataTypeError, match="give one number or a flat list of numbers; got"):
        take_coordinates(value)


@pytest.mark.parametrize("value", [[[1, 2], [3]], [(1,)], [{}, {}], np.array(["a"]), np.array([1j]), np.array(["2020"], "M8[Y]")])
def test_nested_lists_and_arrays_of_another_type_are_refused(value: Any) -> None:
    with pytest.raises(DataTypeError, match="give one number or a flat list of numbers; this"):
        take_coordinates(value)


@pytest.mark.parametrize("value", [[1, None], [1, "x"], ["x", None], [[1], 2], [], (1.5,), np.array([1, None]), range(2)])
def test_an_element_that_is_no_number_is_no_error(value: Any) -> None:
    coordinates, is_vector = take_coordinates(value)
    assert (len(coordinates), is_vector) == (len(value), True)


@pytest.mark.parametrize("value", [1, True, 2.5, Fraction(1, 3), Decimal("0.1"), np.float32(1), np.array(3), math.nan])
def test_one_number_is_one_coordinate(value: Any) -> None:
    coordinates, is_vector = take_coordinates(value)
    assert (len(coordinates), is_vector) == (1, False)


def test_iterators_pass_only_where_they_may() -> None:
    refuse_container(iter([1]), "give a list", iterators=True)
    with pytest.raises(DataTypeError, match="give a list; got list_iterator"):
        refuse_container(iter([1]), "give a list")


@pytest.mark.parametrize(("text", "sign"), [("1e999999999", 1), ("-1e999999999", -1), ("1e309", 1), ("9e308", 1)])
def test_a_decimal_beyond_the_floats_is_cut_off_and_never_written_out(text: str, sign: int) -> None:
    raw, grid = Decimal(text), Grid(Fraction(1, 4))
    assert grid.units(raw) == grid.floor_units(raw) == sign * math.floor(LARGEST * 4)
    assert Grid(Fraction(1), integers=True).units(raw) == sign * int(LARGEST)


def test_a_decimal_too_small_to_write_out_is_zero() -> None:
    for text in ("1e-999999999", "-1e-999999999", "9.99e-5001", "0e999999999", "0e-999999999", "-0"):
        assert integer_ratio(Decimal(text)) == (0, 1)
    assert integer_ratio(Decimal("1e-5000")) == (1, 10**5000)
    assert integer_ratio(Decimal("1e308")) == (10**308, 1)


@pytest.mark.parametrize("number", [10**400, -(10**400)])
def test_whole_numbers_stop_at_the_largest_float_like_all_others(number: int) -> None:
    assert abs(Grid(Fraction(1), integers=True).units(number)) == int(LARGEST)


class Secretive:
    """An element whose methods raise with what they know."""

    def __index__(self) -> int:
        raise KeyError("secret 812")

    def as_integer_ratio(self) -> tuple[int, int]:
        return 1, 0

    def __float__(self) -> float:
        raise RuntimeError("secret 812")


@pytest.mark.parametrize("release", [laplace, lambda value, **options: gaussian(value, delta=1e-6, **options)])
def test_no_element_passes_its_own_exception_on(release: Callable[..., Any]) -> None:
    sensitivity = "l1_sensitivity" if release is laplace else "l2_sensitivity"
    value = release([3.0, Secretive(), np.float64("nan")], **{sensitivity: 1}, epsilon=1, rng=seeded(1)).value
    assert len(value) == 3


def test_a_masked_element_is_not_used() -> None:
    masked = np.ma.array([5000.0, 1.0], mask=[True, False])
    assert max(laplace(masked, l1_sensitivity=1, epsilon=10, rng=seeded(1)).value) < 100
