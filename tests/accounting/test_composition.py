"""What a list of costs amounts to: never less than exact laws say, never more than adding up, and the best of what is proved."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.accounting import (
    compose,
    exponential_to_zcdp,
    gaussian_to_zcdp,
    group,
    parallel,
    pure_to_zcdp,
    zcdp_to_cost,
    zcdp_within,
)
from dpstats.accounting.composition import METHODS
from dpstats.accounting.groups import unit_cost
from dpstats.foundations.errors import DpstatsError, InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost
from dpstats.mechanisms.gaussian import largest_rho
from tests.accounting.laws import exponential_delta, mixed_delta, response_delta

EPSILONS = st.fractions(min_value=Fraction(1, 1000), max_value=3, max_denominator=1000)
EXACT = ("basic", "zcdp", "advanced", "auto")


@pytest.mark.parametrize("method", EXACT)
@settings(max_examples=40)
@given(epsilons=st.lists(EPSILONS, min_size=1, max_size=9), delta=st.sampled_from(["1e-9", "1e-4", "0.1"]))
def test_no_method_claims_less_than_randomized_responses_lose(method: str, epsilons: list[Fraction], delta: str) -> None:
    cost = compose([PrivacyCost(each) for each in epsilons], method=method, delta=delta)
    assert mixed_delta([float(each) for each in epsilons], float(cost.epsilon) + 1e-12) <= cost.delta
    assert cost.delta <= Fraction(delta)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize(("times", "each", "delta"), [(5, "1", "1e-6"), (100, "0.1", "1e-6"), (3000, "0.01", "1e-9")])
def test_many_equal_questions_need_what_the_binomial_law_needs(method: str, times: int, each: str, delta: str) -> None:
    pure = compose([PrivacyCost(each)] * times, method=method, delta=delta)
    assert response_delta(times, float(each), float(pure.epsilon)) <= Fraction(delta)
    eighth = compose([PrivacyCost(each)] * times, method=method, delta=delta, loss="1/8")
    for part in (0.2, 0.5, 0.8):
        assert exponential_delta(times, float(each), part * float(each), float(eighth.epsilon)) <= Fraction(delta)
    assert eighth.epsilon <= pure.epsilon


def test_a_wrong_factor_for_randomized_response_is_refuted() -> None:
    wrong = compose([PrivacyCost("0.1")] * 100, method="zcdp", delta="1e-6", loss=Fraction(1, 8))
    assert response_delta(100, 0.1, float(wrong.epsilon)) > 1e-6


@given(
    costs=st.lists(st.builds(PrivacyCost, EPSILONS, st.sampled_from([0, "1e-8"])), min_size=1, max_size=6),
    loss=st.sampled_from([Fraction(1, 2), Fraction(1, 8)]),
)
def test_auto_is_the_smallest_and_advanced_is_never_above_zcdp(costs: list[PrivacyCost], loss: Fraction) -> None:
    found = {method: compose(costs, method=method, delta="1e-6", loss=loss).epsilon for method in EXACT}
    assert found["auto"] == min(found.values())
    assert found["advanced"] <= found["zcdp"]
    assert found["basic"] == sum(cost.epsilon for cost in costs)


@pytest.mark.parametrize("method", ["zcdp", "advanced"])
def test_the_order_of_a_list_does_not_matter_and_more_questions_cost_more(method: str) -> None:
    costs = [PrivacyCost(Fraction(place, 100), "1e-9") for place in range(1, 30)]
    whole = compose(costs, method=method, delta="1e-6")
    assert compose(costs[::-1], method=method, delta="1e-6") == whole
    assert compose(costs[:-1], method=method, delta="1e-6").epsilon < whole.epsilon
    assert compose(costs, method=method, delta="1e-5").epsilon < whole.epsilon


def test_the_deltas_of_questions_count_and_leave_less_for_the_rest() -> None:
    costs = [PrivacyCost("0.1", "1e-8")] * 50
    assert compose(costs) == PrivacyCost(5, "5e-7")
    assert compose(costs, delta="1e-6").delta == Fraction(1, 10**6)
    assert compose(costs, delta="1e-6").epsilon == compose([PrivacyCost("0.1")] * 50, delta="5e-7").epsilon
    with pytest.raises(InvalidParameterError, match="add up to 5e-7"):
        compose(costs, delta="1e-7")


def test_without_a_delta_epsilons_add_and_the_others_say_what_they_need() -> None:
    costs = [PrivacyCost("0.1")] * 50
    assert compose(costs) == compose(costs, delta=0) == PrivacyCost(5)
    for method in METHODS.keys() - {"basic"}:
        with pytest.raises(MissingParameterError, match="needs a delta"):
            compose(costs, method=method)


def test_one_question_costs_what_it_costs() -> None:
    assert compose([PrivacyCost("0.3")], delta="1e-12").epsilon <= Fraction(3, 10)
    assert compose([PrivacyCost(0)], delta="1e-6").epsilon == 0


@pytest.mark.parametrize(
    ("arguments", "keywords", "says"),
    [
        (([],), {}, "at least one"),
        (([0.1],), {}, "list of costs"),
        (([PrivacyCost(1)],), {"method": "fancy"}, "method must be"),
        (([PrivacyCost(1)],), {"loss": 1}, "at most 1/2"),
        (([PrivacyCost(1)],), {"loss": [0.5, 0.5]}, "one for each cost"),
        (([PrivacyCost(1)],), {"delta": 0.7}, "delta must be"),
        (([PrivacyCost(1), PrivacyCost(1, unit="person")],), {}, "same neighbors and unit"),
    ],
)
def test_what_cannot_be_composed_is_refused(arguments: tuple[Any, ...], keywords: dict[str, Any], says: str) -> None:
    with pytest.raises(DpstatsError, match=says):
        compose(*arguments, **keywords)


def test_each_question_may_have_its_own_loss() -> None:
    costs = [PrivacyCost("0.1")] * 60
    mixed = compose(costs, method="zcdp", delta="1e-6", loss=[Fraction(1, 8)] * 30 + [0.5] * 30)
    assert mixed == zcdp_to_cost(Fraction(30, 800) + Fraction(30, 200), "1e-6")


def test_questions_side_by_side_cost_what_the_dearest_does() -> None:
    unit = {"unit": "person"}
    costs = [PrivacyCost("0.1", "1e-6", **unit), PrivacyCost("0.3", **unit)]
    assert parallel(costs) == PrivacyCost("0.3", "1e-6", unit="person")
    with pytest.raises(InvalidParameterError, match="added or removed"):
        parallel([PrivacyCost(1, neighbors=Neighbors.CHANGE_ONE)])
    with pytest.raises(InvalidParameterError, match="at least one"):
        parallel([])


def test_a_group_costs_what_the_rows_of_a_unit_do() -> None:
    cost = PrivacyCost("0.1", "1e-8", "change_one", "person")
    found = group(cost, 3)
    assert (found.epsilon, found.delta) == unit_cost(cost.epsilon, cost.delta, 3)
    assert (found.neighbors, found.unit) == (cost.neighbors, cost.unit)
    with pytest.raises(InvalidParameterError, match="whole number"):
        group(cost, 0)


@given(epsilon=st.fractions(min_value=Fraction(1, 10**6), max_value=50))
def test_a_pure_question_is_epsilon_tanh_concentrated(epsilon: Fraction) -> None:
    rho = pure_to_zcdp(epsilon)
    assert math.isclose(rho, float(epsilon) * math.tanh(float(epsilon) / 2), rel_tol=1e-5)
    assert rho <= epsilon**2 / 2
    assert exponential_to_zcdp(epsilon) == epsilon**2 / 8


@given(
    epsilon=st.fractions(min_value=Fraction(1, 100), max_value=20, max_denominator=10**4),
    delta=st.sampled_from([Fraction(1, 10**10), Fraction(1, 10**6), Fraction(1, 100)]),
)
def test_rho_and_cost_lead_to_each_other_and_to_the_rho_of_gaussian_noise(epsilon: Fraction, delta: Fraction) -> None:
    rho = zcdp_within(epsilon, delta)
    back = zcdp_to_cost(rho, delta)
    assert back.epsilon <= epsilon + Fraction(1, 10**18)
    assert back.epsilon > epsilon * Fraction(999, 1000)
    assert math.isclose(rho, largest_rho(epsilon, delta), rel_tol=1e-3)


@pytest.mark.parametrize(("rho", "delta"), [(0.005, 1e-6), (0.1, 1e-3), (2, 1e-9)])
def test_a_rho_amounts_to_no_less_than_gaussian_noise_loses(rho: float, delta: float) -> None:
    """The exact delta of Gaussian noise of sensitivity 1 (Balle & Wang 2018)."""
    epsilon, deviation = float(zcdp_to_cost(rho, delta).epsilon), math.sqrt(1 / (2 * rho))
    assert math.isclose(gaussian_to_zcdp(l2_sensitivity=1, standard_deviation=deviation), rho, rel_tol=1e-12)

    def below(value: float) -> float:
        return math.erfc(-value / math.sqrt(2)) / 2

    first, second = 1 / (2 * deviation) - epsilon * deviation, -1 / (2 * deviation) - epsilon * deviation
    exact = below(first) - math.exp(epsilon) * below(second)
    assert exact <= delta
    assert exact > delta / 20


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: zcdp_to_cost(-1, 1e-6), "0 or more"),
        (lambda: zcdp_to_cost(1, 0), "above 0"),
        (lambda: zcdp_within(1, 0), "above 0"),
        (lambda: pure_to_zcdp(0), "positive"),
        (lambda: gaussian_to_zcdp(l2_sensitivity=1, standard_deviation=0), "standard_deviation must be a positive"),
    ],
)
def test_what_cannot_be_converted_is_refused(call: Any, says: str) -> None:
    with pytest.raises(InvalidParameterError, match=says):
        call()


def test_no_rho_is_no_cost() -> None:
    assert zcdp_to_cost(0, "1e-6", unit="person") == PrivacyCost(0, 0, unit="person")


def test_the_functions_are_public_and_documented() -> None:
    assert dp.accounting.__all__ == sorted(dp.accounting.__all__) == dir(dp.accounting)
    assert all(getattr(dp.accounting, name).__doc__ for name in dp.accounting.__all__)
