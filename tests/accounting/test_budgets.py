from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from dpstats.accounting.accountants import Total
from dpstats.accounting.budgets import Budget
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost


def test_a_budget_is_exact_however_it_is_written() -> None:
    assert Budget(0.1) == Budget("0.1") == Budget(epsilon=Fraction(1, 10)) == Budget("1/10", 0, "basic")
    assert Budget(3, 1e-6).delta == Fraction(1, 10**6)
    assert Budget(3) != Budget(3, 1e-6)
    assert hash(Budget(3)) == hash(Budget("3"))


def test_a_budget_reads_as_it_was_written() -> None:
    budget = Budget(3, 1e-6, "zcdp")
    assert repr(budget) == "Budget(epsilon=3, delta=0.000001, accountant='zcdp')"
    assert str(budget) == "epsilon = 3, delta = 0.000001 (accountant zcdp)"
    assert str(Budget("1/3")) == "epsilon = 1/3"
    assert budget.to_dict() == {"epsilon": "3", "delta": "1/1000000", "accountant": "zcdp"}
    assert eval(repr(budget)) == budget


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((0,), "positive"),
        ((-1,), "positive"),
        ((float("inf"),), "finite"),
        ((float("nan"),), "finite"),
        ((None,), "must be a number"),
        (("much",), "must be a number"),
        ((1, 0.7), "delta must be"),
        ((1, -0.1), "delta must be"),
        ((1, 0, "fancy"), "'basic', 'zcdp', 'advanced'"),
        ((1, 0, "advanced"), "delta above 0"),
        ((1, 0, "zcdp"), "delta above 0"),
    ],
)
def test_what_is_no_budget_is_refused(arguments: tuple[Any, ...], says: str) -> None:
    with pytest.raises(InvalidParameterError, match=says):
        Budget(*arguments)


def test_what_is_left_is_said_in_the_accountants_words() -> None:
    spent = Total(Fraction(8, 5), Fraction(0))
    assert Budget(3).remaining(spent) == "epsilon = 1.4"
    assert Budget(3, 1e-6).remaining() == "epsilon = 3, delta = 0.000001"
    assert Budget(3, 1e-6, "zcdp").remaining().startswith("rho = ~0.14")


def test_a_spent_zcdp_budget_amounts_to_no_more_than_the_budget() -> None:
    budget = Budget(1, 1e-6, "zcdp")
    epsilon, delta = budget.amounts_to(budget.limit)
    assert Fraction(999_999, 10**6) < epsilon <= 1
    assert delta == budget.delta
    assert budget.amounts_to(Total()) == (Fraction(0), Fraction(0))
    assert budget.amounts_to(Total(budget.limit.loss * 2, Fraction(0)))[0] > 1


def test_questions_with_deltas_are_counted_by_whichever_runs_out_first() -> None:
    budget = Budget(3, 1e-6)
    assert budget.how_many(PrivacyCost(0.1, 1e-7)) == 10
    assert budget.how_many(PrivacyCost(0.1, 1e-9)) == 30
    assert Budget(3, 1e-6, "zcdp").how_many(PrivacyCost(0.01, 1e-7)) == 5  # half of delta is for the questions
