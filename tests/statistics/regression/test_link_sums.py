"""Sums of regressions with a link: exact, the same in any company, and moved by no row further than they say."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE, RowSum
from dpstats.statistics.regression.families import LogisticOutcomes, OutcomeFamily, PoissonOutcomes
from dpstats.statistics.regression.link_sums import PULL, ClippedOutcomes, LinkProducts, LinkScores, OutcomePoints
from dpstats.statistics.regression.points import Floats, Points, line_of
from dpstats.statistics.regression.shares import MOST_RADIUS
from tests.statistics.regression.link_rows import claims_of_any, link_added_by_hand, some_link_sums
from tests.statistics.regression.step_rows import LARGEST_RADIUS, added_by, adds_up, keeps_claims, ugly_rows
from tests.twins.links import NarrowProducts, StretchedOutcomes, UncutPoisson
from tests.twins.steps import LeveragePoints

SEEDS = range(8)
PLAIN = Points((0.0, 0.0), (1.0, 1.0), True, None, 9270)
LINE = line_of(np.array([0.5, 1.0, -1.5]))
COUNTS = OutcomePoints(PLAIN, LINE, PoissonOutcomes(2.0, 3.0))
MARKS = OutcomePoints(PLAIN, LINE, LogisticOutcomes())
ROWS: Floats = np.array(
    [
        [1.0, -1.0, 40.0],
        [0.2, 0.1, 300.0],
        [6.0, -6.0, 0.0],
        [-40.0, 3.0, 1.0],
        [1e9, -1e9, 1e6],
        [0.5, 0.67, 1.0],
        [0.0, 1e9, 0.0],
    ]
)


def keeps(row_sum: RowSum, raw_rows: Floats) -> bool:
    return keeps_claims(row_sum, raw_rows, claims_of_any(row_sum))


def with_counts(generator: np.random.Generator, raw_rows: Floats) -> Floats:
    """Ugly rows, half of which have an ordinary outcome."""
    raw_rows[::2, -1] = generator.poisson(2.0, len(raw_rows[::2]))
    return raw_rows


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sum_is_what_it_is_by_hand(seed: int) -> None:
    generator = np.random.default_rng(seed)
    features = (1, 2, 5)[seed % 3]
    raw_rows = with_counts(generator, ugly_rows(generator, 9, features + 1))
    for name, row_sum in some_link_sums(generator, features).items():
        by_hand = [link_added_by_hand(row_sum, row) for row in raw_rows.tolist()]
        assert added_by(row_sum, raw_rows) == by_hand, name


@pytest.mark.parametrize("seed", SEEDS)
def test_every_sum_is_that_of_its_parts_however_rows_are_split_and_ordered(seed: int) -> None:
    generator = np.random.default_rng(50 + seed)
    features = (1, 2, 5)[seed % 3]
    raw_rows = with_counts(generator, ugly_rows(generator, 23, features + 1))
    raw_before = raw_rows.copy()
    for name, row_sum in some_link_sums(generator, features).items():
        whole = row_sum(raw_rows)
        assert whole.dtype == np.int64
        cut = int(generator.integers(0, 24))
        assert np.array_equal(whole, row_sum(raw_rows[:cut]) + row_sum(raw_rows[cut:])), name
        assert np.array_equal(whole, row_sum(np.asfortranarray(raw_rows)[generator.permutation(23)])), name
        assert not row_sum(raw_rows[:0]).any()
        assert adds_up(row_sum, raw_rows), name
    assert np.array_equal(raw_rows, raw_before)


@pytest.mark.parametrize("seed", range(16))
def test_no_row_moves_a_sum_further_than_it_says(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    features = int(generator.choice([1, 2, 4]))
    raw_rows = with_counts(generator, ugly_rows(generator, 12, features + 1))
    for name, row_sum in some_link_sums(generator, features).items():
        assert keeps(row_sum, raw_rows), name


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), st.integers(0, 30))
def test_and_none_that_anybody_can_think_of(row: list[float], seed: int) -> None:
    row_sums = some_link_sums(np.random.default_rng(seed), 2)
    for name in (
        "LogisticOutcomes scores and products",
        "LogisticOutcomes products",
        "PoissonOutcomes scores and products",
        "PoissonOutcomes products",
        "shares",
    ):
        assert keeps(row_sums[name], np.array([row])), name


@pytest.mark.parametrize("seed", range(6))
def test_sums_of_neighbouring_tables_are_as_near_as_they_say(seed: int) -> None:
    generator = np.random.default_rng(200 + seed)
    raw_rows = with_counts(generator, ugly_rows(generator, 40, 3))
    raw_fewer = np.delete(raw_rows, int(generator.integers(40)), axis=0)
    for name, row_sum in some_link_sums(generator, 2).items():
        raw_move = (row_sum(raw_rows) - row_sum(raw_fewer)).tolist()
        assert all(claim.length_allows(raw_move) for claim in claims_of_any(row_sum)), name


def test_what_is_said_is_hardly_more_than_some_row_needs() -> None:
    level, even = (replace(outcomes, line=line_of(np.zeros(3))) for outcomes in (MARKS, COUNTS))
    far = replace(MARKS, line=line_of(np.array([-30.0, 0.0, 0.0])))
    raw_rows = np.array([[1.2, 1.6301, 1.0], [2.0302, 0.0, 1.0], [2.0302, 0.0, 1e9]])
    for row_sum in (
        LinkScores(far, products=True),
        LinkProducts(level),
        LinkScores(even, products=True),
        LinkProducts(COUNTS),
        ClippedOutcomes(),
    ):
        for claim in claims_of_any(row_sum):
            longest = max(claim.squared_length(raw_added) for raw_added in added_by(row_sum, np.vstack([raw_rows, ROWS])))
            assert 0.95 * claim.l2_units**2 < longest <= claim.l2_units**2


def test_logistic_scores_of_points_within_the_ball_are_those_of_the_likelihood() -> None:
    generator = np.random.default_rng(3)
    points = replace(PLAIN, radius=1 << 15)
    raw_rows = np.column_stack([generator.normal(size=(500, 2)), generator.integers(0, 2, 500)])
    design = np.column_stack([np.ones(500), raw_rows[:, :2]])
    probabilities = 1 / (1 + np.exp(-design @ LINE.values))
    outcomes = OutcomePoints(points, LINE, LogisticOutcomes())
    score = LinkScores(outcomes)(raw_rows) / (PULL * 4096)
    assert score == pytest.approx(design.T @ (raw_rows[:, 2] - probabilities), abs=0.5)
    curved = LinkProducts(outcomes)(raw_rows) / 4096**2
    information = (design * (probabilities * (1 - probabilities))[:, None]).T @ design
    assert curved == pytest.approx(information[np.triu_indices(3)], abs=0.5)


# Broken twins


def test_counts_that_are_not_cut_off_are_refuted() -> None:
    assert keeps(LinkScores(COUNTS), ROWS)
    assert not keeps(LinkScores(replace(COUNTS, family=UncutPoisson(2.0, 3.0))), ROWS)


@pytest.mark.parametrize("kind", [LinkScores, LinkProducts])
def test_points_that_are_stretched_after_the_ball_are_refuted(kind: type[LinkScores] | type[LinkProducts]) -> None:
    stretched = StretchedOutcomes(PLAIN, LINE, COUNTS.family)
    raw_rows = np.column_stack([ROWS[:4, :2], np.full(4, math.inf)])
    assert keeps(kind(COUNTS), raw_rows)
    assert not keeps(kind(stretched), raw_rows)


def test_products_in_a_ball_that_shrinks_by_the_curvature_are_refuted() -> None:
    level = replace(MARKS, line=line_of(np.zeros(3)))
    assert keeps(LinkProducts(level), ROWS)
    assert not keeps(NarrowProducts(level), ROWS)


@pytest.mark.parametrize("family", [LogisticOutcomes(), PoissonOutcomes(2.0, 3.0)])
def test_points_without_a_ball_are_refuted(family: OutcomeFamily) -> None:
    points = LeveragePoints(PLAIN.middles, PLAIN.scales, PLAIN.intercept, None, PLAIN.radius)
    outcomes = OutcomePoints(points, line_of(np.zeros(3)), family)
    for row_sum in (LinkScores(outcomes), LinkProducts(outcomes)):
        assert keeps(replace(row_sum, outcomes=replace(outcomes, points=PLAIN)), ROWS)
        assert not keeps(row_sum, ROWS)


# Numbers that the proof rests on


@pytest.mark.parametrize("family", [LogisticOutcomes(), PoissonOutcomes(2.0, 3.0)])
def test_sums_over_as_many_rows_as_there_can_be_at_once_are_exact(family: OutcomeFamily) -> None:
    points = Points((0.0,) * 40, (1.0,) * 40, True, None, LARGEST_RADIUS)
    outcomes = OutcomePoints(points, line_of(np.zeros(41)), family)
    far = np.append(np.random.default_rng(7).normal(size=40) * 1e3, 1e30)
    sums: list[RowSum] = [LinkScores(outcomes, products=True), LinkProducts(outcomes), ClippedOutcomes()]
    for row_sum in sums:
        one = row_sum(far[None, :]).tolist()
        assert row_sum(np.tile(far, (MOST_ROWS_AT_ONCE, 1))).tolist() == [MOST_ROWS_AT_ONCE * each for each in one]


def test_the_largest_sums_are_below_two_to_the_fifty_third() -> None:
    assert math.floor(MOST_RADIUS * math.sqrt(41) * 2**12) == LARGEST_RADIUS
    assert MOST_ROWS_AT_ONCE * max(PULL * LARGEST_RADIUS, LARGEST_RADIUS**2, PULL) < 2**53
    assert math.frexp(PULL)[0] == 0.5, "a pull over PULL is exact"


@pytest.mark.parametrize("family", [LogisticOutcomes(), PoissonOutcomes(1.0, 3.0)])
def test_half_the_ball_is_rounded_up(family: OutcomeFamily) -> None:
    for radius in (1, 2, 3, 9270, 9271):
        products = LinkProducts(OutcomePoints(replace(PLAIN, radius=radius), LINE, family))
        assert radius <= products.radius * family.most_curved < radius + family.most_curved


def test_sums_can_be_sent_to_where_rows_are() -> None:
    raw_rows = ugly_rows(np.random.default_rng(8), 20, 3)
    for row_sum in some_link_sums(np.random.default_rng(9), 2).values():
        sent = pickle.loads(pickle.dumps(row_sum))
        assert sent == row_sum
        assert np.array_equal(sent(raw_rows), row_sum(raw_rows))
