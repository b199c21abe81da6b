"""Windows of order statistics: which ranks a request means."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.foundations.summaries import OrderWindow, WindowRequest

QUANTILES = sorted({Fraction(part, whole) for whole in range(1, 8) for part in range(whole + 1)})


def wanted(quantile: Fraction, margin: int, rows: int) -> set[int]:
    """Rank by rank: fewer than `margin` rows between it and the target, which lies at a rank or between two."""
    target = quantile * rows
    return {rank for rank in range(1, rows + 1) if math.floor(target) - margin < rank <= math.ceil(target) + margin}


@pytest.mark.parametrize("margin", [0, 1, 2, 5, 100])
@pytest.mark.parametrize("rows", [0, 1, 2, 3, 7, 12, 40])
def test_the_ranks_of_a_request_are_those_of_brute_force(rows: int, margin: int) -> None:
    for quantile in QUANTILES:
        first, last = WindowRequest(quantile, margin).ranks(rows)
        assert set(range(first, last + 1)) == wanted(quantile, margin, rows)
        assert first >= 1
        assert last <= rows


@pytest.mark.parametrize("margin", [1, 2, 5])
@pytest.mark.parametrize("rows", [1, 2, 3, 7, 12, 40])
def test_as_many_rows_are_wanted_on_either_side_as_the_margin_says_and_the_table_has(rows: int, margin: int) -> None:
    for quantile in QUANTILES:
        target = quantile * rows
        ranks = wanted(quantile, margin, rows)
        assert sum(rank <= target for rank in ranks) == min(margin, math.floor(target))
        assert sum(rank > target for rank in ranks) == min(margin + (target.denominator > 1), rows - math.floor(target))


def test_no_rows_give_no_ranks_whatever_the_margin() -> None:
    for margin in (0, 1, 10**30):
        first, last = WindowRequest(Fraction(1, 2), margin).ranks(0)
        assert first > last


def test_ranks_are_exact_beyond_what_floats_hold() -> None:
    rows = 10**18 + 1
    assert WindowRequest(Fraction(1, 3), 2).ranks(rows) == (rows // 3 - 1, -(-rows // 3) + 2)
    assert WindowRequest(Fraction(1), 10**30).ranks(rows) == (1, rows)


def test_the_rows_above_a_window_are_what_is_left() -> None:
    window = OrderWindow(10, 3, np.array([1.5, 2.0]), np.array([2, 4]))
    assert window.raw_above == 1
    assert OrderWindow(0, 0, np.array([]), np.array([], dtype=np.int64)).raw_above == 0
