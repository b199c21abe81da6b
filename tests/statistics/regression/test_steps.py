"""Noisy steps: what follows from released numbers alone, what is spent, and where the steps lead."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.regression import walk
from dpstats.statistics.regression.points import Floats
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Setting, moves_are_small, replayed, run
from tests.twins.steps import CountingBudgetSplit, LeveragePoints, standard_by_raw_medians

PURE, CONCENTRATED = Setting(), Setting(rho=Fraction(1))
SETTINGS = {
    "pure": PURE,
    "concentrated": CONCENTRATED,
    "no intercept": Setting(intercept=False),
    "no interval": Setting(rho=Fraction(1), interval=False),
    "median": Setting(Fraction(20), quantile=Fraction(1, 2)),
    "quantile": Setting(rho=Fraction(1), quantile=Fraction(4, 5)),
    "full": Setting(Fraction(30), full=True),
    "full, concentrated": Setting(rho=Fraction(20), full=True),
    "full, no intercept, no interval": Setting(Fraction(30), intercept=False, interval=False, full=True),
}


def people(rows: int, features: int, seed: int = 1) -> Floats:
    generator = np.random.default_rng(seed)
    x = generator.normal(40, 10, (rows, features))
    return np.column_stack([x, 5 + x @ np.arange(1, features + 1) + 3 * generator.normal(size=rows)])


def pairs() -> dict[str, tuple[Floats, Floats]]:
    """Tables and a row more."""
    usual = people(400, 2)
    return {
        "a far outlier": (usual, np.array([1e9, -1e9, 1e12])),
        "infinities": (usual, np.array([math.inf, -math.inf, math.inf])),
        "one like the others": (usual, usual[17]),
        "all alike": (np.ones((300, 3)), np.array([5.0, -2.0, 1e4])),
        "ugly rows": (ugly_rows(np.random.default_rng(2), 300, 3), np.array([1e308, 5e-324, -1e308])),
        "collinear": (np.column_stack([usual[:, :1], 2 * usual[:, :1], usual[:, 2:]]), np.array([0.0, 1e6, 0.0])),
    }


def with_row(raw_rows: Floats, raw_row: Floats, place: int = 3) -> Floats:
    """In the middle, so that rows after it move."""
    return np.insert(raw_rows, place, raw_row, axis=0)


# What follows from released numbers


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("pair", pairs())
def test_the_same_released_numbers_lead_to_the_same_questions_and_the_same_place(pair: str, setting: str) -> None:
    raw_rows, raw_row = pairs()[pair]
    public = SETTINGS[setting]
    first = run(raw_rows, public)
    second = replayed(first, with_row(raw_rows, raw_row), public)
    assert second.tells() == first.tells()
    assert len(second.transcript.released) == len(first.transcript.released) >= 8
    assert moves_are_small(first, second)


def test_a_number_of_rows_that_is_handed_out_as_it_is_is_refuted() -> None:
    raw_rows, raw_row = pairs()["one like the others"]
    first = run(raw_rows, PURE, around=CountingBudgetSplit)
    assert replayed(first, with_row(raw_rows, raw_row), PURE, CountingBudgetSplit).tells() != first.tells()


def test_middles_that_are_the_medians_of_the_rows_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_rows, raw_row = pairs()["a far outlier"]
    real = walk.standardise
    monkeypatch.setattr(walk, "standardise", lambda table, *a, **k: standard_by_raw_medians(table, real(table, *a, **k)))
    first = run(raw_rows, PURE)
    assert replayed(first, with_row(raw_rows, raw_row), PURE).tells() != first.tells()


def test_points_without_a_ball_are_refuted(monkeypatch: pytest.MonkeyPatch) -> None:
    raw_rows, raw_row = pairs()["a far outlier"]
    monkeypatch.setattr(walk, "Points", LeveragePoints)
    first = run(raw_rows, PURE)
    second = replayed(first, with_row(raw_rows, raw_row), PURE)
    assert second.tells() == first.tells()
    assert not moves_are_small(first, second)


# What is spent


@pytest.mark.parametrize(("features", "intercept"), list(itertools.product([1, 2, 6], [True, False])))
@pytest.mark.parametrize("rho", [None, Fraction(1, 4)])
def test_no_course_spends_more_than_there_is(features: int, intercept: bool, rho: Fraction | None) -> None:
    raw_rows = ugly_rows(np.random.default_rng(features), 40, features + 1)
    answered = 0
    aims = [(None, False), (Fraction(9, 10), False), (None, True)]
    for rows, interval, (quantile, full) in itertools.product([1, 90, 700, 10**6], [True, False], aims):
        public = Setting(Fraction(2), rho, intercept, interval, quantile, rows, full)
        found = run(raw_rows, public)
        spent = sum(each.share for each in found.transcript.questions if hasattr(each, "share"))
        assert 0 <= found.left <= 1 - spent
        assert found.estimate is not None or full or found.left > Fraction(1, 2)
        assert (found.left <= Fraction(1, 2)) or found.estimate is None
        answered += found.estimate is not None
    assert answered


@pytest.mark.parametrize("full", [False, True])
def test_forty_features_are_within_the_budget_too(full: bool) -> None:
    raw_rows = ugly_rows(np.random.default_rng(3), 10, 41)
    found = run(raw_rows, Setting(Fraction(2), None, rows=10**7, full=full))
    assert full or found.estimate is not None
    assert 0 <= found.left < Fraction(1, 10)


# Where the steps lead


def fit(raw_rows: Any, **keywords: Any) -> Any:
    rows = np.asarray(raw_rows, dtype=float)
    asked = {"epsilon": 2, "rng": seeded(3)} | keywords
    return dp.linear_regression(rows[:, :-1], rows[:, -1], **asked)


@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_coefficients_are_near_those_of_least_squares(delta: float, neighbors: str) -> None:
    rows = people(5000, 3)
    release = fit(rows, delta=delta, neighbors=neighbors)
    design = np.column_stack([np.ones(5000), rows[:, :-1]])
    exact = np.linalg.lstsq(design, rows[:, -1], rcond=None)[0]
    assert release.value.coef == pytest.approx(exact[1:], abs=0.06)
    middle = np.append(1.0, rows[:, :-1].mean(axis=0))
    assert middle @ release.value.params == pytest.approx(middle @ exact, abs=0.6)
    assert release.method == ("gaussian_steps" if delta else "steps")


def test_without_an_intercept_the_line_goes_through_zero() -> None:
    rows = people(5000, 2)
    release = fit(rows - [0, 0, 5], intercept=False)
    assert release.value.intercept == 0
    assert release.value.coef == pytest.approx([1.0, 2.0], abs=0.05)


def test_columns_far_off_and_of_absurd_scales_are_as_good_as_others() -> None:
    rows = people(5000, 2)
    scales, shifts = np.array([1e-9, 1e12, 1e5]), np.array([1e3, -1e15, 7e9])
    release = fit(rows * scales + shifts)
    assert release.value.coef * scales[:2] / scales[2] == pytest.approx([1.0, 2.0], abs=0.06)


@pytest.mark.parametrize("kind", ["perfect", "constant feature", "collinear", "zeros", "marks", "infinite outcomes", "ugly"])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_hard_tables_get_an_answer_of_finite_numbers_or_a_refusal_and_no_warning(kind: str, delta: float) -> None:
    rows = people(1500, 2)
    generator = np.random.default_rng(8)
    tables = {
        "perfect": np.column_stack([rows[:, :2], 3 + rows[:, :2] @ [1.0, -2.0]]),
        "constant feature": rows * [1, 0, 1] + [0, 7, 0],
        "collinear": np.column_stack([rows[:, 0], 3 * rows[:, 0], rows[:, 2]]),
        "zeros": np.zeros((1500, 3)),
        "marks": np.column_stack([generator.integers(0, 2, 1500), rows[:, 1], rows[:, 2]]),
        "infinite outcomes": np.column_stack([rows[:, :2], generator.choice([math.inf, -math.inf], 1500)]),
        "ugly": ugly_rows(generator, 1500, 3),
    }
    outcome = fit(tables[kind], delta=delta, epsilon=3)
    if isinstance(outcome, dp.NoReply):
        return
    assert np.all(np.isfinite(outcome.value.params))
    assert outcome.value.scale > 0


def test_a_perfect_fit_is_found() -> None:
    rows = people(3000, 2)
    release = fit(np.column_stack([rows[:, :2], 3 + rows[:, :2] @ [1.0, -2.0]]), rng=seeded(4))
    assert release.value.coef == pytest.approx([1.0, -2.0], abs=0.02)


@pytest.mark.parametrize("rows", [0, 1, 2, 40])
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_too_few_rows_get_no_reply_at_the_same_cost(rows: int, neighbors: str) -> None:
    outcome = fit(people(rows, 3), epsilon=1, neighbors=neighbors)
    assert isinstance(outcome, dp.NoReply)
    assert "too few rows" in outcome.reason
    assert outcome.cost.epsilon == 1


def test_seeded_runs_repeat_themselves_and_others_do_not() -> None:
    rows = people(2000, 1)
    first, again, other = (fit(rows, rng=seeded(seed)).value.params.tolist() for seed in (7, 7, 8))
    assert first == again != other
    assert fit(rows, rng=None).value.params.tolist() != fit(rows, rng=None).value.params.tolist()


def test_an_outlier_however_far_hardly_moves_the_line() -> None:
    rows = people(3000, 1)
    far = np.vstack([rows, [[1e12, -1e15]]])
    assert fit(far).value.coef == pytest.approx([1.0], abs=0.1)
