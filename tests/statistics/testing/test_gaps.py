"""The largest gap in rows: what it is, and that one row moves it by at most 1."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.summaries import NumberRuns
from dpstats.statistics.testing import gaps
from dpstats.statistics.testing.gaps import DISTRIBUTIONS, STEPS, raw_gap_between, raw_gap_to, raw_places

QUARTERS = [0, STEPS // 4, STEPS // 2, STEPS // 4 * 3, STEPS]


def runs(values: Sequence[Any], dtype: type = np.int64) -> NumberRuns:
    counted = sorted(Counter(values).items())
    return NumberRuns(np.array([v for v, _ in counted], dtype=dtype), np.array([c for _, c in counted], dtype=np.int64))


def gap_to_by_hand(places: Sequence[int]) -> Fraction:
    """Tried at every place, just before it, and on a lattice between."""
    tried = {*places, *QUARTERS, *range(0, STEPS + 1, STEPS // 16)}
    gaps_found = [Fraction(0)]
    for t in tried:
        line = Fraction(len(places) * t, STEPS)
        gaps_found += [abs(sum(p <= t for p in places) - line), abs(sum(p < t for p in places) - line)]
    return max(gaps_found)


def gap_between_by_hand(first: Sequence[int], second: Sequence[int]) -> Fraction:
    if not first and not second:
        return Fraction(0)
    counted = [(sum(v <= x for v in first), sum(v <= x for v in second)) for x in {*first, *second}]
    return max(Fraction(abs(len(second) * one - len(first) * other), len(first) + len(second)) for one, other in counted)


def test_the_gap_to_a_distribution_is_the_supremum_and_a_row_moves_it_by_at_most_one_on_every_small_table() -> None:
    furthest = Fraction(0)
    for size in range(5):
        for places in itertools.combinations_with_replacement(QUARTERS, size):
            gap = raw_gap_to(runs(places))
            assert gap == gap_to_by_hand(places)
            for added in [*QUARTERS, STEPS // 3]:
                furthest = max(furthest, abs(raw_gap_to(runs([*places, added])) - gap))
    assert furthest == 1  # reached: one row at either end of none


def test_the_gap_between_groups_is_the_supremum_and_a_row_moves_it_by_less_than_one_on_every_small_table() -> None:
    tables = [t for size in range(5) for t in itertools.combinations_with_replacement(range(3), size)]
    for first, second in itertools.product(tables, tables):
        gap = raw_gap_between(runs(first), runs(second))
        assert gap == gap_between_by_hand(first, second)
        rows = len(first) + len(second)
        for added in range(3):
            moved = abs(raw_gap_between(runs([*first, added]), runs(second)) - gap)
            assert moved <= Fraction(len(second), rows + 1) < 1
            moved = abs(raw_gap_between(runs(first), runs([*second, added])) - gap)
            assert moved <= Fraction(len(first), rows + 1) < 1


def test_the_bound_between_groups_is_approached() -> None:
    others = list(range(1, 200))
    assert raw_gap_between(runs([0]), runs(others)) == Fraction(199, 200)
    assert raw_gap_between(runs([]), runs(others)) == 0


@given(
    st.lists(st.floats(allow_nan=False), max_size=12),
    st.floats(allow_nan=False),
    st.sampled_from(sorted(DISTRIBUTIONS)),
    st.fractions(-100, 100),
    st.fractions(Fraction(1, 100), 100),
)
def test_a_row_of_any_size_moves_the_gap_to_any_distribution_by_at_most_one(
    rows: list[float], added: float, name: str, location: Fraction, scale: Fraction
) -> None:
    before, after = (raw_gap_to(raw_places(runs(table, np.float64), name, location, scale)) for table in (rows, [*rows, added]))
    assert abs(after - before) <= 1
    assert 0 <= after <= len(rows) + 1


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_places_are_those_of_scipy(name: str) -> None:
    import scipy.stats

    known = {"normal": "norm", "exponential": "expon"}.get(name, name)
    law = scipy.stats.lognorm(1, 2, 3) if name == "lognormal" else getattr(scipy.stats, known)(2, 3)
    values = np.array([-math.inf, -40.0, 0.0, 1.9, 2.0, 2.1, 3.7, 5.0, 11.0, 300.0, math.inf])
    places = raw_places(NumberRuns(values, np.ones(len(values), dtype=np.int64)), name, Fraction(2), Fraction(3))
    assert np.allclose(np.repeat(places.raw_values, places.raw_counts) / STEPS, law.cdf(values), atol=2 / STEPS)


def test_very_many_rows_do_not_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    many = NumberRuns(np.array([0, STEPS // 2]), np.array([2**40, 2**40]))
    assert raw_gap_to(many) == 2**40
    assert raw_gap_between(many, NumberRuns(many.raw_values, many.raw_counts[::-1] * 2)) == 0
    some = NumberRuns(np.array([1, 2, 3]), np.array([5, 1, 7]))
    others = NumberRuns(np.array([2, 4]), np.array([3, 3]))
    expected = raw_gap_between(some, others), raw_gap_to(NumberRuns(some.raw_values * 1000, some.raw_counts))
    monkeypatch.setattr(gaps, "_EXACT_ROWS", 0)
    assert (raw_gap_between(some, others), raw_gap_to(NumberRuns(some.raw_values * 1000, some.raw_counts))) == expected
