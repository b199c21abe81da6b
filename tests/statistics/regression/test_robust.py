"""The robust regression as it is asked for: rows as whole numbers, frames from votes, replies and refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

import dpstats as dp
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.registry import ask, find_statistic
from dpstats.foundations.summaries import Table
from dpstats.statistics import robust_regression
from dpstats.statistics.regression import vote_frames
from dpstats.statistics.regression.cell_search import StableCell, cells_around
from dpstats.statistics.regression.cell_tests import SIDE
from dpstats.statistics.regression.ratios import (
    LARGEST_OFFSET,
    LARGEST_PLACE,
    UNIT,
    CoefficientFrame,
    Floats,
    RawRatios,
    raw_ratios,
)
from dpstats.statistics.regression.vote_frames import draw_frame
from dpstats.statistics.robust_regression import FINER, REACH, SHIFTS, even_shifts, most_steps, propose, raw_units
from dpstats.statistics.universal.single import draw_quantile

FRAME = CoefficientFrame((40.0,), (1.0, 0.5), (2.0, 0.25))
UGLY = (0.0, -0.0, 1.0, 5e-324, 1e-300, 1e200, -1e308, math.inf, -math.inf, 40.0, 12.5)


def people(rows: int, seed: int = 1, features: int = 1) -> tuple[Floats, Floats]:
    generator = np.random.default_rng(seed)
    x = generator.normal(40, 10, (rows, features))
    return x, 5 + x @ np.arange(1, features + 1) + 2 * generator.normal(size=rows)


def regress(x: Any, y: Any, **keywords: Any) -> dp.Release | dp.NoReply:
    asked = {"epsilon": 1, "delta": 1e-6, "method": "robust", "rng": dp.testing.seeded(4)} | keywords
    return dp.linear_regression(x, y, **asked)


# Rows


def test_normals_are_whole_and_never_longer_than_a_unit() -> None:
    generator = np.random.default_rng(2)
    table = np.concatenate([generator.choice(UGLY, (4000, 2)), generator.standard_t(1, (4000, 2)) * 1e3])
    rows = raw_ratios(table, FRAME, 0.01)
    assert (rows.normals == np.trunc(rows.normals)).all()
    assert (rows.offsets == np.rint(rows.offsets)).all()
    assert (np.abs(rows.offsets) <= LARGEST_OFFSET).all()
    squares = [sum(int(each) ** 2 for each in normal) for normal in rows.normals.tolist()]
    assert max(squares) <= UNIT**2
    assert np.quantile(squares, 0.75) > 0.999 * UNIT**2


def test_a_row_becomes_the_same_numbers_in_any_company() -> None:
    generator = np.random.default_rng(3)
    table = np.concatenate([generator.choice(UGLY, (50, 3)), generator.normal(size=(51, 3))])
    frame = CoefficientFrame((0.3, -2.0), (0.1, 5.0, -1.0), (1.0, 0.7, 3.0))
    together = raw_ratios(table, frame, 0.03)
    for place in range(len(table)):
        alone = raw_ratios(table[place : place + 1], frame, 0.03)
        assert alone.normals[0].tolist() == together.normals[place].tolist()
        assert alone.offsets[0] == together.offsets[place]


def test_rows_without_features_weigh_nothing_and_infinite_outcomes_are_far_out() -> None:
    frame = CoefficientFrame((0.0,), (0.0,), (1.0,))
    rows = raw_ratios(np.array([[0.0, 3.0], [math.inf, 3.0], [2.0, math.inf], [-2.0, 1.0], [math.inf, math.inf]]), frame, 1.0)
    assert rows.normals.ravel().tolist() == [0, 0, UNIT, -UNIT, 0]
    assert rows.offsets.tolist() == [0, 0, LARGEST_OFFSET, UNIT / 2, 0]


def test_ratios_are_the_papers_distances() -> None:
    x, y = people(50)
    rows = raw_ratios(np.column_stack([x, y]), FRAME, 0.5)
    place = np.array([3, -2])
    b = [middle + scale * 0.5 * step for middle, scale, step in zip(FRAME.middles, FRAME.scales, place.tolist(), strict=True)]
    centred = x[:, 0] - 40
    printed = np.abs(y - b[0] - b[1] * centred) / np.hypot(2.0, 0.25 * centred) / 0.5
    assert np.abs(rows.distances(place)) / UNIT == pytest.approx(printed, rel=1e-4, abs=1e-4)


def test_all_places_stay_where_sums_are_exact() -> None:
    for size, reach in REACH.items():
        assert np.abs(cells_around(size, min(reach, 64), even_shifts(size)).corners).max() + SIDE <= LARGEST_PLACE
        assert (reach + 2) * SIDE <= LARGEST_PLACE
        assert len(even_shifts(size)) == SHIFTS[size] ** size


# What is spent


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_the_parts_of_epsilon_add_up_to_what_is_asked(neighbors: Neighbors, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[Fraction] = []

    def framed(raw: Floats, rows: int, **given: Any) -> CoefficientFrame:
        spent.extend([given["centres_epsilon"], given["votes_epsilon"]])
        assert given["neighbors"] is neighbors
        return draw_frame(raw, rows, **given)

    def count(raw_count: int, epsilon: Fraction, rng: Any) -> int:
        spent.append(epsilon)
        return raw_count

    monkeypatch.setattr(robust_regression, "draw_frame", framed)
    monkeypatch.setattr(robust_regression, "noisy_count", count)
    x, y = people(500)
    question = ask("linear_regression", epsilon=1, delta=1e-6, method="robust", neighbors=neighbors, column=["x", "y"])
    proposal = propose(cast(Table, _Stored(x, y)), np.column_stack([x, y]), question, dp.testing.seeded(1))
    whole = sum(spent) + proposal.test.epsilon + proposal.release_epsilon
    assert whole == 1
    assert proposal.release_epsilon >= 0
    assert proposal.test.delta == question.delta
    assert proposal.test.sensitivity == proposal.test.unstable_at == (2 if neighbors is Neighbors.CHANGE_ONE else 1)


@pytest.mark.parametrize(("intercept", "whole"), [(True, Fraction(3, 4)), (False, Fraction(1, 2))])
def test_a_frame_spends_what_it_is_given(intercept: bool, whole: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[tuple[Neighbors, Fraction]] = []

    def drawn(column: Any, quantile: Fraction, epsilon: Fraction, neighbors: Neighbors, rng: Any) -> int:
        spent.append((neighbors, epsilon))
        return draw_quantile(column, quantile, epsilon, neighbors, rng)

    monkeypatch.setattr(vote_frames, "draw_quantile", drawn)
    x, y = people(200, features=2)
    frame = draw_frame(
        np.column_stack([x, y]),
        200,
        intercept=intercept,
        centres_epsilon=Fraction(1, 4),
        votes_epsilon=Fraction(1, 2),
        neighbors=Neighbors.ADD_REMOVE,
        rng=dp.testing.seeded(1),
    )
    assert frame.has_intercept == intercept
    assert min(frame.scales) > 0
    assert sum(epsilon for _, epsilon in spent) == whole
    assert sum(epsilon for neighbors, epsilon in spent if neighbors is Neighbors.CHANGE_ONE) == Fraction(1, 2)  # for votes


class _Stored:
    """A table that says how many rows it has."""

    def __init__(self, x: Floats, y: Floats) -> None:
        self._rows = len(x)

    def column(self, place: int) -> Any:
        return self

    def stored(self) -> int:
        return self._rows


def test_a_release_is_cut_off_at_what_stable_cells_share_whatever_the_solver_says(monkeypatch: pytest.MonkeyPatch) -> None:
    stable = [StableCell(np.array([0, 0]), 5), StableCell(np.array([SIDE // 2, -SIDE // 4]), 4)]
    rows = RawRatios(np.zeros((1, 2)), np.zeros(1))
    for found in ([1e300, -1e300], [math.nan, math.inf], [SIDE * 0.6, SIDE * 0.3]):
        monkeypatch.setattr(robust_regression, "minimiser", lambda *given, found=found: np.array(found))
        first, second = raw_units(rows, stable)
        assert SIDE // 2 * FINER <= first <= SIDE * FINER
        assert 0 <= second <= SIDE * 3 // 4 * FINER
    assert raw_units(rows, []) == [0, 0]
    assert (most_steps(stable), most_steps([])) == (5, 0)


# As it is asked for


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_it_comes_near_the_truth_or_refuses_with_fixed_words(neighbors: str) -> None:
    x, y = people(20_000)
    replies = []
    for seed in range(5):
        release = regress(x, y, neighbors=neighbors, rng=dp.testing.seeded(seed))
        assert release.cost.epsilon == 1
        if isinstance(release, dp.Release):
            replies.append(release.value)
    assert len(replies) >= 3
    sampling = 0.2 / math.sqrt(20_000)
    for fit in replies:
        assert 0 < fit.noise[1] < 60 * sampling
        assert fit.coef[0] == pytest.approx(1, abs=5 * sampling + 6 * fit.noise[1])
        assert fit.intercept == pytest.approx(5, abs=5 * 40 * sampling + 6 * fit.noise[0])


def test_two_features_and_no_intercept_have_replies_too() -> None:
    x, y = people(30_000, features=2)
    release = regress(x, y, epsilon=4)
    assert isinstance(release, dp.Release)
    assert release.value.coef == pytest.approx([1, 2], abs=6 * max(release.value.noise[1:]) + 0.02)
    assert max(release.value.noise[1:]) < 0.05
    slope = regress(x[:, 0], y - 5 - 2 * x[:, 1], intercept=False, epsilon=2)
    assert isinstance(slope, dp.Release)
    assert slope.value.coef[0] == pytest.approx(1, abs=0.01)
    assert slope.value.intercept == 0


def test_a_fit_without_errors_is_released_nearly_exactly() -> None:
    x, _ = people(5000)
    release = regress(np.round(x, 1), 3 + 2 * np.round(x[:, 0], 1), epsilon=2)
    assert isinstance(release, dp.Release)
    assert release.value.coef[0] == pytest.approx(2, rel=1e-3)


def degenerate() -> dict[str, tuple[Floats, Floats]]:
    x, y = people(300)
    return {
        "no rows": (np.empty((0, 1)), np.empty(0)),
        "one row": (x[:1], y[:1]),
        "constant feature": (np.full((300, 1), 7.0), y),
        "no features": (np.zeros((300, 1)), y),
        "collinear": (np.column_stack([x, 2 * x]), y),
        "one row over and over": (np.repeat(x[:1], 300, axis=0), np.repeat(y[:1], 300)),
        "infinite": (np.where(x > 40, np.inf, -np.inf), np.where(y > 40, -np.inf, np.inf)),
        "huge and tiny": (x * 1e300, y * 1e-300),
    }


def test_degenerate_tables_are_refused_in_the_same_words() -> None:
    said = set()
    for name, (x, y) in degenerate().items():
        for intercept in (True, False):
            outcome = regress(x, y, intercept=intercept)  # a seeded source lets errors through
            if isinstance(outcome, dp.NoReply):
                said.add((outcome.reason, outcome.advice))
            else:
                assert name in ("huge and tiny", "one row over and over", "constant feature")
                assert np.isfinite(outcome.value.params).all()
    assert len(said) == 1


def test_too_many_features_are_an_error_that_names_their_number() -> None:
    x, y = people(50, features=3)
    with pytest.raises(InvalidParameterError, match="at most 3 coefficients, the intercept among them; here are 4"):
        regress(x, y)


def test_it_needs_a_delta_and_may_refuse() -> None:
    robust = find_statistic("linear_regression").methods["robust"]
    assert robust.needs_delta
    assert "may refuse" in robust.claim
