"""Points: a row's alone, whole, and within the ball; lines that give exact numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.regression.points import (
    BALL,
    FARTHEST,
    LARGEST,
    POINT,
    STEEPEST,
    TURN_BITS,
    Floats,
    Points,
    WholeLine,
    line_of,
    whole_turn,
)
from dpstats.statistics.regression.shares import MOST_RADIUS
from dpstats.statistics.step_regressions import MOST_FEATURES
from tests.statistics.regression.row_oracle import ball_by_hand, line_by_hand, point_by_hand, weight_by_hand
from tests.statistics.regression.step_rows import LARGEST_RADIUS, MOST_COORDINATES, some_line, some_points, ugly_rows
from tests.twins.steps import LeveragePoints, RoundedPoints

SEEDS = range(40)
CELL = st.floats(allow_nan=False)


def in_ball(points: Points, raw_rows: Floats) -> bool:
    """Whether all bounded points lie within the ball, in Python's whole numbers."""
    raw_points = points.of(raw_rows)
    raw_ball = points.bounded(raw_points, points.weights(raw_points))
    return all(sum(int(each) ** 2 for each in row) <= points.radius**2 for row in raw_ball.tolist())


def random_points(seed: int) -> tuple[Points, Floats]:
    generator = np.random.default_rng(seed)
    features = int(generator.choice([1, 2, 3, 7, 40]))
    return some_points(generator, features), ugly_rows(generator, 30, features + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_points_weights_and_the_ball_are_what_they_are_by_hand(seed: int) -> None:
    points, raw_rows = random_points(seed)
    raw_points = points.of(raw_rows)
    raw_weights = points.weights(raw_points)
    by_hand = [point_by_hand(points, row) for row in raw_rows.tolist()]
    assert raw_points.tolist() == by_hand
    assert raw_weights.tolist() == [weight_by_hand(points, point) for point in by_hand]
    assert points.bounded(raw_points, raw_weights).tolist() == [ball_by_hand(points, point) for point in by_hand]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_becomes_the_same_bits_in_any_company(seed: int) -> None:
    points, raw_rows = random_points(seed)
    line = some_line(np.random.default_rng(seed), points.coordinates)
    order = np.random.default_rng(seed).permutation(len(raw_rows))

    def made_of(raw_some: Floats) -> list[bytes]:
        raw_points = points.of(raw_some)
        raw_weights = points.weights(raw_points)
        raw_made = np.column_stack([raw_points, raw_weights, points.bounded(raw_points, raw_weights), line.at(raw_points)])
        return [raw_row.tobytes() for raw_row in raw_made]

    together = made_of(raw_rows)
    assert made_of(raw_rows[order]) == [together[place] for place in order]
    assert [made_of(raw_rows[place : place + 1])[0] for place in range(len(raw_rows))] == together
    assert made_of(np.asfortranarray(raw_rows)) == together


@given(st.lists(CELL, min_size=4, max_size=4), st.integers(0, 50))
def test_no_row_leaves_the_ball(row: list[float], seed: int) -> None:
    points = some_points(np.random.default_rng(seed), 3)
    assert in_ball(points, np.array([row]))


@given(st.lists(CELL, min_size=4, max_size=4), st.integers(0, 50))
def test_no_row_becomes_anything_but_whole_numbers_that_are_small_enough(row: list[float], seed: int) -> None:
    raw_points = some_points(np.random.default_rng(seed), 3).of(np.array([row]))
    assert np.all(raw_points == np.rint(raw_points))
    assert np.all(np.abs(raw_points) <= FARTHEST)


@pytest.mark.parametrize("kind", [LeveragePoints, RoundedPoints])
def test_points_that_forget_the_ball_or_look_at_it_before_rounding_are_refuted(kind: type[Points]) -> None:
    found = []
    for seed in range(10):
        generator = np.random.default_rng(seed)
        points = kind((0.0, 0.0), (1.0, 1.0), True, None, 9270)
        found.append(in_ball(points, generator.standard_t(1, (60, 3)) * 5))
    assert not any(found)


def test_points_within_the_ball_stay_where_they_are_and_others_keep_their_direction() -> None:
    points = Points((0.0, 0.0), (1.0, 1.0), False, None, round(2 * BALL))
    raw_points = points.of(np.array([[0.5, -1.0, 0.0], [30.0, 40.0, 0.0]]))
    raw_ball = points.bounded(raw_points, points.weights(raw_points)) / BALL
    assert raw_ball[0].tolist() == [0.5, -1.0]
    assert raw_ball[1] == pytest.approx([1.2, 1.6], abs=1 / BALL)


def test_rows_are_left_as_they_are() -> None:
    raw_rows = ugly_rows(np.random.default_rng(1), 50, 3)
    raw_rows.flags.writeable = False
    assert some_points(np.random.default_rng(2), 2).of(raw_rows).shape[0] == 50


# Numbers that the proof rests on


def test_sums_of_the_largest_numbers_are_below_two_to_the_53() -> None:
    assert MOST_COORDINATES == MOST_FEATURES + 1
    assert MOST_COORDINATES * FARTHEST * STEEPEST < 2**53
    assert MOST_COORDINATES * FARTHEST**2 < 2**53
    assert math.floor(MOST_RADIUS * math.sqrt(MOST_COORDINATES) * BALL) <= LARGEST_RADIUS <= 2**17


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_turn_of_the_farthest_row_is_exact(sign: int) -> None:
    generator = np.random.default_rng(4)
    turn = STEEPEST - generator.integers(0, 3, (MOST_COORDINATES, MOST_COORDINATES)).astype(np.float64)
    points = Points((0.0,) * 40, (1.0,) * 40, True, whole_turn(np.ldexp(turn, -TURN_BITS)))
    raw_rows = np.full((5, 41), sign * 1e9)
    raw_points = points.of(raw_rows)
    assert raw_points.tolist() == [point_by_hand(points, row) for row in raw_rows.tolist()]
    raw_plain = Points((0.0,) * 40, (1.0,) * 40, True).of(raw_rows)
    exact = [sum(int(a) * int(b) for a, b in zip(raw_plain[0], column, strict=True)) for column in turn.T]
    assert (raw_plain @ turn)[0].tolist() == exact


@pytest.mark.parametrize(
    "coefficients",
    [[0.0, 0.0], [1.0, -0.3], [1e-320, 0.0], [1e125, 1.0], [1e300, -1e308], [math.inf, 1.0], [-math.inf, math.inf]],
)
def test_a_line_has_small_whole_steps_and_gives_finite_numbers_whatever_the_coefficients(coefficients: list[float]) -> None:
    line = line_of(np.array(coefficients))
    assert max(map(abs, line.steps)) <= 2**24
    raw_points = np.array([[FARTHEST, FARTHEST], [-FARTHEST, FARTHEST], [POINT, 0.0]])
    given = line.at(raw_points)
    assert np.all(np.isfinite(given))
    assert given.tolist() == [line_by_hand(line, [int(each) for each in point]) for point in raw_points.tolist()]
    held = np.clip(coefficients, -LARGEST, LARGEST)
    assert line.values == pytest.approx(held, rel=0, abs=float(np.max(np.abs(held))) * 2**-22 + 2.0**-999)


def test_the_longest_line_at_the_farthest_row_is_exact() -> None:
    line = WholeLine(tuple([2**24 - 1] * MOST_COORDINATES), -30)
    raw_points = np.full((1, MOST_COORDINATES), FARTHEST - 1)
    assert Fraction(float(line.at(raw_points)[0])) == Fraction(MOST_COORDINATES * (2**24 - 1) * (2**23 - 1), 2**30)


def test_coefficients_of_turned_points_are_turned_back() -> None:
    points = Points((0.0,), (1.0,), True, whole_turn(np.array([[1.0, 0.5], [0.25, 2.0]])))
    raw_rows = np.array([[3.0, 0.0], [-1.5, 0.0]])
    place = np.array([0.75, -0.5])
    plain = np.column_stack([np.ones(2), raw_rows[:, 0]])
    assert points.of(raw_rows) @ place / POINT == pytest.approx(plain @ points.turned @ place, abs=1e-4)


def test_a_turn_is_cut_off_at_the_steepest() -> None:
    assert whole_turn(np.array([[1e9, -math.inf], [1.0, 0.0]])) == ((2**24, -(2**24)), (2**14, 0))
