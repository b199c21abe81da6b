"""The budget: shares never add up to more than one, and buy noise and draws of the right size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpstats as dp
from dpstats.accounting.allowance import FINEST
from dpstats.accounting.concentration import exponential_to_zcdp, gaussian_to_zcdp, zcdp_to_cost
from dpstats.foundations.errors import DpstatsError
from dpstats.foundations.registry import Question, ask
from dpstats.statistics.regression import budget_split
from dpstats.statistics.regression.budget_split import (
    BudgetSplit,
    ConcentratedBudgetSplit,
    PureBudgetSplit,
    budget_split_for,
)
from dpstats.statistics.universal.grain import GRAIN_SHARE
from dpstats.testing import seeded

EPSILON, RHO = Fraction(3, 2), Fraction(1, 7)
HALF, TENTH = Fraction(1, 2), Fraction(1, 10)
SHARES = st.fractions(Fraction(1, 1000), 1, max_denominator=1000)


def both() -> list[BudgetSplit]:
    return [PureBudgetSplit(EPSILON, seeded(1)), ConcentratedBudgetSplit(RHO, seeded(1))]


def question(**keywords: Any) -> Question:
    return ask("linear_regression", column=["x", "y"], **({"epsilon": 1} | keywords))


@given(st.lists(SHARES, max_size=12), st.lists(st.booleans(), min_size=12, max_size=12))
def test_a_budget_gives_no_more_than_it_has_however_it_is_asked(shares: list[Fraction], draws: list[bool]) -> None:
    for budget in both():
        given_out = Fraction(0)
        for share, draw in zip(shares, draws, strict=False):
            if share <= budget.left:
                if draw:
                    budget.draw_epsilon(share)
                else:
                    budget.noisy([1, 2], 10, share)
                given_out += share
            else:
                with pytest.raises(DpstatsError, match="more than it was given"):
                    budget.draw_epsilon(share)
                with pytest.raises(DpstatsError, match="more than it was given"):
                    budget.noisy([1, 2], 10, share)
        assert budget.left == 1 - given_out >= 0


@given(st.lists(SHARES, min_size=1, max_size=8).filter(lambda shares: sum(shares) <= 1), st.integers(1, 10**12))
def test_what_is_bought_adds_up_to_the_epsilon_or_the_rho(shares: list[Fraction], units: int) -> None:
    pure = PureBudgetSplit(EPSILON, seeded(1))
    assert sum(pure.draw_epsilon(share) for share in shares) == EPSILON * sum(shares)
    concentrated = ConcentratedBudgetSplit(RHO, seeded(1))
    spent = sum(exponential_to_zcdp(concentrated.draw_epsilon(share)) for share in shares)
    assert RHO * sum(shares) * (1 - Fraction(1, 10**9)) < spent <= RHO * sum(shares)


def test_noise_is_asked_for_at_the_scale_that_hides_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Fraction, int]] = []

    def watch(name: str) -> Any:
        def sample(scale: Fraction, coordinates: int, rng: Any) -> Any:
            asked.append((name, scale, coordinates))
            return np.arange(coordinates)

        return sample

    monkeypatch.setattr(budget_split, "sample_spherical_laplace", watch("laplace"))
    monkeypatch.setattr(budget_split, "sample_discrete_gaussian", watch("gaussian"))
    for budget in both():
        assert budget.noisy([10, 20, 30], 1000, TENTH)[0] == [10, 21, 32]
    (_, scale, _), (_, variance, _) = asked
    assert [name for name, *_ in asked] == ["laplace", "gaussian"]
    assert scale == 1000 / (EPSILON / 10)
    assert variance == Fraction(1000**2) / (2 * RHO / 10)
    deviation = Fraction(math.isqrt(int(variance * 10**20)), 10**10)
    assert float(gaussian_to_zcdp(l2_sensitivity=1000, standard_deviation=deviation)) == pytest.approx(float(RHO / 10))


def test_noise_has_about_the_deviation_that_is_said() -> None:
    for budget in both():
        rows, said = [], 0.0
        for _ in range(400):
            noisy, said = budget.noisy([0] * 6, 5000, Fraction(1, 500))
            rows.append(noisy)
        assert np.std(rows) == pytest.approx(said, rel=0.1)
        assert said == pytest.approx(5000 * budget.deviation(Fraction(1, 500), 6))


def test_shares_for_a_draw_and_for_a_deviation_are_what_they_are_for() -> None:
    for budget in both():
        share = budget.share_for_draw(0.05)
        assert float(budget.draw_epsilon(share)) == pytest.approx(0.05, rel=1e-3)
        assert budget.deviation(budget.share_for_deviation(30.0, 4), 4) == pytest.approx(30.0, rel=1e-3)
        assert budget.share_for_draw(1e9) == 1
        assert budget.share_for_draw(1e-30) == Fraction(1, FINEST)


@pytest.mark.parametrize("epsilon", ["1e-9", "0.001", "1", "7.5"])
def test_the_budget_of_a_question_holds_what_it_asks_for_and_half_or_a_quarter_for_a_changed_row(epsilon: str) -> None:
    added, changed = (
        budget_split_for(question(epsilon=epsilon, neighbors=neighbors), seeded(1)) for neighbors in ("add_remove", "change_one")
    )
    assert added.draw_epsilon(Fraction(1)) == Fraction(epsilon)
    assert changed.draw_epsilon(Fraction(1)) == Fraction(epsilon) / 2
    for delta in ("1e-12", "1e-6", "0.1"):
        added, changed = (
            budget_split_for(question(epsilon=epsilon, delta=delta, neighbors=neighbors), seeded(1))
            for neighbors in ("add_remove", "change_one")
        )
        rho, moved = (each.draw_epsilon(Fraction(1)) ** 2 / 8 for each in (added, changed))
        assert 0 < 4 * moved <= rho * (1 + Fraction(1, 10**9))
        assert zcdp_to_cost(rho, delta).epsilon <= Fraction(epsilon)


def test_a_median_costs_no_more_rho_than_a_draw_of_its_epsilon() -> None:
    assert Fraction(1, 8) >= GRAIN_SHARE**2 / 2 + (1 - GRAIN_SHARE) ** 2 / 8


def test_the_price_of_an_answer_is_on_it() -> None:
    x = np.random.default_rng(1).normal(size=600)
    for delta in (0, 1e-6):
        release = dp.linear_regression(x, 2 * x, epsilon=2, delta=delta, rng=seeded(2))
        assert release.cost == dp.PrivacyCost(2, delta)
