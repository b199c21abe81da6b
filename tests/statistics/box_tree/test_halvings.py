"""Halvings: every row has one path, boxes of a depth share space between them, and sides suit what a column holds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dpstats.statistics.box_tree.halvings import BoxSide, Halvings, PathCounts, box_side
from tests.twins.box_trees import raw_sides

SQUARE = Halvings.of([BoxSide(0.0, 8.0, 1.0), BoxSide(-1.0, 3.0, 1.0)], 5)
numbers = st.floats(allow_nan=False, width=64)


def test_the_widest_side_is_halved_first() -> None:
    assert SQUARE.axes == (0, 0, 1, 0, 1)
    assert SQUARE.cuts == (3, 2)
    assert Halvings.of([BoxSide(0.0, 8.0, 4.0), BoxSide(-1.0, 3.0, 1.0)], 3).axes == (1, 0, 1)


def test_a_side_is_halved_as_often_as_it_may_be() -> None:
    assert Halvings.of([BoxSide(0.0, 8.0, 1.0, 1), BoxSide(0.0, 1.0, 1.0, 2)], 16).axes == (0, 1, 1)


def test_paths_lead_to_the_box_in_which_a_point_lies() -> None:
    points = np.random.default_rng(1).uniform((0, -1), (8, 3), (500, 2))
    paths = SQUARE.paths(points)
    for depth in range(6):
        lows, highs = SQUARE.corners(np.full(500, depth), paths >> (5 - depth))
        assert ((lows <= points) & (points < highs)).all()
        assert np.prod(highs - lows, axis=1) == pytest.approx(32 / 2**depth)


@given(st.lists(st.tuples(numbers, numbers), max_size=20))
def test_every_row_is_counted_once_and_by_itself(rows: list[tuple[float, float]]) -> None:
    raw_rows = np.array(rows).reshape(-1, 2)
    counts = PathCounts(SQUARE)(raw_rows)
    assert counts.shape == (32,)
    assert (counts == sum((PathCounts(SQUARE)(row[np.newaxis]) for row in raw_rows), np.zeros(32, dtype=int))).all()
    assert counts.sum() == len(rows)


def test_rows_beyond_the_limits_lie_in_the_outer_boxes() -> None:
    far = np.array([[-math.inf, math.inf], [1e308, -1e308]])
    assert (SQUARE.paths(far) == SQUARE.paths(np.array([[0.0, 3.0], [8.0, -1.0]]))).all()


@given(numbers, numbers, st.floats(0, 1e308), st.booleans())
@example(0.0, 5e-324, 0.0, False)
def test_any_limits_make_a_side_that_can_be_halved(one: float, other: float, unit: float, whole: bool) -> None:
    low, high = sorted((one, other))
    side = box_side(low, high, unit, whole=whole)
    assert math.isfinite(side.width)
    assert side.low < side.low + side.width / 2 < side.high
    assert 0 < side.unit <= side.width
    halvings = Halvings.of([side])
    ends = halvings.paths(np.array([[side.low], [side.high]]))
    assert ends.tolist() == [0, (1 << halvings.depth) - 1]


@given(st.integers(-(10**6), 10**6), st.integers(0, 10**5))
def test_boxes_of_whole_numbers_are_cut_between_them(low: int, span: int) -> None:
    side = box_side(low, low + span, 1.0, whole=True)
    assert side.low < low
    assert low + span < side.high
    assert side.width == 2**side.most
    lows, highs = Halvings.of([side]).corners(np.array([1, 1]), np.array([0, 1]))
    assert float(highs[0, 0]) % 1 == 0.5 or side.width == 1
    assert highs[0, 0] == lows[1, 0]


def test_halvings_come_back_from_their_plain_form() -> None:
    assert Halvings.from_dict(SQUARE.to_dict()) == SQUARE


def test_the_twin_with_sides_of_the_rows_tells_one_row() -> None:
    rows = np.random.default_rng(2).normal(size=(50, 2))
    assert raw_sides(rows) != raw_sides(np.vstack([rows, [9.0, 9.0]]))  # sides are released: one row is told for sure
