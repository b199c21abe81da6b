"""Bounded scores: what one row adds lies in the ball, and sums are sums of what single rows add."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE
from dpstats.statistics.aggregation.row_blocks import Floats
from dpstats.statistics.likelihood.bounded_scores import BOUNDS, L2_UNITS, BoundedScores, Stand, lengths_of
from dpstats.statistics.likelihood.coordinates import Coordinates
from dpstats.statistics.likelihood.counts import Poisson
from dpstats.statistics.likelihood.gamma import Gamma
from dpstats.statistics.likelihood.normal import Normal
from dpstats.statistics.likelihood.public_rows import SIMULATED, public_rows
from tests.statistics.likelihood.score_rows import WITH_SCORES, Case, engine_sheet
from tests.twins.likelihood import MeanScores, UnboundedScores

every_case = pytest.mark.parametrize("case", WITH_SCORES, ids=str)
PLAIN = Case(Gamma())


def is_in_the_ball(part: Any) -> bool:
    """Whether what a row adds is no longer than is claimed, and counts it once at most."""
    *whole, counted = map(int, part)
    return sum(each**2 for each in whole) <= L2_UNITS**2 and counted in (0, 1)


def parts_of(scores: BoundedScores, rows: Floats) -> list[Any]:
    """What each row adds."""
    return [scores(engine_sheet(rows[place : place + 1])) for place in range(len(rows))]


def is_sum_of_parts(scores: BoundedScores, rows: Floats) -> bool:
    """Whether sums over rows, in their order and in others, whole and in pieces, are those of what single rows add."""
    total = np.sum(parts_of(scores, rows), axis=0).tolist()
    orders = [rows, rows[::-1], rows[np.random.default_rng(2).permutation(len(rows))]]
    wholes = [scores(engine_sheet(order)).tolist() for order in orders]
    pieces = [scores(engine_sheet(rows[:cut])) + scores(engine_sheet(rows[cut:])) for cut in (0, 1, 7, len(rows) - 3)]
    return all(found == total for found in [*wholes, *(piece.tolist() for piece in pieces)])


def holds(scores: BoundedScores, rows: Floats) -> bool:
    return all(map(is_in_the_ball, parts_of(scores, rows))) and is_sum_of_parts(scores, rows)


@every_case
def test_a_row_stays_in_the_ball_and_is_by_itself_at_ordinary_parameters(case: Case) -> None:
    rows = np.vstack([case.ugly_rows(), case.rows(12)])
    for bound in (BOUNDS[0], BOUNDS[-1] * 3):
        for scores in case.scores(case.theta, bound):
            assert holds(scores, rows)


@every_case
def test_a_row_stays_in_the_ball_and_is_by_itself_at_absurd_parameters(case: Case) -> None:
    rows = np.vstack([case.ugly_rows()[::3], case.rows(3)])
    for theta in case.absurd():
        for scores in case.scores(theta):
            assert holds(scores, rows)


@every_case
def test_ordinary_rows_have_scores_and_are_counted(case: Case) -> None:
    rows, scores = case.rows(50), next(case.scores(case.theta * 1.01))  # at a whole number, a count may have the score 0
    assert scores(rows)[-1] == 50
    assert not np.any(scores(rows[:0]))


@pytest.mark.parametrize("twin", [UnboundedScores, MeanScores])
def test_twins_without_the_ball_or_with_a_mean_are_refuted(twin: Any) -> None:
    rows = np.vstack([PLAIN.ugly_rows(), PLAIN.rows(12)])
    for scores in PLAIN.scores(PLAIN.theta):
        broken = twin(scores.family, scores.theta, scores.turn, scores.bound)
        assert holds(scores, rows)
        assert not holds(broken, rows)


def test_scores_at_the_bound_are_almost_as_long_as_the_ball_is_wide() -> None:
    for case in WITH_SCORES:
        (far, *_) = (parts_of(scores, case.rows(30)) for scores in case.scores(case.theta, bound=1e-6))
        lengths = [np.linalg.norm(part[:-1]) for part in far if part[-1]]
        assert L2_UNITS - 2 * len(case.theta) < min(lengths) <= max(lengths) <= L2_UNITS


def test_a_score_that_rounding_makes_too_long_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(BoundedScores, "unit", L2_UNITS + 2)
    (scores, *_) = PLAIN.scores(PLAIN.theta, bound=1e-6)
    *whole, counted = scores(PLAIN.rows(40))
    assert (whole, counted) == ([0, 0], 40)


def test_a_full_sheet_of_the_largest_scores_is_added_up_exactly() -> None:
    (scores, *_) = Case(Normal()).scores(np.array([0.0, 1.0]), bound=1e-6)
    one = scores(np.array([[7.0]]))
    assert scores(np.full((MOST_ROWS_AT_ONCE, 1), 7.0)).tolist() == (one * MOST_ROWS_AT_ONCE).tolist()
    assert MOST_ROWS_AT_ONCE * L2_UNITS < 2**53


@every_case
def test_turned_scores_have_about_the_identity_as_covariance_and_expectations_fit_them(case: Case) -> None:
    stand = Stand(case.family, Coordinates(case.family.space), case.theta)
    plain = stand.scores(np.inf).turned(case.rows(20_000))
    assert np.atleast_2d(np.cov(plain.T, ddof=0)) == pytest.approx(np.eye(len(case.theta)), abs=0.25)
    expected = stand.expected[2]
    held = plain * np.minimum(1, expected.bound / np.maximum(lengths_of(plain), 1e-300))[:, None]
    assert held.mean(axis=0) == pytest.approx(expected.mean, abs=0.05)


def test_public_rows_are_the_same_every_time_and_follow_the_law() -> None:
    first, again = (public_rows(Gamma(), np.array([2.0, 3.0])) for _ in range(2))
    assert np.array_equal(first.rows, again.rows)
    assert first.weights.sum() == pytest.approx(1, abs=1e-12)
    assert first.weights @ first.rows[:, 0] == pytest.approx(6, rel=1e-7)
    assert first.weights @ first.rows[:, 0] ** 2 == pytest.approx(54, rel=1e-6)
    counts = public_rows(Poisson(), np.array([3.0]))
    assert counts.weights[:3] == pytest.approx([math.exp(-3), 3 * math.exp(-3), 4.5 * math.exp(-3)], rel=1e-12)
    assert counts.weights @ counts.rows[:, 0] == pytest.approx(3, rel=1e-9)
    mixture = next(case for case in WITH_SCORES if "mixture" in str(case))
    simulated = public_rows(mixture.family, mixture.theta)
    assert (len(simulated.rows), simulated.simulated) == (SIMULATED, True)
    assert np.array_equal(simulated.rows, public_rows(mixture.family, mixture.theta).rows)
