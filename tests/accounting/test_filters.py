"""No accountant claims less than the truth: against exact laws, against the worst asker, and its broken twins are refuted."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpstats.accounting.accountants import (
    ACCOUNTANTS,
    Accountant,
    AdvancedAccountant,
    BasicAccountant,
    Total,
    ZcdpAccountant,
)
from dpstats.accounting.budgets import Budget
from dpstats.foundations.privacy import PrivacyCost
from dpstats.foundations.registry import PURE_LOSS
from tests.accounting.laws import exponential_delta, response_delta, worst_delta
from tests.names import shown

EXPONENTIAL = Fraction(1, 8)
BUDGETS = [(1, "1e-6", "0.05"), (2, "1e-3", "0.3"), ("0.5", "1e-2", "0.02"), (4, "1e-5", 1), (3, "0.1", "0.1")]


@pytest.fixture(params=sorted(ACCOUNTANTS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize(("epsilon", "delta", "each"), BUDGETS)
def test_randomized_responses_up_to_the_limit_keep_the_budget_and_many_more_break_it(
    name: str, epsilon: object, delta: object, each: object
) -> None:
    budget, cost = Budget(epsilon, delta, name), PrivacyCost(each)
    fit = budget.how_many(cost)
    assert response_delta(fit, float(cost.epsilon), float(budget.epsilon)) <= budget.delta
    many = max(fit * (80 if name == "basic" else 8), 40)  # epsilons alone say little of small questions
    assert response_delta(many, float(cost.epsilon), float(budget.epsilon)) > budget.delta


@pytest.mark.parametrize(("epsilon", "delta", "each"), BUDGETS)
def test_no_accountant_says_less_than_was_spent(name: str, epsilon: object, delta: object, each: object) -> None:
    budget, cost = Budget(epsilon, delta, name), PrivacyCost(each)
    total = Total()
    for times in range(1, min(budget.how_many(cost), 60) + 1):
        total = budget.keeper.add(total, budget.keeper.charge(cost))
        said_epsilon, said_delta = budget.amounts_to(total)
        assert response_delta(times, float(cost.epsilon), float(said_epsilon)) <= float(said_delta) + 1e-15


@pytest.mark.parametrize(("epsilon", "delta", "each"), BUDGETS)
def test_exponential_mechanisms_keep_the_budget_at_an_eighth(name: str, epsilon: object, delta: object, each: object) -> None:
    budget, cost = Budget(epsilon, delta, name), PrivacyCost(each)
    fit = budget.how_many(cost, loss=EXPONENTIAL)
    for part in (0.1, 0.3, 0.5, 0.7, 0.9):
        gain = part * float(cost.epsilon)
        assert exponential_delta(fit, float(cost.epsilon), gain, float(budget.epsilon)) <= budget.delta


@pytest.mark.parametrize(("epsilon", "delta"), [(2, "0.01"), (3, "0.05"), (1, "0.001")])
def test_the_worst_asker_stays_within_the_budget(name: str, epsilon: int, delta: str) -> None:
    budget = Budget(epsilon, delta, name)
    assert worst(budget.keeper, budget) <= budget.delta


def worst(accountant: Accountant, budget: Budget, limit: Total | None = None) -> float:
    """The delta of the worst asker of epsilons 0.1 and 0.4."""
    return worst_delta(accountant, limit or budget.limit, budget.epsilon, (1, 4), Fraction(1, 10), most=40)


class PricesAllAsExponential(ZcdpAccountant):
    """Broken: an eighth of epsilon**2 for randomized response and Laplace noise too."""

    def loss(self, epsilon: Fraction, factor: Fraction = PURE_LOSS) -> Fraction:
        return epsilon**2 / 8


class ForgetsConversion(AdvancedAccountant):
    """Broken: compares the divergence with epsilon itself, as if turning one into the other needed no delta."""

    def limit(self, epsilon: Fraction, delta: Fraction) -> Total:
        return Total(epsilon, delta / 2)


class CountsTheLargestOnly(BasicAccountant):
    """Broken: what was asked before counts only through the largest question so far."""

    def add(self, total: Total, charge: Total) -> Total:
        return Total(max(total.loss, charge.loss), total.delta + charge.delta)


class GoesByTheLastQuestion(ZcdpAccountant):
    """Broken: prices a question at what is left after it, so that a small one makes room again after large ones."""

    def add(self, total: Total, charge: Total) -> Total:
        return Total((total.loss + charge.loss) / 2, total.delta + charge.delta)


@pytest.mark.parametrize(
    "broken", [PricesAllAsExponential(), ForgetsConversion(), CountsTheLargestOnly(), GoesByTheLastQuestion()], ids=shown
)
def test_broken_accountants_are_refuted(broken: Accountant) -> None:
    budget = Budget(1, "0.001", broken.name)
    accountant = broken if not isinstance(broken, AdvancedAccountant) else ForgetsConversion(budget.keeper.excess)
    assert worst(accountant, budget, accountant.limit(budget.epsilon, budget.delta)) > budget.delta


def test_laplace_noise_is_not_an_eighth_of_epsilon_squared_concentrated() -> None:
    """The mean loss of Laplace noise is epsilon - 1 + e**-epsilon; that of order a is at least as large."""
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        mean_loss = epsilon + math.expm1(-epsilon)
        assert mean_loss > 1.1 * epsilon**2 / 8
        assert mean_loss <= epsilon**2 / 2


def test_an_even_smaller_factor_than_an_eighth_is_refuted_for_an_exponential_mechanism() -> None:
    budget, cost = Budget(1, "1e-4", "zcdp"), PrivacyCost("0.1")
    fit = budget.how_many(cost, loss=EXPONENTIAL / 4)
    assert exponential_delta(fit, 0.1, 0.05, 1.0) > budget.delta
