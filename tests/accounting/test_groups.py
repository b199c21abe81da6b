"""Group privacy: shares that add up again in exact rationals, and exact laws that keep them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.accounting.groups import MOST_NATS, Amount, delta_growth, row_cost, row_epsilon, steps_between, unit_cost, unit_loss
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.mechanisms.thresholding import threshold_for
from tests.laws.keys import key_law
from tests.laws.mechanisms import discrete_laplace_law, exponential_of_minus
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.twins.keys import evenly_shared_delta, steps_of_one_change

ONE, MILLIONTH = Fraction(1), Fraction(1, 10**6)
EPSILONS = st.fractions(Fraction(1, 10**9), 40)
DELTAS = st.fractions(Fraction(1, 10**30), Fraction(49, 100))
STEPS = st.one_of(st.integers(1, 40), st.integers(41, 10**9))


@given(epsilon=EPSILONS, delta=DELTAS, steps=STEPS)
@settings(max_examples=300)
def test_what_a_row_may_spend_adds_up_to_no_more_than_the_unit_may_and_hardly_less(epsilon: Any, delta: Any, steps: int) -> None:
    row = row_cost(epsilon, delta, steps)
    unit = unit_cost(row.epsilon, row.delta, steps)
    assert unit.epsilon == epsilon == steps * row.epsilon
    assert delta * (1 - Fraction(1, 10**30)) <= unit.delta <= delta
    assert max(row.delta.denominator, unit.delta.denominator).bit_length() < 700


@given(epsilon=EPSILONS, delta=DELTAS)
def test_one_step_changes_nothing(epsilon: Any, delta: Any) -> None:
    assert row_cost(epsilon, delta, 1) == unit_cost(epsilon, delta, 1) == Amount(epsilon, delta)


@given(epsilon=st.fractions(0, 10**9), steps=STEPS)
def test_no_delta_stays_none_at_any_epsilon(epsilon: Any, steps: int) -> None:
    assert row_cost(epsilon, Fraction(0), steps) == Amount(epsilon / steps, Fraction(0))
    assert unit_cost(epsilon, Fraction(0), steps) == Amount(epsilon * steps, Fraction(0))


@given(epsilon=st.fractions(Fraction(1, 1000), 20), steps=st.integers(1, 12))
@settings(max_examples=100)
def test_the_growth_of_delta_is_the_sum_over_the_steps_rounded_up(epsilon: Any, steps: int) -> None:
    total = sum((1 / exponential_of_minus(place * epsilon) for place in range(steps)), Fraction(0))
    growth = delta_growth(epsilon, steps)
    assert growth is not None
    assert total * (1 - Fraction(1, 2**200)) <= growth <= total * (1 + Fraction(1, 2**120))


def test_shares_that_are_known() -> None:
    row = row_cost(Fraction(3), MILLIONTH, 3)
    assert row.epsilon == 1
    assert float(row.delta) == pytest.approx(1e-6 * (math.e - 1) / (math.e**3 - 1), rel=1e-12)
    assert unit_cost(Fraction(0), MILLIONTH, 5) == Amount(Fraction(0), 5 * MILLIONTH)
    assert row_cost(Fraction(0), MILLIONTH, 4).delta == pytest.approx(2.5e-7)
    assert unit_cost(ONE, Fraction(1, 10), 9) == Amount(Fraction(9), ONE)


@pytest.mark.parametrize("epsilon", [Fraction(2 * MOST_NATS + 1), Fraction(10**9)])
def test_a_delta_that_would_vanish_is_refused_and_one_beyond_everything_is_one(epsilon: Fraction) -> None:
    with pytest.raises(InvalidParameterError, match="leaves nothing for one row: ask with a smaller epsilon"):
        row_cost(epsilon, MILLIONTH, 2)
    assert unit_cost(epsilon, Fraction(1, 10**300), 2) == Amount(2 * epsilon, ONE)
    assert row_cost(epsilon, MILLIONTH, 1) == Amount(epsilon, MILLIONTH)


def test_a_changed_unit_is_twice_as_many_steps_as_an_added_one() -> None:
    assert [steps_between(Neighbors.ADD_REMOVE, rows) for rows in (1, 3)] == [1, 3]
    assert [steps_between(Neighbors.CHANGE_ONE, rows) for rows in (1, 3)] == [2, 6]


@pytest.mark.parametrize("steps", [0, -1, 1.0, True, "3", None])
def test_steps_are_whole_and_positive(steps: Any) -> None:
    for call in (row_cost, unit_cost):
        with pytest.raises(InvalidParameterError, match="steps must be a whole number of 1 or more"):
            call(ONE, MILLIONTH, steps)
    with pytest.raises(InvalidParameterError, match="rows_per_unit must be a whole number of 1 or more"):
        steps_between(Neighbors.ADD_REMOVE, steps)


@pytest.mark.parametrize(("epsilon", "delta"), [(Fraction(-1), MILLIONTH), (ONE, Fraction(-1, 9)), (ONE, Fraction(10, 9))])
def test_costs_are_costs(epsilon: Fraction, delta: Fraction) -> None:
    for call in (row_cost, unit_cost):
        with pytest.raises(InvalidParameterError, match="an epsilon of 0 or more, and a delta between 0 and 1"):
            call(epsilon, delta, 2)


# Exact laws: keys chosen with a row's share, on tables that differ by all the rows of a unit


def needed_delta(row_epsilon: Fraction, row_delta: Fraction, rows: int, unit_epsilon: Fraction) -> float:
    """The delta that a key with up to `rows` rows more or less needs, over all counts up to beyond the threshold."""
    threshold = threshold_for(row_epsilon, row_delta)
    high = threshold + 8
    laws = [key_law(count, 1 / row_epsilon, threshold, high) for count in range(high)]
    pairs = [(low, low + more) for low in range(high) for more in range(1, rows + 1) if low + more < high]
    return max(hockey_stick(laws[here], laws[there], unit_epsilon) for here, there in pairs)


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6)])
def test_all_rows_of_a_unit_together_need_no_more_than_its_delta(rows: int, epsilon: Fraction) -> None:
    row = row_cost(epsilon, MILLIONTH, rows)
    assert needed_delta(row.epsilon, row.delta, rows, epsilon) <= float(MILLIONTH) * (1 + 1e-6)


@pytest.mark.parametrize("rows", [3, 5])
def test_the_twin_that_shares_delta_evenly_is_refuted(rows: int) -> None:
    epsilon = Fraction(6)
    delta = evenly_shared_delta(MILLIONTH, rows)
    assert needed_delta(epsilon / rows, delta, rows, epsilon) > 2 * float(MILLIONTH)


# Exact laws: counts of disjoint groups, asked side by side


def counts_law(counts: tuple[int, int], epsilon: Fraction) -> dict[Any, Fraction]:
    """Both groups' noisy counts together."""
    each = [discrete_laplace_law(count, 1 / epsilon, -3, 8) for count in counts]
    return {(a, b): each[0][a] * each[1][b] for a, b in itertools.product(*each)}


def largest_loss(epsilon: Fraction, moves: list[tuple[int, int]]) -> float:
    here = counts_law((2, 3), epsilon)
    return max(largest_log_ratio(here, counts_law((2 + a, 3 + b), epsilon)) for a, b in moves)


ADDED = [(1, 0), (0, 1), (-1, 0), (0, -1)]
CHANGED = [*ADDED, (1, -1), (-1, 1), (0, 0)]
"""A changed row stays in its group, leaves it for the other, or is not selected before or after."""


def test_groups_side_by_side_cost_a_row_no_more_than_one_of_them() -> None:
    assert largest_loss(ONE, ADDED) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_a_changed_row_costs_the_steps_of_a_change_and_the_twin_is_refuted(epsilon: Fraction) -> None:
    row = row_cost(epsilon, Fraction(0), steps_between(Neighbors.CHANGE_ONE, 1))
    assert largest_loss(row.epsilon, CHANGED) == pytest.approx(float(epsilon), rel=1e-12)
    twin = row_cost(epsilon, Fraction(0), steps_of_one_change(1))
    assert largest_loss(twin.epsilon, CHANGED) > 1.9 * float(epsilon)


@pytest.mark.parametrize("rows", [2, 3])
def test_a_unit_with_rows_in_several_groups_costs_its_steps(rows: int) -> None:
    row = row_cost(ONE, Fraction(0), steps_between(Neighbors.ADD_REMOVE, rows))
    moves = [(a, rows - a) for a in range(rows + 1)]
    assert largest_loss(row.epsilon, moves) == pytest.approx(1, rel=1e-12)


def test_the_loss_of_a_method_is_for_a_unit_what_it_is_for_a_row_but_for_deltas_on_several_steps() -> None:
    eighth, half = Fraction(1, 8), Fraction(1, 2)
    assert unit_loss(eighth, Fraction(0), 7) == eighth
    assert unit_loss(eighth, Fraction(1, 10**6), 1) == eighth
    assert unit_loss(eighth, Fraction(1, 10**6), 2) == half
    with pytest.raises(InvalidParameterError, match="whole number"):
        unit_loss(eighth, Fraction(0), 0)


@pytest.mark.parametrize(("row_epsilon", "steps"), [(0.1, 2), (0.1, 10), (0.5, 3), (1.0, 5)])
def test_a_choice_by_scores_that_move_at_every_step_stays_within_its_loss(row_epsilon: float, steps: int) -> None:
    """Two candidates, their scores moving apart by 2 half-sensitivities a step: an exponential mechanism at its worst."""
    for start in range(-steps, 1):
        chances = [1 / (1 + math.exp(-row_epsilon * place)) for place in (start, start + steps)]
        for one, other in (chances, chances[::-1]):
            for order in (1.01, 1.5, 2.0, 8.0, 30.0):
                moment = one**order * other ** (1 - order) + (1 - one) ** order * (1 - other) ** (1 - order)
                assert math.log(moment) / (order - 1) <= order * (steps * row_epsilon) ** 2 / 8 + 1e-12


def test_a_changed_row_gets_half_of_epsilon_for_each_of_its_two_steps() -> None:
    assert row_epsilon(Fraction(3, 7), Neighbors.ADD_REMOVE) == Fraction(3, 7)
    half = row_epsilon(Fraction(3, 7), Neighbors.CHANGE_ONE)
    assert unit_cost(half, Fraction(0), steps_between(Neighbors.CHANGE_ONE, 1)) == Amount(Fraction(3, 7), Fraction(0))
