"""Quantile regression: where its steps lead, what follows from released numbers alone, what is spent, what is refused."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import dpstats as dp
from dpstats.statistics.regression.octaves import TOO_LARGE
from dpstats.statistics.regression.points import Floats
from dpstats.statistics.regression.quantile_steps import (
    FIRST_SHARE,
    MOST_BETWEEN,
    MOST_SHIFT,
    NEAR_SHARE,
    PLACE_BITS,
    PLACES,
    SPREAD_SHARE,
    STEP_SHARE,
    STEPS_SHARE,
)
from dpstats.statistics.regression.quantile_sums import Crossings, RatioPlaces, SignScores
from dpstats.testing import seeded
from tests.statistics.regression.step_rows import ugly_rows
from tests.statistics.regression.transcripts import Setting, moves_are_small, replayed, run

HALF, NINE_TENTHS = Fraction(1, 2), Fraction(9, 10)


def people(rows: int, seed: int = 1) -> Floats:
    """Two features and an outcome that varies more where the first is large, with heavy tails."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(rows, 2))
    return np.column_stack([x, 1 + x @ [2.0, -1.0] + (2 + 0.2 * np.tanh(x[:, 0])) * generator.standard_t(3, rows)])


def fit(raw_rows: Any, quantile: Any = 0.5, **keywords: Any) -> Any:
    rows = np.asarray(raw_rows, dtype=float)
    asked = {"epsilon": 2, "rng": seeded(3)} | keywords
    return dp.quantile_regression(rows[:, :-1], rows[:, -1], quantile, **asked)


def exact_quantiles(design: Floats, y: Floats, quantile: float) -> Floats:
    """The plain quantile regression: the prices of the dual linear programme."""
    found = linprog(-y, A_eq=design.T, b_eq=(1 - quantile) * design.sum(axis=0), bounds=(0, 1))
    return np.asarray(-found.eqlin.marginals)


# Where the steps lead


@pytest.mark.parametrize(("quantile", "close"), [(0.5, 0.12), (0.9, 0.3)])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_coefficients_are_near_those_of_the_linear_programme(quantile: float, close: float, delta: float) -> None:
    rows = people(5000)
    release = fit(rows, quantile, delta=delta)
    exact = exact_quantiles(np.column_stack([np.ones(5000), rows[:, :2]]), rows[:, 2], quantile)
    assert release.value.params == pytest.approx(exact, abs=close)
    assert release.method == ("gaussian_steps" if delta else "steps")


def test_without_an_intercept_the_line_goes_through_zero() -> None:
    rows = people(5000) - [0, 0, 1]
    release = fit(rows, intercept=False)
    assert release.value.intercept == 0
    assert release.value.coef == pytest.approx(exact_quantiles(rows[:, :2], rows[:, 2], 0.5), abs=0.12)


def test_an_outer_quantile_is_hardly_ever_missed_by_far() -> None:
    rows = people(1500, seed=4)
    exact = exact_quantiles(np.column_stack([np.ones(1500), rows[:, :2]]), rows[:, 2], 0.9)
    errors = [float(np.max(np.abs(fit(rows, 0.9, rng=seeded(seed)).value.params - exact))) for seed in range(10)]
    assert sum(error > 2 for error in errors) <= 1


def test_where_rows_spread_with_a_feature_every_coefficient_is_near_and_its_interval_holds() -> None:
    """As prices do with weights: nearly all that is known of a low line lies at small weights."""
    held = []
    for seed in range(12):
        generator = np.random.default_rng(seed)
        weight = np.exp(generator.normal(-0.4, 0.6, 24_000))
        price = -2000 + 7000 * weight + 1400 * weight * generator.gumbel(size=24_000)
        release = fit(np.column_stack([weight, price]), 0.9, epsilon=1, rng=seeded(seed))
        truth = [-2000.0, 7000 - 1400 * math.log(-math.log(0.9))]
        assert release.value.params == pytest.approx(truth, abs=350)
        held += [low <= true <= high for (low, high), true in zip(release.intervals, truth, strict=True)]
    assert sum(held) >= 22


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_where_far_rows_do_not_follow_the_line_it_is_that_of_all_rows_and_not_of_the_near_ones(quantile: float) -> None:
    """As shares of food fall with the logarithm of expenses: a few rows far out turn the line."""
    generator = np.random.default_rng(2)
    x = np.exp(0.8 * generator.normal(size=4_000))
    rows = np.column_stack([x, 10 - 3 * np.log(x) + generator.normal(size=4_000)])
    near = rows[x < 4]
    exact, within = (
        exact_quantiles(np.column_stack([np.ones(len(some)), some[:, 0]]), some[:, 1], quantile) for some in (rows, near)
    )
    for seed in range(4):
        release = fit(rows, quantile, epsilon=12, rng=seeded(seed))
        assert np.all(np.abs(release.value.params - exact) < 0.2 * np.abs(within - exact))
        assert all(low <= true <= high for (low, high), true in zip(release.intervals, exact, strict=True))


def test_quantiles_do_not_cross_where_there_are_rows() -> None:
    rows = people(3000)
    heights = [fit(rows, quantile).value.intercept for quantile in ("0.1", "0.5", "0.9")]
    assert heights == sorted(heights)


@pytest.mark.parametrize("quantile", [0.05, 0.5])
@pytest.mark.parametrize("kind", ["zeros", "ones", "marks", "infinite", "the largest", "tiny", "ugly", "collinear"])
def test_hard_tables_get_an_answer_of_finite_numbers_or_are_too_large_and_no_warning(kind: str, quantile: float) -> None:
    generator = np.random.default_rng(8)
    x = people(1200)[:, :2]
    outcomes = {
        "zeros": np.zeros(1200),
        "ones": np.ones(1200),
        "marks": generator.integers(0, 2, 1200),
        "infinite": generator.choice([math.inf, -math.inf], 1200),
        "the largest": np.full(1200, 1.7976931348623157e308),
        "tiny": 1e-200 * generator.random(1200),
    }
    tables = {name: np.column_stack([x, outcome]) for name, outcome in outcomes.items()}
    tables["ugly"] = ugly_rows(generator, 1200, 3)
    tables["collinear"] = np.column_stack([x[:, 0], -3 * x[:, 0], x[:, 1]])
    release = fit(tables[kind], quantile, epsilon=4, interval=0.9)
    if kind in ("infinite", "the largest"):
        assert release.reason == TOO_LARGE.reason
        return
    assert np.all(np.isfinite(release.value.params))
    assert not any(math.isnan(each.low) or math.isnan(each.high) for each in release.intervals)


# What follows from released numbers


@pytest.mark.parametrize("quantile", [Fraction(1, 20), HALF, NINE_TENTHS])
@pytest.mark.parametrize("rho", [None, Fraction(1)])
def test_the_same_released_numbers_lead_to_the_same_questions_and_the_same_place(
    quantile: Fraction, rho: Fraction | None
) -> None:
    raw_rows, public = people(400), Setting(Fraction(6), rho, quantile=quantile)
    for raw_row in ([1e9, -1e9, 1e12], [math.inf, -math.inf, -math.inf], raw_rows[17].tolist()):
        first = run(raw_rows, public)
        second = replayed(first, np.insert(raw_rows, 3, raw_row, axis=0), public)
        assert second.tells() == first.tells()
        assert moves_are_small(first, second)
    kinds = [type(question) for question in first.transcript.questions]
    assert (kinds.count(Crossings), RatioPlaces in kinds) == (2, quantile != HALF)
    offsets = {question.offset for question in first.transcript.questions if isinstance(question, SignScores)}
    assert len(offsets) == 1
    assert (offsets != {0}) == (quantile != HALF)


# What is spent


@pytest.mark.parametrize("rho", [None, Fraction(1, 4)])
@pytest.mark.parametrize("features", [1, 5])
def test_no_course_spends_more_than_there_is(features: int, rho: Fraction | None) -> None:
    raw_rows = ugly_rows(np.random.default_rng(features), 40, features + 1)
    answered = 0
    for rows, intercept, quantile in itertools.product([-5, 90, 700, 10**6], [True, False], [Fraction(1, 20), NINE_TENTHS, HALF]):
        found = run(raw_rows, Setting(Fraction(2), rho, intercept, rows % 4 == 0, quantile, rows))
        spent = sum(each.share for each in found.transcript.questions if hasattr(each, "share"))
        assert 0 <= found.left <= 1 - spent
        assert (found.estimate is None) == (found.left > HALF)
        answered += found.estimate is not None
    assert answered


def test_the_last_steps_share_what_is_left_for_them() -> None:
    assert 0 < SPREAD_SHARE + MOST_SHIFT + NEAR_SHARE < 1
    assert 2 * FIRST_SHARE + max(STEP_SHARE, STEPS_SHARE) < 1
    assert MOST_BETWEEN > 1


def test_the_outermost_quantile_of_a_heavy_tail_is_among_the_places() -> None:
    cauchy_magnitudes = math.tan(math.pi * (0.95 - 0.5))
    assert cauchy_magnitudes < PLACES / 2**PLACE_BITS


# What is refused


@pytest.mark.parametrize("quantile", [0, 1, 0.04, 0.96, -0.5, "many", None, True, float("nan")])
def test_quantiles_too_far_out_and_things_that_are_none_are_refused(quantile: Any) -> None:
    with pytest.raises(dp.DpstatsError, match="quantile"):
        fit(people(20), quantile)


@pytest.mark.parametrize("wrong", [{"intercept": 1}, {"epsilon": 0}, {"delta": -1}, {"neighbors": "none"}, {"interval": 2}])
def test_other_bad_parameters_are_refused_too(wrong: dict[str, Any]) -> None:
    with pytest.raises(dp.DpstatsError):
        fit(people(20), **wrong)


@pytest.mark.parametrize("rows", [0, 1, 30])
@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
def test_too_few_rows_get_no_reply_at_the_same_cost(rows: int, neighbors: str) -> None:
    outcome = fit(people(rows), 0.75, epsilon=1, neighbors=neighbors)
    assert isinstance(outcome, dp.NoReply)
    assert "too few rows" in outcome.reason
    assert outcome.cost.epsilon == 1


@pytest.mark.parametrize("neighbors", ["add_remove", "change_one"])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_both_relations_are_answered_and_the_price_is_on_the_answer(neighbors: str, delta: float) -> None:
    release = fit(people(3000), 0.75, neighbors=neighbors, delta=delta)
    assert (release.cost.epsilon, float(release.cost.delta)) == (2, delta)
    assert release.value.coef == pytest.approx([2.0, -1.0], abs=0.5)


def test_the_median_is_asked_for_if_nothing_is_said() -> None:
    rows = people(1500)
    said, unsaid = fit(rows), dp.quantile_regression(rows[:, :2], rows[:, 2], epsilon=2, rng=seeded(3))
    assert said.value.params.tolist() == unsaid.value.params.tolist()
    assert "0.5" in said.value.model


def test_seeded_runs_repeat_themselves_and_others_do_not() -> None:
    rows = people(1500)
    first, again, other = (fit(rows, 0.8, rng=seeded(seed)).value.params.tolist() for seed in (7, 7, 8))
    assert first == again != other


def test_help_says_what_it_is() -> None:
    text = dp.quantile_regression.__doc__ or ""
    assert all(word in text for word in ("quantile", "intercept", "epsilon"))
