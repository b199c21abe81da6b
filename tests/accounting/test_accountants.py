"""Accountants keep one contract: exact sums that only grow, limits that are never overstated, and counts that are exact."""

from __future__ import annotations

import math
from fractions import Fraction
from math import ceil
from random import Random
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


FACTORS = st.sampled_from([Fraction(1, 2), Fraction(1, 8), Fraction(5, 32)])


@pytest.fixture(params=sorted(ACCOUNTANTS))
def accountant(request: pytest.FixtureRequest) -> Accountant:
    return keeper(request.param)


def keeper(name: str) -> Accountant:
    """An accountant as a budget has it."""
    return Budget(3, "1e-5", name).keeper


def budget_of(accountant: Accountant, epsilon: object = 3, delta: object = "1e-5") -> Budget:
    return Budget(epsilon, delta, accountant.name)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(questions=st.lists(st.tuples(COSTS, FACTORS), max_size=8), order=st.randoms(use_true_random=False))
def test_a_total_only_grows_whatever_the_order_and_never_falls_below_what_was_spent(
    name: str, questions: list[tuple[PrivacyCost, Fraction]], order: Random
) -> None:
    accountant = keeper(name)
    totals = []
    for _ in range(2):
        total = Total()
        for cost, factor in questions:
            after = accountant.add(total, accountant.charge(cost, factor))
            assert total <= after
            total = after
        assert total.loss >= sum(accountant.loss(cost.epsilon, factor) for cost, factor in questions)
        assert total.delta >= sum(cost.delta for cost, _ in questions)
        totals.append(total)
        order.shuffle(questions)
    assert abs(totals[0].loss - totals[1].loss) <= Fraction(len(questions), 10**30)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(cost=COSTS, factor=FACTORS)
def test_a_charge_is_rounded_up_by_less_than_10_to_the_minus_18(name: str, cost: PrivacyCost, factor: Fraction) -> None:
    accountant = keeper(name)
    charge = accountant.charge(cost, factor)
    for charged, due in ((charge.loss, accountant.loss(cost.epsilon, factor)), (charge.delta, cost.delta)):
        assert 0 <= charged - due < Fraction(1, FINEST_CHARGE)
        assert charged.denominator <= FINEST_CHARGE


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
def test_denominators_stay_short_however_many_charges_there_are(name: str) -> None:
    accountant, total = keeper(name), Total()
    spent = Fraction(0)
    for prime in (p for p in range(10**6, 10**6 + 3000) if all(p % q for q in range(2, 1001))):
        cost = PrivacyCost(Fraction(1, prime))
        spent += accountant.charge(cost).loss
        total = accountant.add(total, accountant.charge(cost))
        assert total.loss.denominator <= LONGEST_DENOMINATOR
    decimal = name == "advanced"  # its charges are decimals from the start
    assert decimal or spent.denominator > LONGEST_DENOMINATOR  # so that something had to be rounded
    assert 0 <= total.loss - spent < Fraction(1, 10**25)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@settings(max_examples=30)
@given(
    epsilon=st.fractions(min_value=Fraction(1, 50), max_value=2, max_denominator=10**4),
    delta=st.sampled_from([Fraction(0), Fraction(1, 10**7), Fraction(1, 3 * 10**6)]),
    start=st.fractions(min_value=0, max_value=Fraction(1, 100)),
)
def test_as_many_questions_fit_as_are_counted(name: str, epsilon: Fraction, delta: Fraction, start: Fraction) -> None:
    accountant = Budget(2, "1e-5", name).keeper
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
    budget = Budget(epsilon, "1e-5", name)
    accountant = budget.keeper
    total = accountant.add(Total(), Total(spent * budget.limit.loss, Fraction(0)))
    if not total <= budget.limit:
        return
    largest = accountant.largest_epsilon(total, budget.limit)
    assert largest == 0 or accountant.fits(total, accountant.charge(PrivacyCost(largest)), budget.limit)
    assert not accountant.fits(total, accountant.charge(PrivacyCost(largest + Fraction(3, 10**9))), budget.limit)


@pytest.mark.parametrize("name", sorted(ACCOUNTANTS))
@given(loss=st.fractions(min_value=0), delta=st.fractions(min_value=0, max_value=1))
def test_totals_come_back_from_their_texts(name: str, loss: Fraction, delta: Fraction) -> None:
    accountant, total = keeper(name), Total(loss, delta)
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


@given(epsilon=EPSILONS, factor=FACTORS)
def test_a_smaller_factor_is_never_dearer_and_basic_does_not_look_at_it(epsilon: Fraction, factor: Fraction) -> None:
    cost = PrivacyCost(epsilon)
    for name in ACCOUNTANTS:
        accountant = keeper(name)
        assert accountant.charge(cost, factor) <= accountant.charge(cost)
        assert accountant.weighs_methods or accountant.charge(cost, factor) == accountant.charge(cost)
    assert keeper("zcdp").loss(epsilon, factor) == factor * epsilon**2


@pytest.mark.parametrize("factor", [Fraction(0), Fraction(-1, 8), Fraction(51, 100), Fraction(1)])
def test_what_is_no_factor_is_refused(accountant: Accountant, factor: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="at most 1/2"):
        accountant.charge(PrivacyCost(1), factor)


@given(
    epsilon=st.fractions(min_value=Fraction(1, 10**4), max_value=200, max_denominator=10**6),
    delta=st.fractions(Fraction(1, 10**15), Fraction(49, 100)),
    share=st.fractions(min_value=Fraction(1, 1000), max_value=1),
    factor=FACTORS,
)
def test_advanced_fits_whatever_zcdp_does(epsilon: Fraction, delta: Fraction, share: Fraction, factor: Fraction) -> None:
    cost = PrivacyCost(Fraction(ceil(share * epsilon * 10**6), 10**6))
    zcdp, advanced = Budget(epsilon, delta, "zcdp"), Budget(epsilon, delta, "advanced")
    assert advanced.how_many(cost, loss=factor) >= zcdp.how_many(cost, loss=factor)


@given(epsilon=EPSILONS, delta=st.fractions(Fraction(1, 10**12), Fraction(49, 100)), part=st.fractions(0, 1))
def test_a_total_within_the_limit_amounts_to_no_more_than_the_budget(epsilon: Fraction, delta: Fraction, part: Fraction) -> None:
    for name in ACCOUNTANTS:
        budget = Budget(epsilon, delta, name)
        assert budget.keeper.limit(epsilon, delta) == budget.limit
        spent = Total(budget.limit.loss * part, budget.limit.delta * part)
        amounts = budget.amounts_to(spent)
        assert amounts[0] <= epsilon
        assert amounts[1] <= delta


@pytest.mark.parametrize(
    ("epsilon", "delta", "excess"),
    [
        ("0.1", "1e-6", 176),
        (1, "1e-6", 22),
        (3, "1e-6", Fraction(17, 2)),
        (10, "1e-9", Fraction(17, 4)),
        (100, "1e-3", Fraction(11, 32)),
    ],
)
def test_the_order_of_a_budget_stays_what_it_was_because_ledgers_were_added_up_with_it(
    epsilon: object, delta: object, excess: object
) -> None:
    assert Budget(epsilon, delta, "advanced").keeper.excess == excess


@pytest.mark.parametrize("epsilon", ["0.2", 3, 40])
def test_a_long_sequence_of_questions_never_passes_the_limit(accountant: Accountant, epsilon: object) -> None:
    """Whoever asks takes small or large questions as the last one went, and goes on after refusals."""
    budget, chances = budget_of(accountant, epsilon), Random(7)
    total, refused, bold = Total(), 0, True
    while refused < 50:
        share = Fraction(chances.randint(1, 300 if bold else 20), 1000)
        cost = PrivacyCost(share * budget.epsilon, Fraction(chances.randint(0, 9), 10**8))
        charge = budget.keeper.charge(cost, chances.choice([Fraction(1, 2), Fraction(1, 8)]))
        bold = budget.keeper.fits(total, charge, budget.limit)
        if bold:
            total = budget.keeper.add(total, charge)
        refused += not bold
        assert total <= budget.limit
        spent_epsilon, spent_delta = budget.amounts_to(total)
        assert spent_epsilon <= budget.epsilon
        assert spent_delta <= budget.delta
    assert total.loss > budget.limit.loss * Fraction(9, 10)


def test_accountants_are_found_by_name() -> None:
    assert accountant_named("basic").name == "basic"
    for unknown in ("fancy", "pld", None, 3):
        with pytest.raises(InvalidParameterError, match="'basic', 'zcdp', 'advanced'"):
            accountant_named(unknown)


def test_the_contract_is_small_enough_to_keep() -> None:
    assert set(Accountant.__abstractmethods__) == {"loss", "epsilon", "limit", "amounts_to"}
