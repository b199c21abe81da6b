"""Edges of bins: round, of equal distance, about as many as wanted, and where the rows are."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpstats.engines.tables.given import as_column
from dpstats.statistics.binned.edges import bulk_between, draw_edges, exact, raw_counts_between, round_edges
from dpstats.testing import seeded

decimals = st.builds(lambda digits, power: digits * Fraction(10) ** power, st.integers(-(10**9), 10**9), st.integers(-12, 12))


@given(low=decimals, width=decimals.map(abs), bins=st.integers(1, 200), whole=st.booleans())
@settings(max_examples=150)
def test_edges_are_round_and_hold_the_range_between_them(low: Fraction, width: Fraction, bins: int, whole: bool) -> None:
    places = (low, low + width)
    low, high = (Fraction(math.floor(place)) for place in places) if whole else places
    edges = [exact(edge) for edge in round_edges(low, high, bins, whole=whole)]
    assert edges[0] <= low < edges[-1]
    assert edges[-1] > high or abs(edges[-1] - high) <= abs(high) / 10**14  # decimals have 15 digits
    steps = {after - before for before, after in pairwise(edges)}
    if len(edges) > 2 and max(map(abs, edges)) / min(steps) < 10**12:
        (step,) = steps
        text = f"{float(step):e}".split("e", maxsplit=1)[0].rstrip("0").rstrip(".")
        assert text in {"1", "2", "2.5", "5"}
        assert edges[0] / step == int(edges[0] / step)
        assert not whole or step.denominator == 1
        assert len(edges) - 1 <= 2 * bins + 1
        assert whole or len(edges) - 1 >= bins / 2 or step <= max(abs(low), abs(high)) / 10**13


def test_edges_that_are_known() -> None:
    assert round_edges(Fraction(3), Fraction(97), 10) == tuple(map(float, range(0, 101, 10)))
    assert round_edges(Fraction(1), Fraction(5), 10, whole=True) == (1, 2, 3, 4, 5, 6)
    assert round_edges(Fraction(1299, 100), Fraction(1299, 100), 10) == (12.99, 13.0)
    assert round_edges(Fraction(0), Fraction(0), 10) == (0, 1)
    assert round_edges(Fraction(-1, 1000), Fraction(1, 1000), 4) == (-0.001, -0.0005, 0.0, 0.0005, 0.001, 0.0015)
    assert len(round_edges(-(Fraction(10) ** 308), Fraction(10) ** 308, 10)) > 5


def test_few_rows_at_either_end_are_cut_off() -> None:
    edges = tuple(map(float, range(11)))
    low, high = bulk_between(edges, [0, 1, -2, 0, 500, 900, 400, 3, 0, 1, 0, 2], deviation=2.0)
    assert [math.floor(low), math.ceil(high)] == [3, 6]
    low, high = bulk_between(edges, [0] * 12, deviation=2.0)
    assert [math.floor(low), math.ceil(high)] == [0, 10]


random = np.random.default_rng(11)
COLUMNS: dict[str, Callable[[int], NDArray[Any]]] = {
    "normal": lambda rows: random.normal(50, 15, rows),
    "lognormal": lambda rows: random.lognormal(10, 1, rows),
    "zeros": lambda rows: np.where(random.random(rows) < 0.3, 0, random.lognormal(10, 1, rows)),
    "small": lambda rows: random.normal(0, 1e-9, rows),
    "far": lambda rows: random.normal(1e6, 1, rows),
    "heavy": lambda rows: random.standard_t(2, rows),
    "ages": lambda rows: random.integers(0, 95, rows),
    "counts": lambda rows: random.poisson(3, rows),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_most_rows_lie_between_private_edges_and_in_more_than_one_bin(name: str) -> None:
    for seed in range(4):
        column = as_column(COLUMNS[name](10_000))
        edges, spent = draw_edges(column, 10, Fraction(1), seeded(seed))
        counts = raw_counts_between(column, edges)
        assert 5 <= len(edges) - 1 <= 15
        assert counts[0] + counts[-1] < 1_200
        assert max(counts) < 8_500
        assert 0 < spent < Fraction(6, 10)


def test_whole_numbers_get_whole_edges() -> None:
    edges, _ = draw_edges(as_column(COLUMNS["counts"](20_000)), 10, Fraction(1), seeded(1))
    assert edges[:3] == (0, 1, 2)


def test_a_constant_column_gets_a_bin_of_its_own() -> None:
    edges, _ = draw_edges(as_column([12.99] * 5_000), 10, Fraction(1), seeded(1))
    assert edges == (12.99, 13.0)


@pytest.mark.parametrize("rows", [[], [5.0], [math.inf] * 50, [-math.inf, math.inf] * 40, [1e300, -1e300] * 40, [math.nan] * 9])
def test_no_column_is_too_odd_for_edges(rows: list[float]) -> None:
    for seed in range(3):
        edges, spent = draw_edges(as_column(np.array(rows)), 10, Fraction(1), seeded(seed))
        assert all(math.isfinite(edge) for edge in edges)
        assert list(edges) == sorted(set(edges))
        assert 0 < spent < 1
