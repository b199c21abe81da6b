"""Ranks move as distances need them to, and ranked rows are exact in every container."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.engines.tables.given import as_column
from dpstats.foundations.summaries import OrderWindow, WindowRequest
from dpstats.statistics.propose_test_release.ranks import (
    BEYOND,
    RankedRows,
    decimal_of,
    interquantile_ranks,
    quantile_rank,
    window_request,
)
from tests.statistics.tables import ugly_columns

QUARTILES = (Fraction(1, 4), Fraction(3, 4))
QUANTILES = sorted({Fraction(top, bottom) for bottom in (1, 2, 3, 7, 10, 20) for top in range(bottom + 1)})
PAIRS = [pair for pair in itertools.combinations_with_replacement(QUANTILES, 2) if pair[1] > 0]
SAFE_MOVES = {(0, 0), (0, 1), (1, 1)}
quantiles = st.fractions(0, 1, max_denominator=1000)


def moves(lower: Fraction, upper: Fraction, raw_rows: int) -> tuple[int, int]:
    """How one row more moves the two ranks."""
    low, high = interquantile_ranks(lower, upper, raw_rows)
    more_low, more_high = interquantile_ranks(lower, upper, raw_rows + 1)
    return more_low - low, more_high - high


def test_one_row_more_moves_a_rank_by_0_or_1_and_it_stays_in_the_table() -> None:
    for quantile in QUANTILES:
        ranks = [quantile_rank(quantile, rows) for rows in range(100)]
        assert ranks[:2] == [0, 1]
        assert {after - before for before, after in itertools.pairwise(ranks)} <= {0, 1}
        assert all(1 <= rank <= rows for rows, rank in enumerate(ranks) if rows)


def test_one_row_more_never_moves_the_low_rank_alone() -> None:
    assert {moves(lower, upper, rows) for lower, upper in PAIRS for rows in range(60)} == SAFE_MOVES


@given(quantiles, quantiles, st.integers(0, 10**12))
def test_one_row_more_never_moves_the_low_rank_alone_in_large_tables(first: Fraction, second: Fraction, rows: int) -> None:
    lower, upper = sorted((first, second + Fraction(1, 2000)))
    assert moves(lower, min(upper, Fraction(1)), rows) in SAFE_MOVES


def test_ceilings_taken_one_by_one_would_move_the_low_rank_alone() -> None:
    lower, upper = Fraction(3, 10), Fraction(1, 2)
    alone = [
        rows
        for rows in range(1, 20)
        if (quantile_rank(lower, rows + 1), quantile_rank(upper, rows + 1))
        == (quantile_rank(lower, rows) + 1, quantile_rank(upper, rows))
    ]
    assert alone == [3, 13]


def test_the_low_rank_is_the_ceiling_or_one_more() -> None:
    for lower, upper in PAIRS:
        for rows in range(1, 60):
            low, high = interquantile_ranks(lower, upper, rows)
            assert high == max(1, math.ceil(upper * rows))
            assert low - max(1, math.ceil(lower * rows)) in (0, 1)
            assert low <= high


def test_quartiles_have_the_plain_ceilings_as_ranks() -> None:
    for rows in range(1, 1000):
        assert interquantile_ranks(*QUARTILES, rows) == (math.ceil(Fraction(rows, 4)), math.ceil(Fraction(3 * rows, 4)))
    assert interquantile_ranks(*QUARTILES, 0) == (0, 0)


def covers(request: WindowRequest, rows: int, rank: int, steps: int) -> bool:
    first, last = request.ranks(rows)
    return first <= max(1, rank - steps) and last >= min(rows, rank + steps)


def test_a_window_covers_every_rank_within_the_steps() -> None:
    for lower, upper in PAIRS:
        for rows, steps in itertools.product((*range(1, 22), 120), (0, 3)):
            low, high = interquantile_ranks(lower, upper, rows)
            assert covers(window_request(lower, steps), rows, low, steps)
            assert covers(window_request(upper, steps), rows, high, steps)
            assert covers(window_request(lower, steps), rows, quantile_rank(lower, rows), steps)


def test_a_window_with_a_row_less_would_miss_a_rank() -> None:
    low, _ = interquantile_ranks(Fraction(3, 10), Fraction(1, 2), 40)
    assert not covers(WindowRequest(Fraction(3, 10), 5), 40, low, 5)


@pytest.mark.parametrize("name", ugly_columns())
def test_rows_are_the_decimals_of_the_sorted_column_whatever_windows_cover_them(name: str) -> None:
    data = ugly_columns()[name]
    expected = sorted(decimal_of(value) for value in data if value == value)
    steps = 6
    requests = [window_request(quantile, steps) for quantile in (*QUARTILES, Fraction(26, 100))]
    rows = RankedRows(as_column(data).order_windows(requests))
    assert rows.raw_rows == len(expected)
    for rank in interquantile_ranks(*QUARTILES, len(expected)):
        for near in range(rank - steps, rank + steps + 1):
            if 1 <= near <= len(expected):
                assert rows.value(near) == expected[near - 1] == rows.at(near) * rows.unit
            else:
                assert rows.at(near) == (-BEYOND if near < 1 else BEYOND)


def test_a_32_bit_price_is_the_same_row_as_a_64_bit_one() -> None:
    prices = [12.99, 0.1, 99.95]
    request = window_request(Fraction(1, 2), 3)
    ranked = [RankedRows(as_column(np.array(prices, dtype=kind)).order_windows([request])) for kind in ("f4", "f8")]
    assert [rows.value(2) for rows in ranked] == [Fraction(1299, 100)] * 2
    assert [rows.unit for rows in ranked] == [Fraction(1, 100)] * 2


def test_no_rows_have_no_rank() -> None:
    rows = RankedRows(as_column(np.array([])).order_windows([window_request(Fraction(1, 2), 4)]))
    assert rows.raw_rows == 0
    assert [rows.at(rank) for rank in (-3, 0, 1, 7)] == [-BEYOND, -BEYOND, BEYOND, BEYOND]


def test_a_rank_that_no_window_covers_is_refused_without_a_word_about_the_data() -> None:
    requests = [WindowRequest(Fraction(1, 10), 5), WindowRequest(Fraction(9, 10), 5)]
    rows = RankedRows(as_column(np.arange(1000.0)).order_windows(requests))
    assert [int(rows.value(rank)) for rank in (100, 900)] == [99, 899]
    for rank in (1, 500, 1000):
        with pytest.raises(IndexError, match=r"^[^0-9]*$"):
            rows.at(rank)


def test_a_row_map_may_tie_rows() -> None:
    window = OrderWindow(6, 1, np.array([1, 2, 3, 5]), np.array([1, 2, 1, 1]))
    rows = RankedRows([window, window], row_map=lambda value: Fraction(int(value) // 2, 3))
    assert rows.unit == Fraction(1, 3)
    assert [rows.at(rank) for rank in range(2, 7)] == [0, 1, 1, 1, 2]


def test_the_ends_of_the_table_lie_beyond_all_rows_and_widths_in_the_smallest_unit() -> None:
    window = OrderWindow(3, 0, np.array([-1.7e308, 1.23456789012345e-307, 1.7e308]), np.ones(3, dtype=np.int64))
    rows = RankedRows([window])
    assert rows.unit < Fraction(1, 10**320)
    assert 2**2000 * (rows.at(3) - rows.at(1)) < BEYOND
    assert rows.ceil_units(Fraction(10) ** 308) * 2**2000 < BEYOND


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=6, unique=True), st.fractions(0, 2000))
def test_widths_in_units_compare_as_widths_do(cents: list[int], width: Fraction) -> None:
    raw_values = np.array(sorted(cents)) / 100
    rows = RankedRows([OrderWindow(len(cents), 0, raw_values, np.ones(len(cents), dtype=np.int64))])
    for low, high in itertools.combinations(range(1, len(cents) + 1), 2):
        exact, units = rows.value(high) - rows.value(low), rows.at(high) - rows.at(low)
        assert (exact > width) == (units > rows.floor_units(width))
        assert (exact < width) == (units < rows.ceil_units(width))
