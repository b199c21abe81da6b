"""Sums between bounds: the same integer as adding up the rows one by one, in every container and for every number."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.arrays import ArrayColumn
from dpstats.engines.cells import ColumnType
from dpstats.engines.exact import blocks
from dpstats.engines.exact.sums import sum_between
from dpstats.engines.exact.wholes import floats_of_wholes
from dpstats.engines.reading import type_of
from dpstats.engines.tables.given import as_column
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.units import float_of_whole, in_units

INF = float("inf")
UNIT = Fraction(1, 2**20)

_of_ugly: dict[tuple[str, Any, Any], int] = {}


def brute_force(rows: Any, low: float | int, high: float | int, unit: Fraction) -> int:
    """Row by row; rows compare with bounds as Python's numbers do, which is exact."""
    return sum(in_units(row, unit) for row in rows if low < row < high)


def expected(ugly: Any, low: float | int, high: float | int) -> int:
    """`brute_force` on an ugly column, once for all containers."""
    key = (ugly.name, low, high)
    if key not in _of_ugly:
        counts = ugly.oracle.counts.items()
        _of_ugly[key] = sum(count * _units_of(row) for row, count in counts if low < row < high)
    return _of_ugly[key]


@lru_cache(maxsize=None, typed=True)  # a whole number and a float that are equal need not be so in units
def _units_of(row: float | int) -> int:
    return in_units(row, UNIT)


def test_every_container_gives_the_sum_of_its_rows(ugly: Any, container: Callable[[Any], Any]) -> None:
    data = container(ugly)
    if type_of(data) is ColumnType.UNDECLARED and ugly.type in ("int64", "uint64"):
        pytest.skip("whole numbers without a type are floats: test_containers.py")
    column = as_column(data)
    ordered = ugly.oracle.ordered or [0.0]
    for low, high in [(-INF, INF), (ordered[len(ordered) // 4], ordered[3 * len(ordered) // 4]), (-0.5, 60)]:
        assert column.sum_between(low, high, UNIT) == expected(ugly, low, high)


few_floats = st.sampled_from([0.0, -0.0, 1.5, -2.5, 1e308, -1e308, 5e-324, INF, -INF, float("nan"), 2.0**53 + 2, 1e-5])
any_rows = st.one_of(
    st.lists(few_floats, max_size=60).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(), max_size=60).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(-1e9, 1e9), max_size=60).map(lambda rows: np.array(rows, dtype=np.float64)),
    st.lists(st.floats(width=32), max_size=60).map(lambda rows: np.array(rows, dtype=np.float32)),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=60).map(lambda rows: np.array(rows, dtype=np.int64)),
    st.lists(st.integers(0, 2**64 - 1), max_size=60).map(lambda rows: np.array(rows, dtype=np.uint64)),
    st.lists(st.integers(2**53 - 9, 2**53 + 9), max_size=60).map(lambda rows: np.array(rows, dtype=np.int64)),
    st.lists(st.integers(-128, 127), max_size=60).map(lambda rows: np.array(rows, dtype=np.int8)),
)
bounds = st.one_of(st.floats(), st.integers(-(2**65), 2**65), st.sampled_from([-INF, INF, 0, 2**53 + 1, -(10**400), 10**400]))
units = st.one_of(st.integers(-60, 60), st.integers(-1200, 1200)).map(lambda exponent: Fraction(2) ** exponent)


@settings(max_examples=500)
@given(rows=any_rows, ends=st.tuples(bounds, bounds), unit=units, pieces=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_sum_is_exact_whatever_the_order_and_the_chunks(
    rows: NDArray[Any], ends: tuple[float | int, float | int], unit: Fraction, pieces: int, seed: int
) -> None:
    low, high = ends
    truth = brute_force(rows.tolist(), low, high, unit)
    shuffled = np.random.default_rng(seed).permutation(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "LARGEST_BLOCK", 8)
        assert sum_between([rows], low, high, unit) == truth
        assert ArrayColumn(np.array_split(shuffled, pieces)).sum_between(low, high, unit) == truth


@pytest.mark.parametrize("unit", [Fraction(1, 2**1000), Fraction(1, 2**1500), Fraction(2) ** 971, Fraction(2) ** 1300])
def test_the_largest_floats_add_up_exactly(unit: Fraction) -> None:
    rows = np.array([1e308, 1e308, 1.7e308, -1e307, 5e-324, 1.0])
    assert as_column(rows).sum_between(-INF, INF, unit) == brute_force(rows.tolist(), -INF, INF, unit)


@pytest.mark.parametrize("unit", [Fraction(1, 2**1030), Fraction(1, 2**1074), Fraction(1, 2**1100), Fraction(1, 2**1200)])
def test_the_smallest_floats_add_up_exactly(unit: Fraction) -> None:
    rows = np.array([5e-324, 5e-324, -1.5e-323, 2e-310])
    assert as_column(rows).sum_between(-INF, INF, unit) == brute_force(rows.tolist(), -INF, INF, unit)


@pytest.mark.parametrize("digits", [20, 35, 36, 37, 40, 53, 62, 63, 64, 65, 66, 80])
@pytest.mark.parametrize(("dtype", "held"), [("float64", 53), ("float32", 24)])
def test_a_full_block_of_large_numbers_loses_no_digit(digits: int, dtype: str, held: int) -> None:
    length = min(digits, held)
    wholes = np.random.default_rng(digits).integers(2 ** (length - 1), 2**length, blocks.LARGEST_BLOCK + 3) | 1
    rows = wholes.astype(dtype)
    unit = Fraction(2) ** (length - digits)
    assert as_column(rows).sum_between(-INF, INF, unit) == sum(wholes.tolist()) * 2 ** (digits - length)
    rows[::7] *= -1
    wholes[::7] *= -1
    assert as_column(rows).sum_between(-INF, INF, unit) == sum(wholes.tolist()) * 2 ** (digits - length)


@pytest.mark.parametrize(
    "rows", [[2**53 + 1, 2**60 + 12345, 7, -(2**62) - 99], [10**16 + 5, 10**17 - 50, 999999999999999500, 2**63 - 1]]
)
def test_one_float_more_in_a_list_adds_itself_and_nothing_else(rows: list[Any]) -> None:
    for unit in (Fraction(1), Fraction(1, 4), Fraction(2**40)):
        wholes, floats = as_column(rows), as_column([*rows, 0.25])
        assert wholes.dtype == floats.dtype == "float64"
        added = in_units(0.25, unit)
        assert floats.sum_between(-INF, INF, unit) == wholes.sum_between(-INF, INF, unit) + added


@settings(max_examples=300)
@given(rows=st.lists(st.one_of(st.integers(0, 2**64 - 1), st.integers(53, 64).map(lambda power: 2**power - 1)), max_size=20))
def test_arrays_of_whole_numbers_become_the_floats_that_single_ones_become(rows: list[int]) -> None:
    assert floats_of_wholes(np.array(rows, dtype=np.uint64)).tolist() == [float_of_whole(row) for row in rows]
    signed = [row - 2**63 for row in rows]
    assert floats_of_wholes(np.array(signed, dtype=np.int64)).tolist() == [float_of_whole(row) for row in signed]


def test_decimals_half_way_between_two_go_to_the_even_one() -> None:
    halves = [sign * (odd * 10 + 5) * 10**zeros for zeros in range(3) for odd in range(10**15 - 4, 10**15) for sign in (1, -1)]
    assert floats_of_wholes(np.array(halves, dtype=np.int64)).tolist() == [float_of_whole(row) for row in halves]


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (INF, -INF), (float("nan"), 5), (0, float("nan")), (1, 2)])
def test_nothing_lies_between_bounds_that_leave_no_room(low: float, high: float) -> None:
    for rows in ([0.0, 1.0, 2.0, INF, -INF], [0, 1, 2]):
        assert as_column(rows).sum_between(low, high, Fraction(1)) == 0


def test_rows_at_a_bound_are_left_out() -> None:
    column = as_column(np.array([1, 2, 3, 4, 2**53 + 1, 2**53 + 3]))
    assert column.sum_between(1, 4, Fraction(1)) == 5
    assert column.sum_between(0.5, 3.5, Fraction(1)) == 6
    assert column.sum_between(2**53, 2**53 + 2, Fraction(1)) == 9007199254740990
    assert column.sum_between(2**53 + 1, 2**53 + 3, Fraction(1)) == 0


def test_signalling_nan_warns_of_nothing() -> None:
    rows = np.ones(20_000)
    rows.view(np.uint64)[::2] = 0x7FF0000000000001
    assert as_column(rows).sum_between(-INF, INF, Fraction(1)) == 10_000


def test_a_sum_takes_little_memory() -> None:
    rows = np.random.default_rng(3).normal(size=4_000_000)
    column = as_column(rows)
    tracemalloc.start()
    try:
        column.sum_between(-1, 1, Fraction(1, 2**40))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 0.12 * rows.nbytes


def test_a_unit_that_is_no_power_of_two_is_refused_before_any_row_is_read() -> None:
    for unit in (Fraction(3), Fraction(0), Fraction(-1)):
        with pytest.raises(InvalidParameterError, match="power of two"):
            as_column([1.0]).sum_between(2, 1, unit)
