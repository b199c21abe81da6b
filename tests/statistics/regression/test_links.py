"""Logistic and Poisson regression: what follows from released numbers alone, what is spent, and where the steps lead."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import dpstats as dp
from dpstats.statistics.regression import links, walk
from dpstats.statistics.regression.links import take_logistic_steps, take_poisson_steps
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.walk import Estimate, FitContext
from dpstats.testing import seeded
from tests.statistics.regression import transcripts
from tests.statistics.regression.link_rows import claims_of_any
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Around, Run, Setting, moves_are_small, replayed, run
from tests.twins.links import UncutPoisson
from tests.twins.steps import CountingBudgetSplit, LeveragePoints

Taker = Callable[..., Estimate | None]
TAKERS: dict[str, Taker] = {"logistic": take_logistic_steps, "poisson": take_poisson_steps}
PURE, CONCENTRATED = Setting(Fraction(6)), Setting(rho=Fraction(1))
SETTINGS = {
    "pure": PURE,
    "concentrated": CONCENTRATED,
    "no intercept": Setting(Fraction(6), intercept=False),
    "no interval": Setting(rho=Fraction(1), interval=False),
    "full": Setting(Fraction(30), full=True),
    "full, concentrated": Setting(rho=Fraction(20), full=True),
    "full, no intercept, no interval": Setting(Fraction(30), intercept=False, interval=False, full=True),
}


def regress(family: str, raw_rows: Floats, setting: Setting, first: Run | None = None, around: Around | None = None) -> Run:
    """A run with a scripted budget; if there was a first one, what it released is forced upon this one."""

    def take(context: FitContext, features: int, *, intercept: bool, interval: bool, full: bool) -> Estimate | None:
        return TAKERS[family](context, features, intercept=intercept, interval=interval, full=full)

    with patch.object(transcripts, "take_steps", take):
        return run(raw_rows, setting, None, around) if first is None else replayed(first, raw_rows, setting, around)


def moves_little(first: Run, second: Run) -> bool:
    with patch.object(transcripts, "claims_of", claims_of_any):
        return moves_are_small(first, second)


def people(family: str, rows: int, seed: int = 1) -> Floats:
    """Two features, and marks or counts."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 2))
    marks = generator.random(rows) < 1 / (1 + np.exp(-0.5 - x @ [1.0, -0.5]))
    counts = generator.poisson(np.exp(0.5 + x @ [0.4, -0.3]))
    return np.column_stack([x * [10, 0.1] + [40, 7], marks if family == "logistic" else counts])


def pairs(family: str) -> dict[str, tuple[Floats, Floats]]:
    """Tables and a row more."""
    usual = people(family, 300)
    return {
        "a far outlier": (usual, np.array([1e9, -1e9, 1e12])),
        "infinities": (usual, np.array([math.inf, -math.inf, math.inf])),
        "the largest outcome": (usual, np.array([40.0, 7.0, 1.7976931348623157e308])),
        "one like the others": (usual, usual[17]),
        "all alike": (np.ones((250, 3)), np.array([5.0, -2.0, 1e4])),
        "ugly rows": (ugly_rows(np.random.default_rng(2), 250, 3), np.array([1e308, 5e-324, -1e308])),
    }


def with_row(raw_rows: Floats, raw_row: Floats) -> Floats:
    """In the middle, so that rows after it move."""
    return np.insert(raw_rows, 3, raw_row, axis=0)


# What follows from released numbers


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("pair", pairs("logistic"))
def test_the_same_released_numbers_lead_to_the_same_questions_and_the_same_place(pair: str, family: str, setting: str) -> None:
    raw_rows, raw_row = pairs(family)[pair]
    public = SETTINGS[setting]
    first = regress(family, raw_rows, public)
    second = regress(family, with_row(raw_rows, raw_row), public, first)
    assert second.tells() == first.tells()
    assert len(second.transcript.released) == len(first.transcript.released) >= 8
    assert moves_little(first, second)


@pytest.mark.parametrize("family", TAKERS)
def test_a_number_of_rows_that_is_handed_out_as_it_is_is_refuted(family: str) -> None:
    raw_rows, raw_row = pairs(family)["one like the others"]
    first = regress(family, raw_rows, PURE, around=CountingBudgetSplit)
    assert regress(family, with_row(raw_rows, raw_row), PURE, first, CountingBudgetSplit).tells() != first.tells()


@pytest.mark.parametrize(
    ("family", "home", "name", "twin"),
    [
        ("logistic", walk, "Points", LeveragePoints),
        ("poisson", walk, "Points", LeveragePoints),
        ("poisson", links, "PoissonOutcomes", UncutPoisson),
    ],
)
def test_twins_are_refuted_on_the_way(family: str, home: Any, name: str, twin: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    raw_rows, _ = pairs(family)["a far outlier"]
    raw_row = np.array([1e9, 7.0, 1e6])
    assert moves_little(*(both := _forced(family, raw_rows, raw_row)))
    assert both[0].tells() == both[1].tells()
    monkeypatch.setattr(home, name, twin)
    first, second = _forced(family, raw_rows, raw_row)
    assert second.tells() == first.tells()
    assert not moves_little(first, second)


def _forced(family: str, raw_rows: Floats, raw_row: Floats) -> tuple[Run, Run]:
    first = regress(family, raw_rows, PURE)
    return first, regress(family, with_row(raw_rows, raw_row), PURE, first)


# What is spent


@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("rho", [None, Fraction(1, 4)])
@pytest.mark.parametrize("features", [1, 5])
def test_no_course_spends_more_than_there_is(features: int, rho: Fraction | None, family: str) -> None:
    raw_rows = ugly_rows(np.random.default_rng(features), 40, features + 1)
    answered = 0
    for rows, intercept, interval in itertools.product([-5, 90, 700, 10**6], [True, False], [True, False]):
        found = regress(family, raw_rows, Setting(Fraction(2), rho, intercept, interval, rows=rows))
        spent = sum(each.share for each in found.transcript.questions if hasattr(each, "share"))
        assert 0 <= found.left <= 1 - spent
        assert (found.estimate is None) == (found.left > Fraction(1, 2))
        answered += found.estimate is not None
    assert answered


@pytest.mark.parametrize("family", TAKERS)
def test_forty_features_are_within_the_budget_too(family: str) -> None:
    found = regress(family, ugly_rows(np.random.default_rng(3), 10, 41), Setting(Fraction(2), None, rows=10**7))
    assert found.estimate is not None
    assert 0 <= found.left < Fraction(1, 10)


# Where the steps lead


def fit(family: str, raw_rows: Any, **keywords: Any) -> Any:
    rows = np.asarray(raw_rows, dtype=float)
    asked = {"epsilon": 2, "rng": seeded(3)} | keywords
    ask = dp.logistic_regression if family == "logistic" else dp.poisson_regression
    return ask(rows[:, :-1], rows[:, -1], **asked)


def most_likely(family: str, design: Floats, y: Floats) -> Floats:
    """Plain maximum likelihood, by Newton's steps."""
    place = np.zeros(design.shape[1])
    for _ in range(30):
        mean = 1 / (1 + np.exp(-design @ place)) if family == "logistic" else np.exp(design @ place)
        variance = mean * (1 - mean) if family == "logistic" else mean
        place = place + np.linalg.solve((design * variance[:, None]).T @ design, design.T @ (y - mean))
    return place


@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("delta", [0, 1e-6])
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_coefficients_are_near_those_of_maximum_likelihood(family: str, delta: float, neighbors: str) -> None:
    rows = people(family, 5000)
    release = fit(family, rows, delta=delta, neighbors=neighbors)
    standard = np.column_stack([np.ones(5000), (rows[:, :2] - [40, 7]) / [10, 0.1]])
    exact = most_likely(family, standard, rows[:, 2])
    close = 0.08 if neighbors == "add_remove" else 0.25
    assert release.value.coef * [10, 0.1] == pytest.approx(exact[1:], abs=close)
    assert release.value.intercept + release.value.coef @ [40, 7] == pytest.approx(exact[0], abs=close)
    assert release.method == ("gaussian_steps" if delta else "steps")
    assert (release.cost.epsilon, float(release.cost.delta)) == (2, delta)


@pytest.mark.parametrize("family", TAKERS)
def test_without_an_intercept_the_predictor_goes_through_zero(family: str) -> None:
    rows = people(family, 5000)
    rows[:, :2] = (rows[:, :2] - [40, 7]) / [10, 0.1]
    release = fit(family, rows, intercept=False)
    assert release.value.intercept == 0
    exact = most_likely(family, rows[:, :2], rows[:, 2])
    assert release.value.coef == pytest.approx(exact, abs=0.15)


HARD: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "all zero": lambda _, rows: np.zeros(rows),
    "all one": lambda _, rows: np.ones(rows),
    "one class but for a row": lambda _, rows: np.arange(rows) == 5,
    "below zero": lambda _, rows: np.full(rows, -7.0),
    "huge counts": lambda generator, rows: np.floor(1e15 * generator.exponential(size=rows)),
    "a few huge counts": lambda generator, rows: np.where(generator.random(rows) < 0.02, 1e300, 1.0),
    "fractions": lambda generator, rows: generator.random(rows),
    "tiny": lambda generator, rows: 1e-200 * generator.random(rows),
    "the largest": lambda _, rows: np.full(rows, 1.7976931348623157e308),
    "infinite": lambda generator, rows: generator.choice([math.inf, -math.inf], rows),
    "marks": lambda generator, rows: generator.integers(0, 2, rows),
}


@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("kind", HARD)
def test_hard_outcomes_get_an_answer_of_finite_numbers_or_a_refusal_and_no_warning(kind: str, family: str) -> None:
    generator = np.random.default_rng(8)
    rows = np.column_stack([people(family, 1200)[:, :2], HARD[kind](generator, 1200)])
    for keywords in ({}, {"delta": 1e-6, "intercept": False}, {"method": "huber"}):
        release = fit(family, rows, epsilon=3, interval=0.9, **keywords)
        if isinstance(release, dp.NoReply):
            assert "method" not in keywords or kind == "the largest"
            continue
        assert np.all(np.isfinite(release.value.params))
        assert all(math.isfinite(each.low) and each.low <= each.high < math.inf for each in release.intervals)


@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("kind", ["constant", "collinear", "zeros", "marks", "ugly"])
def test_hard_features_do_too(kind: str, family: str) -> None:
    rows = people(family, 1200)
    generator = np.random.default_rng(9)
    features = {
        "constant": rows[:, :2] * [1, 0] + [0, 7],
        "collinear": rows[:, :1] * [1, -3],
        "zeros": np.zeros((1200, 2)),
        "marks": generator.integers(0, 2, (1200, 2)),
        "ugly": ugly_rows(generator, 1200, 2),
    }
    for method in ("steps", "huber"):
        release = fit(family, np.column_stack([features[kind], rows[:, 2]]), epsilon=3, method=method)
        if kind != "ugly" or method == "huber":
            assert np.all(np.isfinite(release.value.params))


@pytest.mark.parametrize("epsilon", [4, 100, 1000])
def test_rows_that_a_line_parts_lead_to_large_coefficients_that_are_finite(epsilon: int) -> None:
    x = np.random.default_rng(4).normal(size=3000)
    release = fit("logistic", np.column_stack([x, x > 0]), epsilon=epsilon, interval=0.9)
    assert 2 < release.value.coef[0] < 100
    assert abs(release.value.intercept) < 0.1 * release.value.coef[0]


def test_coefficients_without_a_maximum_of_the_likelihood_have_no_interval_and_the_card_says_why() -> None:
    x = np.random.default_rng(4).normal(size=3000)
    release = fit("logistic", np.column_stack([x, x > 0]), epsilon=1000, interval=0.9)
    assert release.intervals == ()
    assert "likelihood grows" in dict(release.notes)["intervals"]


@pytest.mark.parametrize("family", TAKERS)
@pytest.mark.parametrize("rows", [0, 1, 30])
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_too_few_rows_get_no_reply_at_the_same_cost(family: str, rows: int, neighbors: str) -> None:
    outcome = fit(family, people(family, rows), epsilon=1, neighbors=neighbors)
    assert isinstance(outcome, dp.NoReply)
    assert "too few rows" in outcome.reason
    assert outcome.cost.epsilon == 1


@pytest.mark.parametrize("family", TAKERS)
def test_seeded_runs_repeat_themselves_and_others_do_not(family: str) -> None:
    rows = people(family, 1500)
    first, again, other = (fit(family, rows, rng=seeded(seed)).value.params.tolist() for seed in (7, 7, 8))
    assert first == again != other


@pytest.mark.parametrize("family", TAKERS)
def test_an_outlier_however_far_hardly_moves_the_answer(family: str) -> None:
    rows = people(family, 3000)
    plain, far = fit(family, rows), fit(family, np.vstack([rows, [[1e12, -1e15, 1e18]]]))
    assert far.value.coef == pytest.approx(plain.value.coef, rel=0.4)


@pytest.mark.parametrize("family", TAKERS)
def test_what_becomes_of_other_outcomes_is_on_the_card(family: str) -> None:
    notes = dict(fit(family, people(family, 4000)).notes)
    assert "below 0 counts as 0" in notes["outcome"]


@pytest.mark.parametrize("family", TAKERS)
def test_help_says_what_it_is_and_bad_parameters_are_refused(family: str) -> None:
    ask = dp.logistic_regression if family == "logistic" else dp.poisson_regression
    assert family in (ask.__doc__ or "").lower()
    assert "intercept" in (ask.__doc__ or "")
    rows = people(family, 50)
    for wrong in ({"intercept": 1}, {"epsilon": 0}, {"delta": -1}, {"neighbors": "none"}, {"power": 2}, {"interval": 2}):
        with pytest.raises((dp.DpstatsError, TypeError)):
            fit(family, rows, **wrong)
