"""Sums that are cut off at a reach: the same in any company, and moved by no row further than they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE, RowSum
from dpstats.statistics.regression.families import StraightOutcomes
from dpstats.statistics.regression.points import POINT, Floats, Points, line_of
from dpstats.statistics.regression.reach_sums import (
    LENGTH,
    CurveLengths,
    CutCurves,
    CutScores,
    FarDirections,
    FullScores,
    Likelihood,
    ScoreLengths,
    unit_of,
)
from dpstats.statistics.regression.sums import matrix_of
from tests.statistics.regression.link_rows import some_families
from tests.statistics.regression.step_rows import adds_up, claims_of, keeps_claims, some_line, some_points, ugly_rows
from tests.twins.reach import LongestRowCurves, ResidualCutScores, UncheckedScores

REACHES = (2.0**-400, 1e-9, 0.3, 7.0, 1e6, 2.0**400)
PLAIN = Points((0.0, 0.0), (1.0, 1.0), True, None, 1)
LINE = line_of(np.array([0.5, 1.0, -1.5]))
STRAIGHT = FullScores(PLAIN, LINE, StraightOutcomes(0.25))


def some_sums(generator: np.random.Generator, features: int) -> dict[str, RowSum]:
    """One of every kind for every likelihood."""
    points = some_points(generator, features)
    line = some_line(generator, points.coordinates)
    sums: dict[str, RowSum] = {}
    likelihoods: list[Likelihood] = [StraightOutcomes(float(generator.normal())), *some_families(generator)]
    for likelihood in likelihoods:
        scores, name = FullScores(points, line, likelihood), type(likelihood).__name__
        reach = float(generator.choice(REACHES))
        sums |= {
            f"{name} score lengths": ScoreLengths(scores),
            f"{name} curve lengths": CurveLengths(scores),
            f"{name} scores": CutScores(scores, reach),
            f"{name} scores and products": CutScores(scores, reach, products=True),
            f"{name} curves": CutCurves(scores, reach),
            f"{name} far": FarDirections(scores, reach),
        }
    return sums


@pytest.mark.parametrize("seed", range(8))
def test_every_sum_is_that_of_its_parts_however_rows_are_split_and_ordered(seed: int) -> None:
    generator = np.random.default_rng(seed)
    features = (1, 2, 5)[seed % 3]
    raw_rows = ugly_rows(generator, 23, features + 1)
    for name, row_sum in some_sums(generator, features).items():
        whole = row_sum(raw_rows)
        assert whole.dtype == np.int64
        cut = int(generator.integers(0, 24))
        assert np.array_equal(whole, row_sum(raw_rows[:cut]) + row_sum(raw_rows[cut:])), name
        assert np.array_equal(whole, row_sum(np.asfortranarray(raw_rows)[generator.permutation(23)])), name
        assert not row_sum(raw_rows[:0]).any()
        assert adds_up(row_sum, raw_rows), name


@pytest.mark.parametrize("seed", range(16))
def test_no_row_moves_a_sum_further_than_it_says(seed: int) -> None:
    generator = np.random.default_rng(100 + seed)
    features = int(generator.choice([1, 2, 4]))
    for name, row_sum in some_sums(generator, features).items():
        assert keeps_claims(row_sum, ugly_rows(generator, 12, features + 1)), name


@given(st.lists(st.floats(allow_nan=False), min_size=3, max_size=3), st.integers(0, 30))
def test_and_none_that_anybody_can_think_of(row: list[float], seed: int) -> None:
    for name, row_sum in some_sums(np.random.default_rng(seed), 2).items():
        assert keeps_claims(row_sum, np.array([row])), name


def test_within_the_reach_they_are_the_scores_and_curvatures_of_least_squares() -> None:
    raw_rows = np.random.default_rng(1).normal(size=(500, 3))
    design = np.column_stack([np.ones(500), raw_rows[:, :2]])
    residuals = raw_rows[:, 2] - 0.25 - design @ LINE.values
    reach = 50.0
    unit = unit_of(reach, 3)
    found = CutScores(STRAIGHT, reach, products=True)(raw_rows)
    scores = design * residuals[:, None]
    assert found[:3] * unit == pytest.approx(scores.sum(axis=0), abs=0.05)
    assert matrix_of(found[3:] * unit**2, 3) == pytest.approx(scores.T @ scores, rel=1e-3, abs=0.5)
    curves = CutCurves(STRAIGHT, reach)(raw_rows)
    assert matrix_of(curves * unit**2, 3) == pytest.approx(design.T @ design, rel=1e-3, abs=0.5)
    lengths = np.sqrt(np.square(design).sum(axis=1))
    far = design[lengths > 2.0] / lengths[lengths > 2.0, None]
    directions = FarDirections(STRAIGHT, 2.0)(raw_rows)
    assert matrix_of(directions * unit_of(1.0, 3) ** 2, 3) == pytest.approx(far.T @ far, rel=1e-3, abs=0.05)


def test_a_row_at_the_reach_is_nearly_as_long_as_is_said() -> None:
    raw_rows = np.array([[3.0, -2.0, 1e300]])
    (*score,) = CutScores(STRAIGHT, 7.0)(raw_rows).tolist()
    assert LENGTH - 6 < math.hypot(*score) <= LENGTH


def test_as_many_rows_as_an_engine_shows_at_once_are_added_up_exactly() -> None:
    raw_row = np.array([[POINT, -POINT, 1e300]])
    for row_sum in (CutScores(STRAIGHT, 7.0, products=True), CutCurves(STRAIGHT, 1e-9)):
        assert np.array_equal(row_sum(np.repeat(raw_row, MOST_ROWS_AT_ONCE, axis=0)), MOST_ROWS_AT_ONCE * row_sum(raw_row))


@pytest.mark.parametrize(
    ("twin", "raw_row"),
    [
        (ResidualCutScores(STRAIGHT, 1.0), [1e3, 1e3, 1e3]),
        (LongestRowCurves(STRAIGHT, 2.0), [30.0, 0.0, 0.0]),
        (UncheckedScores(STRAIGHT, 7.0), [0.31, 0.77, 1e9]),
    ],
)
def test_twins_are_refuted(twin: RowSum, raw_row: list[float]) -> None:
    raw_rows: Floats = np.vstack([np.zeros((20, 3)), np.random.default_rng(4).normal(size=(200, 3)), raw_row])
    raw_rows[20:-1, 2] = 1e9
    moves = [(twin(raw_rows) - twin(np.delete(raw_rows, place, axis=0))).tolist() for place in range(len(raw_rows))]
    assert not all(claim.length_allows(move) for move in moves for claim in claims_of(twin))
