"""Sums over points: exact, the same in any company, and moved by no row further than they say."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE, RowSum
from dpstats.statistics.regression.families import PoissonOutcomes
from dpstats.statistics.regression.link_sums import ClippedOutcomes, Counts, CountSizes, LinkProducts, LinkScores
from dpstats.statistics.regression.points import BALL, Floats, Points, line_of
from dpstats.statistics.regression.quantile_steps import FARTHEST_REACH
from dpstats.statistics.regression.quantile_sums import PULL, Crossings, SignScores, Spreads
from dpstats.statistics.regression.steps import CUT_BITS
from dpstats.statistics.regression.sums import (
    ACROSS,
    ALONG,
    Products,
    ResidualLevels,
    Residuals,
    Scores,
    matrix_of,
    upper,
    weights_of_triangle,
)
from tests.statistics.regression.row_oracle import added_by_hand
from tests.statistics.regression.step_rows import (
    LARGEST_RADIUS,
    MagnitudeSum,
    added_by,
    adds_up,
    claims_of,
    keeps_claims,
    some_sums,
    ugly_rows,
)
from tests.twins.quantile_sums import OnceCrossed, UncutSigns, WideCrossings
from tests.twins.steps import (
    STEEP_ACROSS,
    STEEP_ALONG,
    FloatScores,
    LateScores,
    LeveragePoints,
    RoundedPoints,
    steep_weights_of_triangle,
)

SEEDS = range(12)
LinkSum = (LinkScores, LinkProducts, CountSizes, ClippedOutcomes, Counts)
PLAIN = Points((0.0, 0.0), (1.0, 1.0), True, None, 9270)
RESIDUALS = Residuals(PLAIN, 0.0, line_of(np.array([0.5, 1.0, -2.0])))
FAR: Floats = np.array([[1e6, 1e6, 1e9], [-40.0, 3.0, 1e9], [3.0, 3.0, -1e9], [-2.0, 2.0, math.inf], [0.1, 0.2, 0.3]])


def tables(seed: int) -> Iterator[tuple[str, RowSum, Floats]]:
    """Every kind of sum, with a table of ugly rows for it."""
    generator = np.random.default_rng(seed)
    features = (1, 2, 5)[seed % 3]
    for name, row_sum in some_sums(generator, features).sums.items():
        yield name, row_sum, ugly_rows(generator, int(generator.integers(0, 9)), features + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sum_is_what_it_is_by_hand(seed: int) -> None:
    for name, row_sum, raw_rows in tables(seed):
        if isinstance(row_sum, LinkSum):
            continue
        added = [added_by_hand(row_sum, row) for row in raw_rows.tolist()]
        nothing = np.zeros(len(row_sum(raw_rows)), dtype=object)
        assert row_sum(raw_rows).tolist() == sum((np.array(row, dtype=object) for row in added), nothing).tolist(), name


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sum_is_that_of_its_parts_however_rows_are_split_and_ordered(seed: int) -> None:
    generator = np.random.default_rng(seed)
    for name, row_sum, _ in tables(seed):
        columns = 2 if seed % 3 == 0 else 3 if seed % 3 == 1 else 6
        raw_rows = ugly_rows(generator, 23, columns)
        raw_before = raw_rows.copy()
        whole = row_sum(raw_rows)
        assert whole.dtype == np.int64
        cut = int(generator.integers(0, 24))
        assert np.array_equal(whole, row_sum(raw_rows[:cut]) + row_sum(raw_rows[cut:])), name
        assert np.array_equal(whole, row_sum(raw_rows[generator.permutation(23)])), name
        assert adds_up(row_sum, raw_rows), name
        assert np.array_equal(raw_rows, raw_before)


@pytest.mark.parametrize("seed", range(30))
def test_no_row_moves_a_sum_further_than_it_says(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    features = int(generator.choice([1, 2, 4]))
    raw_rows = ugly_rows(generator, 12, features + 1)
    for name, row_sum in some_sums(generator, features).sums.items():
        assert keeps_claims(row_sum, raw_rows), name


@settings(max_examples=40)
@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), st.integers(0, 30))
def test_and_none_that_anybody_can_think_of(row: list[float], seed: int) -> None:
    for name, row_sum in some_sums(np.random.default_rng(seed), 2).sums.items():
        assert isinstance(row_sum, MagnitudeSum) or keeps_claims(row_sum, np.array([row])), name


@pytest.mark.parametrize("seed", range(10))
def test_sums_of_neighbouring_tables_are_as_near_as_they_say(seed: int) -> None:
    generator = np.random.default_rng(200 + seed)
    raw_rows = ugly_rows(generator, 40, 3)
    place = int(generator.integers(40))
    for name, row_sum in some_sums(generator, 2).sums.items():
        raw_move = (row_sum(raw_rows) - row_sum(np.delete(raw_rows, place, axis=0))).tolist()
        assert all(claim.length_allows(raw_move) for claim in claims_of(row_sum)), name


def test_what_is_said_is_hardly_more_than_some_row_needs() -> None:
    scores = Scores(RESIDUALS, 9000, -14, products=True)
    sums: list[RowSum] = [Products(PLAIN), scores, ResidualLevels(RESIDUALS, 9000, -14)]
    rows = np.vstack([FAR, [[2.0302, 0.0, 1e9], [2.0302, 0.0, 2.5302], [0.0, 0.0, 1e9]]])
    for row_sum in sums:
        for claim in claims_of(row_sum):
            longest = max(claim.squared_length(raw_added) for raw_added in added_by(row_sum, rows))
            assert 0.97 * claim.l2_units**2 < longest <= claim.l2_units**2


def test_the_largest_outcomes_are_counted_without_a_warning() -> None:
    row = np.array([[0.0, 0.0, 1.7976931348623157e308]])
    counts = CountSizes(PLAIN, line_of(np.zeros(3)), PoissonOutcomes(2.0**-400, 3.0))
    assert counts(row).sum() == 1


# Broken twins


@pytest.mark.parametrize("kind", [LeveragePoints, RoundedPoints])
def test_points_that_leave_the_ball_are_refuted_in_products_and_scores(kind: type[Points]) -> None:
    points = kind(PLAIN.middles, PLAIN.scales, PLAIN.intercept, None, PLAIN.radius)
    residuals = replace(RESIDUALS, points=points)
    rows = np.vstack([FAR, np.random.default_rng(5).standard_t(1, (200, 3)) * [3, 3, 1e9]])
    assert keeps_claims(Products(PLAIN), rows)
    assert keeps_claims(Scores(RESIDUALS, 9000, -14, products=True), rows)
    assert not keeps_claims(Products(points), rows)
    assert kind is RoundedPoints or not keeps_claims(Scores(residuals, 9000, -14), rows)


def test_products_that_are_cut_off_one_by_one_are_refuted() -> None:
    assert keeps_claims(Scores(RESIDUALS, 9000, -14), FAR)
    assert not keeps_claims(LateScores(RESIDUALS, 9000, -14), FAR)


def test_a_triangle_with_weights_beyond_the_root_of_two_is_refuted() -> None:
    rows = np.vstack([FAR, [[0.9, 0.9, 0.0]]])
    points = replace(PLAIN, intercept=False)
    products = Products(points)
    assert keeps_claims(products, rows)
    assert not keeps_claims(products, rows, claims_of(products, steep_weights_of_triangle, STEEP_ALONG))
    assert ACROSS**2 <= 2 * ALONG**2
    assert STEEP_ACROSS**2 > 2 * STEEP_ALONG**2


def test_floats_added_up_in_the_order_of_rows_are_refuted() -> None:
    raw_rows = np.random.default_rng(6).normal(size=(300, 3))
    assert adds_up(Scores(RESIDUALS, 9000, -14), raw_rows)
    assert not adds_up(FloatScores(RESIDUALS, 9000, -14), raw_rows)


# Numbers that the proof rests on


def test_sums_over_as_many_rows_as_there_can_be_at_once_are_exact() -> None:
    points = Points((0.0,) * 40, (1.0,) * 40, True, None, LARGEST_RADIUS)
    cut = 2**CUT_BITS - 1
    residuals = Residuals(points, 0.0, line_of(np.zeros(41)))
    far = np.append(np.random.default_rng(7).normal(size=40) * 1e3, 1e30)
    sums: list[RowSum] = [
        Products(points),
        Scores(residuals, cut, -14, products=True),
        ResidualLevels(residuals, cut, -14),
    ]
    for row_sum in sums:
        one = row_sum(far[None, :]).tolist()
        assert row_sum(np.tile(far, (MOST_ROWS_AT_ONCE, 1))).tolist() == [MOST_ROWS_AT_ONCE * each for each in one]
    assert MOST_ROWS_AT_ONCE * max(cut * LARGEST_RADIUS, LARGEST_RADIUS**2) < 2**53
    assert ALONG * LARGEST_RADIUS**2 < 2**53


@pytest.mark.parametrize("strongest", [1, 3, 8191, 16383, *range(49, 32767, 997)])
def test_a_pull_over_the_strongest_pull_is_never_above_one(strongest: int) -> None:
    assert strongest * (1.0 / strongest) <= 1.0


def test_the_length_of_levels_is_the_root_of_eighteen_sixteenths_rounded_up() -> None:
    for cut in (1, 2, 31, 32, 8192, 16383):
        units = ResidualLevels(RESIDUALS, cut, 0).l2_units
        assert 16 * units**2 >= 18 * cut**2
        assert units <= 17 / 16 * cut + 1


def test_a_triangle_and_its_matrix_say_the_same() -> None:
    raw_vectors = np.array([[1.0, 2.0, -3.0], [0.0, 5.0, 7.0]])
    triangle = upper(raw_vectors)
    assert matrix_of(triangle.astype(np.float64), 3).tolist() == (raw_vectors.T @ raw_vectors).tolist()
    assert weights_of_triangle(3) == [ALONG, ACROSS, ACROSS, ALONG, ACROSS, ALONG]


def test_sums_can_be_sent_to_where_rows_are() -> None:
    raw_rows = ugly_rows(np.random.default_rng(8), 20, 3)
    for row_sum in some_sums(np.random.default_rng(9), 2).sums.values():
        sent = pickle.loads(pickle.dumps(row_sum))
        assert sent == row_sum
        assert np.array_equal(sent(raw_rows), row_sum(raw_rows))


# Quantiles


def test_signs_that_are_not_cut_off_are_refuted() -> None:
    points = Points((0.0,), (1.0,), intercept=True, radius=8192)
    spreads = Spreads(Residuals(points, 0.0, line_of(np.zeros(2))), line_of(np.array([0.1, 0.0])), 1.0, 8.0)
    rows = np.array([[0.5, 3.0]])
    assert not keeps_claims(UncutSigns(spreads, 0.02, 0), rows)
    assert keeps_claims(SignScores(spreads, 0.02, 0), rows)


def test_crossings_count_a_row_for_every_coordinate_that_brings_the_line_over_it_and_their_twins_are_refuted() -> None:
    rows = np.array([[40.0, 3.0, 34.5], [0.5, 0.0, -3.0]])  # one on the line, and one that no move of 0.3 reaches
    crossings = Crossings(RESIDUALS, 0.3)
    first, second = (np.array(raw_added).reshape(3, 3) for raw_added in added_by(crossings, rows))
    assert first.any(axis=1).all()
    assert not second.any()
    assert added_by(Crossings(RESIDUALS, 1.0), np.array([[0.5, 0.0, 1.9]]))[0] == [4096, 2048, 0] + [0] * 6
    assert keeps_claims(crossings, rows)
    assert not keeps_claims(OnceCrossed(RESIDUALS, 0.3), rows)
    assert not keeps_claims(WideCrossings(RESIDUALS, 0.3), rows)


def test_scores_and_crossings_of_as_many_rows_as_there_can_be_at_once_are_exact_within_the_farthest_reach() -> None:
    points = Points((0.0,) * 40, (1.0,) * 40, True, None, int(FARTHEST_REACH * BALL))
    residuals = Residuals(points, 0.0, line_of(np.zeros(41)))
    far = np.append(np.random.default_rng(7).normal(size=40) * 1e3, 1.0)
    spreads = Spreads(residuals, line_of(np.eye(41)[0]), 1.0, 8.0)
    for row_sum in (SignScores(spreads, 0.02, PULL), Crossings(residuals, 1.0)):
        one = row_sum(far[None, :]).tolist()
        assert any(one)
        assert row_sum(np.tile(far, (MOST_ROWS_AT_ONCE, 1))).tolist() == [MOST_ROWS_AT_ONCE * each for each in one]
    assert MOST_ROWS_AT_ONCE * 2 * PULL * points.radius < 2**53
