"""Accountants keep one contract: exact sums that only grow, limits that are never overstated, and counts that are exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.accounting.accountants import (
    ACCOUNTANTS,
    FINEST_CHARGE,
    LONGEST_DENOMINATOR,
    Accountant,
    Total,
    ZcdpAccountant,
    accountant_named,
    read_exact,
)
from dpstats.accounting.budgets import Budget
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import PrivacyCost

EPSILONS = st.fractions(min_value=Fraction(1, 10**6), max_value=5)
DELTAS = st.fractions(min_value=0, max_value=Fraction(1, 1000))
COSTS = st.builds(PrivacyCost, EPSILONS, DELTAS)


@pytest.fixture(params=sorted(ACCOUNTANTS))
def accountant(request: pytest.FixtureRequest) -> Accountant:
    return accountant_named(request.param)


def budget_of(accountant: Accountant, epsilon: object = 3, delta: object = "1e-5") -> Budget:
    return Budget(epsilon, delta, accountant.name)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(costs=st.lists(COSTS, max_size=8))
def test_a_total_only_grows_and_never_falls_below_what_was_spent(name: str, costs: list[PrivacyCost]) -> None:
    accountant, total = accountant_named(name), Total()
    for cost in costs:
        after = accountant.add(total, accountant.charge(cost))
        assert total <= after
        total = after
    assert total.loss >= sum(accountant.loss(cost.epsilon) for cost in costs)
    assert total.delta >= sum(cost.delta for cost in costs)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(cost=COSTS)
def test_a_charge_is_rounded_up_by_less_than_10_to_the_minus_18(name: str, cost: PrivacyCost) -> None:
    accountant = accountant_named(name)
    charge = accountant.charge(cost)
    for charged, due in ((charge.loss, accountant.loss(cost.epsilon)), (charge.delta, cost.delta)):
        assert 0 <= charged - due < Fraction(1, FINEST_CHARGE)
        assert charged.denominator <= FINEST_CHARGE


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
def test_denominators_stay_short_however_many_charges_there_are(name: str) -> None:
    accountant, total = accountant_named(name), Total()
    spent = Fraction(0)
    for prime in (p for p in range(10**6, 10**6 + 3000) if all(p % q for q in range(2, 1001))):
        cost = PrivacyCost(Fraction(1, prime))
        spent += accountant.charge(cost).loss
        total = accountant.add(total, accountant.charge(cost))
        assert total.loss.denominator <= LONGEST_DENOMINATOR
    assert spent.denominator > LONGEST_DENOMINATOR  # so that something had to be rounded
    assert 0 <= total.loss - spent < Fraction(1, 10**25)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@settings(max_examples=30)
@given(
    epsilon=st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=10**4),
    delta=st.sampled_from([Fraction(0), Fraction(1, 10**7), Fraction(1, 3 * 10**6)]),
    start=st.fractions(min_value=0, max_value=Fraction(1, 100)),
)
def test_as_many_questions_fit_as_are_counted(name: str, epsilon: Fraction, delta: Fraction, start: Fraction) -> None:
    accountant = accountant_named(name)
    limit, charge, total = (
        budget_of(accountant, 2).limit,
        accountant.charge(PrivacyCost(epsilon, delta)),
        Total(start, Fraction(0)),
    )
    count = accountant.how_many(total, charge, limit)
    for _ in range(count):
        assert accountant.fits(total, charge, limit)
        total = accountant.add(total, charge)
    assert not accountant.fits(total, charge, limit)


def test_questions_are_counted_exactly_where_totals_are_rounded(accountant: Accountant) -> None:
    long = Fraction(1, 2**511 + 1)
    limit, charge, total = budget_of(accountant).limit, Total(Fraction(1, 300), Fraction(0)), Total(long, Fraction(0))
    count = accountant.how_many(total, charge, limit)
    assert count > 1
    for _ in range(count):
        total = accountant.add(total, charge)
    assert total <= limit
    assert not accountant.fits(total, charge, limit)


def test_the_last_bit_of_a_budget_can_be_spent(accountant: Accountant) -> None:
    limit = budget_of(accountant).limit
    part = Total(limit.loss / 4, limit.delta / 4)
    total = Total()
    for _ in range(4):
        assert accountant.fits(total, part, limit)
        total = accountant.add(total, part)
    assert total == limit
    assert not accountant.fits(total, Total(Fraction(1, 10**18), Fraction(0)), limit)
    assert not accountant.fits(total, Total(Fraction(0), Fraction(1, 10**18)), limit)


def test_a_question_that_costs_nothing_is_not_counted(accountant: Accountant) -> None:
    with pytest.raises(InvalidParameterError, match="costs nothing"):
        budget_of(accountant).how_many(PrivacyCost(0))


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(spent=st.fractions(min_value=0, max_value=1), epsilon=EPSILONS)
def test_the_largest_epsilon_fits_and_a_slightly_larger_one_does_not(name: str, spent: Fraction, epsilon: Fraction) -> None:
    accountant = accountant_named(name)
    budget = budget_of(accountant, epsilon)
    total = accountant.add(Total(), Total(spent * budget.limit.loss, Fraction(0)))
    if not total <= budget.limit:
        return
    largest = accountant.largest_epsilon(total, budget.limit)
    assert largest == 0 or accountant.fits(total, accountant.charge(PrivacyCost(largest)), budget.limit)
    assert not accountant.fits(total, accountant.charge(PrivacyCost(largest + Fraction(3, 10**9))), budget.limit)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(loss=st.fractions(min_value=0), delta=st.fractions(min_value=0, max_value=1))
def test_totals_come_back_from_their_texts(name: str, loss: Fraction, delta: Fraction) -> None:
    accountant, total = accountant_named(name), Total(loss, delta)
    assert accountant.from_dict(accountant.to_dict(total)) == total


@pytest.mark.parametrize(
    "text",
    ["", "-1", "0.5", "2/4", "1e9", "1/0", " 1", "1/", "+1", "01", "1_0", "\u0661", "9" * 5000, "1e999999999", 1, None, 0.5],
)
def test_no_other_text_is_a_total(accountant: Accountant, text: Any) -> None:
    with pytest.raises(ValueError, match="not"):
        read_exact(text)
    with pytest.raises(ValueError, match="not"):
        accountant.from_dict({accountant.loss_name: text, "delta": "0"})
    with pytest.raises(KeyError):
        accountant.from_dict({accountant.loss_name: "1"})
    with pytest.raises(ValueError, match="not a total"):
        accountant.from_dict({accountant.loss_name: "1", "delta": "0", "more": "1"})


def test_what_is_left_is_rounded_down_and_what_was_spent_is_rounded_up(accountant: Accountant) -> None:
    amount = Total(Fraction(1234567890123, 10**12), Fraction(0))
    assert accountant.words(amount) == f"{accountant.loss_name} = ~1.23457"
    assert accountant.words(amount, down=True) == f"{accountant.loss_name} = ~1.23456"
    assert accountant.words(Total(Fraction(0), Fraction(1, 3)), down=True) == f"{accountant.loss_name} = 0, delta = 1/3"


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=100), delta=st.fractions(Fraction(1, 10**15), Fraction(49, 100))
)
def test_the_largest_rho_amounts_to_the_budget_and_hardly_less(epsilon: Fraction, delta: Fraction) -> None:
    zcdp = ZcdpAccountant()
    limit = zcdp.limit(epsilon, delta)
    amount, also = zcdp.amounts_to(limit, delta)
    assert also == delta
    assert math.isclose(amount, epsilon, rel_tol=1e-9)
    rho, log = float(limit.loss), math.log(2 / delta)
    assert rho + 2 * math.sqrt(rho * log) <= float(epsilon) * (1 + 1e-12)
    assert Budget(epsilon, delta, "zcdp").amounts_to(limit)[0] <= epsilon


def test_many_small_questions_fit_zcdp_better_and_a_single_large_one_does_not() -> None:
    small = PrivacyCost("0.01")
    assert Budget(1, "1e-6", "zcdp").how_many(small) == 333
    assert Budget(1, "1e-6").how_many(small) == 100
    assert not Budget(1, "1e-6", "zcdp").fits(PrivacyCost("0.2"))


def randomized_response(epsilon: float) -> tuple[dict[int, float], dict[int, float]]:
    yes = math.exp(epsilon) / (1 + math.exp(epsilon))
    return {0: yes, 1: 1 - yes}, {0: 1 - yes, 1: yes}


def repeated(times: int, one: float) -> dict[int, float]:
    """How many of so many answers say 1."""
    return {count: math.comb(times, count) * one**count * (1 - one) ** (times - count) for count in range(times + 1)}


@pytest.mark.parametrize(("epsilon", "delta", "each"), [(1.0, 1e-6, 0.05), (2.0, 1e-3, 0.3), (0.5, 1e-2, 0.02)])
def test_randomized_responses_up_to_the_limit_keep_the_budget_and_many_more_break_it(
    epsilon: float, delta: float, each: float
) -> None:
    budget = Budget(epsilon, delta, "zcdp")
    fit = budget.how_many(PrivacyCost(each))
    left, right = randomized_response(each)

    def broken(times: int) -> bool:
        first, second = repeated(times, left[1]), repeated(times, right[1])
        return sum(max(0.0, first[count] - math.exp(epsilon) * second[count]) for count in first) > delta

    assert fit > 1
    assert not broken(fit)
    assert broken(8 * fit)


def adaptive_transcripts(accountant: Accountant, budget: Budget) -> Iterator[tuple[float, float]]:
    """The two laws of every transcript of an asker who spends more after a yes, for as long as the filter lets them."""

    def walk(total: Total, first: float, second: float, yes: bool) -> Iterator[tuple[float, float]]:
        for epsilon in ("0.8", "0.3") if yes else ("0.3",):
            cost = PrivacyCost(epsilon)
            if accountant.fits(total, accountant.charge(cost), budget.limit):
                left, right = randomized_response(float(cost.epsilon))
                for answer in (0, 1):
                    after = accountant.add(total, accountant.charge(cost))
                    yield from walk(after, first * left[answer], second * right[answer], answer == 1)
                return
        yield first, second

    yield from walk(Total(), 1.0, 1.0, True)


@pytest.mark.parametrize(("epsilon", "delta"), [(2, "0.01"), (3, "0.05")])
def test_an_asker_who_chooses_costs_after_seeing_answers_stays_within_the_budget(
    accountant: Accountant, epsilon: int, delta: str
) -> None:
    budget = budget_of(accountant, epsilon, delta)
    laws = list(adaptive_transcripts(accountant, budget))
    assert len(laws) > 2
    assert math.isclose(sum(first for first, _ in laws), 1.0)
    for one, other in ((0, 1), (1, 0)):
        excess = sum(max(0.0, law[one] - math.exp(epsilon) * law[other]) for law in laws)
        assert excess <= float(budget.delta) + 1e-12


def test_accountants_are_found_by_name() -> None:
    assert accountant_named("basic").name == "basic"
    for unknown in ("fancy", None, 3):
        with pytest.raises(InvalidParameterError, match="'basic' or 'zcdp'"):
            accountant_named(unknown)


def test_the_contract_is_small_enough_to_keep() -> None:
    assert set(Accountant.__abstractmethods__) == {"loss", "epsilon", "limit", "amounts_to"}
