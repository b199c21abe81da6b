"""Sums over rows by their nearest centres: against a loop over rows, and how far one row moves them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.clusters.budget import ConcentratedClusterSplit, PureClusterSplit
from dpstats.statistics.clusters.cluster_points import HELD, NearCenters
from dpstats.statistics.clusters.cluster_sums import STEPS, CappedCosts, ClusterOffsets
from dpstats.statistics.clusters.column_spreads import UNITS, SquareParts
from dpstats.statistics.clusters.component_sums import SHARES, Components
from dpstats.statistics.frame.frame import FrameColumn, TableFrame
from dpstats.statistics.regression.points import BALL_BITS, POINT_BITS
from dpstats.testing import seeded
from tests.laws.mechanisms import discrete_laplace_law
from tests.statistics.regression.step_rows import UGLY

NUMBERS = st.one_of(st.sampled_from(UGLY), st.floats(-100, 100))
FRAME = TableFrame((FrameColumn(0.5, 1.25, 40.0, 30.0), FrameColumn(-3.0, 0.01, 1.0, 2.0), FrameColumn(0.0, 8.0)), 100, 1.0)
CENTERS = ((0, 0, 0), (POINT := 1 << POINT_BITS, -POINT, 3 * POINT), (POINT, -POINT, 3 * POINT), (int(HELD), 0, -int(HELD)))


def row_of(*numbers: float) -> Any:
    return np.array([numbers])


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.integers(1 << 4, 1 << 20), st.booleans())
def test_a_row_adds_to_one_cluster_and_no_more_than_its_units(
    row: tuple[float, float, float], radius: int, squares: bool
) -> None:
    offsets = ClusterOffsets(NearCenters(FRAME, CENTERS), radius, squares)
    raw_parts, raw_cells = offsets.split(tuple(offsets(row_of(*row)).tolist()))
    moved = [part.tolist() for part in raw_parts if part.any()]
    assert len(moved) == 1
    assert sum(each**2 for each in moved[0]) <= offsets.units**2
    assert moved[0][3] == offsets.count_units
    assert sum(raw_cells) in (0, 1)


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS), st.floats(1.0, 1e13))
def test_a_row_costs_from_nothing_to_all_steps(row: tuple[float, float, float], cap: float) -> None:
    raw_costs = CappedCosts(FRAME, (CENTERS, CENTERS[:1]), cap)(row_of(*row))
    assert 0 <= min(raw_costs) <= max(raw_costs) <= STEPS


@given(st.tuples(NUMBERS, NUMBERS, NUMBERS))
def test_squares_of_a_row_lie_within_the_ball(row: tuple[float, float, float]) -> None:
    limited = TableFrame((*FRAME.columns[:2], FrameColumn(0.0, 8.0, 9.0, 9.0)), 100, 1.0)
    assert sum(int(each) ** 2 for each in SquareParts(limited)(row_of(*row))) <= UNITS**2


def test_shares_are_whole_and_add_up_whatever_floats_do() -> None:
    near = NearCenters(FRAME, CENTERS[:2])
    for tiny in (1e-320, 1e-300, math.nan):
        components = Components(near, (0.5, 0.5), ((tiny, 1.0, 1.0), (tiny, 1.0, 1.0)))
        raw_shares = components.shares(np.array([[0.0, 0.0, 0.0], [HELD, -HELD, HELD], [math.inf, 0.0, 0.0]]))
        assert raw_shares.min() >= 0
        assert set(raw_shares.sum(axis=1).tolist()) == {SHARES}


def test_sums_are_those_of_a_loop_over_rows() -> None:
    raw_rows = np.random.default_rng(3).normal(0, 6, (200, 3))
    offsets = ClusterOffsets(NearCenters(FRAME, CENTERS), 3 << BALL_BITS, squares=True)
    expected = [[0] * 7 for _ in CENTERS]
    for raw_point in FRAME.points(raw_rows).tolist():
        held = [min(max(int(each), -int(HELD)), int(HELD)) for each in raw_point]
        costs = [sum((one - other) ** 2 for one, other in zip(held, center, strict=True)) for center in CENTERS]
        place = costs.index(min(costs))
        away = [one - other for one, other in zip(held, CENTERS[place], strict=True)]
        weight = min(1.0, (3 << POINT_BITS) / max(1.0, math.sqrt(costs[place])))
        inside = [math.trunc(each * (weight * 2.0 ** (BALL_BITS - POINT_BITS))) for each in away]
        squares = [each**2 // (6 << BALL_BITS) for each in inside]
        expected[place] = [sum(pair) for pair in zip(expected[place], [*inside, offsets.count_units, *squares], strict=True)]
    raw_parts, _ = offsets.split(tuple(offsets(raw_rows).tolist()))
    assert raw_parts.tolist() == expected
    assert raw_parts[2].tolist() == [0] * 7  # the first of two equal centers has all of its rows


def test_noise_in_parts_hides_lengths_that_add_up() -> None:
    """Two parts of one number each: the exact loss of moves (a, b) with |a| + |b| = units is at most epsilon, and reaches it."""
    units, epsilon = 4, Fraction(1)
    low, high = -60, 60
    here = discrete_laplace_law(0, units / epsilon, low, high)
    for first in range(units + 1):
        second = units - first
        moved = [discrete_laplace_law(move, units / epsilon, low, high) for move in (first, -second)]
        losses = [math.log(here[x] * here[y] / (moved[0][x] * moved[1][y])) for x in range(-20, 21, 5) for y in range(-20, 21, 5)]
        assert max(losses) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("kind", [PureClusterSplit, ConcentratedClusterSplit])
def test_noise_has_the_deviation_that_it_says_and_shares_add_up(kind: Any) -> None:
    budget = kind(Fraction(2), seeded(1))
    noisy, deviation = budget.noisy_parts(np.zeros((2000, 4), dtype=np.int64), 64, Fraction(1, 2))
    assert np.sqrt(np.mean(np.square(noisy))) == pytest.approx(deviation, rel=0.05)
    assert budget.left == Fraction(1, 2)
    with pytest.raises(Exception, match="cannot spend more"):
        budget.noisy_parts(np.zeros((1, 1), dtype=np.int64), 1, Fraction(2, 3))
