"""Privacy costs: exact sums of like with like."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon


def test_a_tenth_and_two_tenths_are_three_tenths() -> None:
    total = PrivacyCost(0.1) + PrivacyCost(0.2)
    assert total.epsilon == Fraction(3, 10)
    assert total == PrivacyCost("0.3") == PrivacyCost(0.3)


def test_ten_tenths_are_one() -> None:
    assert sum([PrivacyCost(0.1, 1e-7)] * 10) == PrivacyCost(1, "1e-6")


amounts = st.tuples(st.fractions(0, 10), st.fractions(0, Fraction(1, 10)))


@given(parts=st.lists(amounts, min_size=1, max_size=6))
@settings(max_examples=50)
def test_sums_are_exact_in_every_order(parts: list[tuple[Fraction, Fraction]]) -> None:
    costs = [PrivacyCost(epsilon, delta) for epsilon, delta in parts]
    expected = PrivacyCost(sum(epsilon for epsilon, _ in parts), min(1, sum(delta for _, delta in parts)))
    assert sum(costs) == sum(reversed(costs)) == expected


def test_delta_stops_at_one() -> None:
    assert (PrivacyCost(1, 0.7) + PrivacyCost(1, 0.7)).delta == 1
    assert sum([PrivacyCost(1, 0.3)] * 9) == PrivacyCost(9, 1)


@pytest.mark.parametrize(
    "other", [PrivacyCost(1, 0, "change_one"), PrivacyCost(1, unit="person"), PrivacyCost(1, 0, Neighbors.CHANGE_ONE, "person")]
)
def test_costs_of_different_kinds_do_not_add_up(other: PrivacyCost) -> None:
    for first, second in itertools.permutations([PrivacyCost(1), other]):
        with pytest.raises(InvalidParameterError, match="with the same neighbors and unit"):
            first + second
        with pytest.raises(InvalidParameterError, match="with the same neighbors and unit"):
            first - second
        with pytest.raises(InvalidParameterError, match="with the same neighbors and unit"):
            _ = first <= second


def test_a_cost_fits_within_a_budget_when_neither_amount_is_larger() -> None:
    budget = PrivacyCost(1, 1e-6)
    for cost in (budget, PrivacyCost(1), PrivacyCost("1/3", 1e-7)):
        assert cost <= budget
        assert budget >= cost
    for cost in (PrivacyCost("1.0000000001"), PrivacyCost(0.5, 1e-5)):
        assert not cost <= budget
    with pytest.raises(TypeError):
        _ = budget <= 1


def test_what_is_left_of_a_budget_is_exact_and_never_negative() -> None:
    assert PrivacyCost(1, 1e-6) - PrivacyCost(0.1) - PrivacyCost(0.2, 1e-6) == PrivacyCost(0.7)
    with pytest.raises(InvalidParameterError, match=r"a cost of epsilon = 2 does not fit within epsilon = 1\."):
        PrivacyCost(1) - PrivacyCost(2)
    with pytest.raises(InvalidParameterError, match="does not fit"):
        PrivacyCost(1) - PrivacyCost(0.5, 1e-9)


@pytest.mark.parametrize("unit", ["", "  ", "person\n  claim  none", "per\x1bson", "x" * 61, None, 7])
def test_a_unit_that_could_break_a_card_is_refused(unit: Any) -> None:
    with pytest.raises(InvalidParameterError, match="unit must be one line of printable text"):
        PrivacyCost(1, unit=unit)


def test_a_unit_may_be_words() -> None:
    assert PrivacyCost(1, unit="household of the year 2024").unit == "household of the year 2024"


@pytest.mark.parametrize("other", [1, 0.5, "1", None])
def test_only_costs_add_to_costs(other: Any) -> None:
    with pytest.raises(TypeError):
        PrivacyCost(1) + other
    with pytest.raises(TypeError):
        other + PrivacyCost(1)


@pytest.mark.parametrize(
    ("cost", "short", "long"),
    [
        (PrivacyCost(0), "epsilon = 0", "PrivacyCost(epsilon=0, delta=0, neighbors='add_remove', unit='row')"),
        (PrivacyCost(100), "epsilon = 100", "PrivacyCost(epsilon=100, delta=0, neighbors='add_remove', unit='row')"),
        (
            PrivacyCost(0.5, 1e-6, "change_one", "person"),
            "epsilon = 0.5, delta = 0.000001",
            "PrivacyCost(epsilon=0.5, delta=0.000001, neighbors='change_one', unit='person')",
        ),
        (
            PrivacyCost("1/3", "1e-400"),
            "epsilon = 1/3, delta = 1e-400",
            "PrivacyCost(epsilon=1/3, delta=1e-400, neighbors='add_remove', unit='row')",
        ),
    ],
)
def test_costs_print_without_understating(cost: PrivacyCost, short: str, long: str) -> None:
    assert (str(cost), repr(cost)) == (short, long)


def test_plain_values_keep_the_exact_amounts_as_text() -> None:
    plain = PrivacyCost("1/3", 1e-6, "change_one", "person").to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain == {
        "epsilon": 1 / 3,
        "epsilon_exact": "1/3",
        "delta": 1e-6,
        "delta_exact": "1/1000000",
        "neighbors": "change_one",
        "unit": "person",
    }


def test_an_amount_below_the_smallest_float_is_not_shown_as_none() -> None:
    plain = PrivacyCost(1, "1e-400").to_dict()
    assert plain["delta"] == 5e-324
    assert PrivacyCost(1).to_dict()["delta"] == 0


def test_costs_are_frozen_hashable_and_survive_copies() -> None:
    cost = PrivacyCost(0.5, 1e-6, "change_one", "person")
    with pytest.raises(dataclasses.FrozenInstanceError):
        cost.epsilon = Fraction(0)  # type: ignore[misc]
    assert len({cost, PrivacyCost("0.5", "1e-6", Neighbors.CHANGE_ONE, "person"), PrivacyCost(0.5)}) == 2
    assert pickle.loads(pickle.dumps(cost)) == copy.deepcopy(cost) == dataclasses.replace(cost) == cost


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), ("-1e-9", 0), (1, -0.1), (1, 1.5)])
def test_amounts_out_of_range_are_refused(epsilon: object, delta: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"negative epsilon|between 0 and 1"):
        PrivacyCost(epsilon, delta)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (0, 1), (10**20, 0)])
def test_amounts_at_the_ends_are_costs(epsilon: object, delta: object) -> None:
    assert PrivacyCost(epsilon, delta).epsilon == epsilon


@pytest.mark.parametrize("value", [1, 1.0, "1", Fraction(1), np.int64(1), np.float32(1)])
def test_epsilon_may_be_any_kind_of_number(value: object) -> None:
    assert spendable_epsilon(value) == 1


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0, "positive number such as 0.5 or 1, got 0"),
        (-0.5, "positive number"),
        ("1e-10", "at least 1e-9"),
        ("1e10", "at most 1e9"),
        (float("inf"), "finite"),
        (True, "got True"),
    ],
)
def test_an_epsilon_that_cannot_be_spent_is_refused(value: object, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        spendable_epsilon(value)


def test_the_ends_of_what_epsilon_may_be_are_spendable() -> None:
    assert spendable_epsilon("1e-9") == Fraction(1, 10**9)
    assert spendable_epsilon(1e9) == 10**9


@pytest.mark.parametrize("value", [0.5, 1, -1e-9, "1/2"])
def test_a_delta_that_cannot_be_spent_is_refused(value: object) -> None:
    with pytest.raises(InvalidParameterError, match=r"at least 0 and below 0\.5, such as 1e-6"):
        spendable_delta(value)


def test_no_delta_and_tiny_deltas_are_spendable() -> None:
    assert spendable_delta(0) == 0
    assert spendable_delta("1e-400") == Fraction(1, 10**400)


@pytest.mark.parametrize("member", Neighbors)
def test_neighbours_are_named_by_member_or_text(member: Neighbors) -> None:
    assert Neighbors.named(member) is Neighbors.named(member.value) is member


@pytest.mark.parametrize("name", ["friends", "ADD_REMOVE", "", None, 1, ["add_remove"]])
def test_an_unknown_relation_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(InvalidParameterError, match="must be 'add_remove' or 'change_one', got"):
        Neighbors.named(name)


def test_the_words_of_a_relation_say_whether_the_number_of_rows_is_private() -> None:
    assert Neighbors.ADD_REMOVE.describe("person") == "one person added or removed; the number of rows is private"
    assert Neighbors.CHANGE_ONE.describe() == "one row changed; the number of rows is public"
