"""Chosen keys: the exact law on all neighbours, an order that says nothing of the rows, and labels that make no error."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats
from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.keys import in_key_order
from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.thresholding import choose_keys, noise_scale, rows_for, threshold_for
from tests.laws.keys import HIDDEN, key_law, release_chance, released_keys_law
from tests.laws.mechanisms import ABOVE
from tests.names import shown
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.twins.keys import bare_count_law, half_noise_scale, late_noise_law, low_threshold, order_of_appearance

ONE, MILLIONTH = Fraction(1), Fraction(1, 10**6)
EPSILONS = [pytest.param(Fraction(1, 10), marks=pytest.mark.long), Fraction(1, 2), ONE, Fraction(3), Fraction(10)]
DELTAS = [Fraction(1, 10**9), MILLIONTH, Fraction(1, 100), Fraction(2, 5)]
Law = dict[Any, Fraction]


def worst_delta(law_of: Callable[[int], Law], epsilon: Fraction, counts: int) -> float:
    """The delta that the worst of the pairs (0, 1), (1, 2), ... needs."""
    laws = [law_of(count) for count in range(counts + 1)]
    return max(hockey_stick(here, there, epsilon) for here, there in itertools.pairwise(laws))


# The law


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_no_pair_of_counts_needs_more_than_delta(epsilon: Fraction, delta: Fraction) -> None:
    threshold = threshold_for(epsilon, delta)
    high = threshold + 12
    worst = worst_delta(lambda count: key_law(count, 1 / epsilon, threshold, high), epsilon, high)
    assert worst <= float(delta) * (1 + 1e-6)
    assert worst >= float(delta) * math.exp(-float(epsilon)) * (1 - 1e-6)  # the threshold is not larger than it must be


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_key_that_is_present_on_both_sides_costs_epsilon_alone(epsilon: Fraction) -> None:
    threshold = threshold_for(epsilon, MILLIONTH)
    laws = [key_law(count, 1 / epsilon, threshold, threshold + 12) for count in range(1, threshold + 12)]
    losses = [largest_log_ratio(here, there) for here, there in itertools.pairwise(laws)]
    assert max(losses) == pytest.approx(float(epsilon), rel=1e-12)


@given(epsilon=st.fractions(Fraction(1, 50), 20), delta=st.fractions(Fraction(1, 10**30), Fraction(49, 100)))
@settings(max_examples=80)
def test_the_threshold_is_the_least_that_a_single_row_reaches_with_at_most_delta(epsilon: Any, delta: Any) -> None:
    threshold = threshold_for(epsilon, delta)
    assert release_chance(1, 1 / epsilon, threshold) <= delta < release_chance(1, 1 / epsilon, threshold - 1)


@given(
    epsilon=st.fractions(Fraction(1, 50), 20),
    delta=st.fractions(Fraction(1, 10**12), Fraction(49, 100)),
    chance=st.fractions(Fraction(1, 2), Fraction(999, 1000)),
)
@settings(max_examples=80)
def test_rows_for_is_the_least_number_of_rows_with_that_chance(epsilon: Any, delta: Any, chance: Any) -> None:
    threshold, rows = threshold_for(epsilon, delta), rows_for(epsilon, delta, chance)
    assert release_chance(rows - 1, 1 / epsilon, threshold) < chance <= release_chance(rows, 1 / epsilon, threshold)


def test_thresholds_that_are_known() -> None:
    assert threshold_for(1, 1e-6) == 15  # one more than a distance test's 14, because a key starts with one row
    assert rows_for(1, 1e-6) == 17
    assert rows_for("0.1", 1e-6) == 156
    assert threshold_for(1e9, 0.4) == 2
    assert noise_scale(0.25) == 4


@pytest.mark.parametrize("count", [1, 8, 20])
def test_the_law_is_a_law(count: int) -> None:
    law = key_law(count, Fraction(2), 8, 30)
    assert abs(sum(law.values(), Fraction(-1))) < Fraction(1, 2**80)
    assert abs(1 - law[HIDDEN] - release_chance(count, Fraction(2), 8)) < Fraction(1, 2**80)
    assert set(law) == {HIDDEN, ABOVE, *range(8, 31)}


def test_a_key_at_the_threshold_is_hidden_less_often_than_not_and_one_without_rows_always() -> None:
    assert release_chance(8, Fraction(2), 8) > Fraction(1, 2) > release_chance(7, Fraction(2), 8)
    assert release_chance(0, Fraction(2), 8) == 0


# Twins


@pytest.mark.parametrize("epsilon", EPSILONS[:4])
def test_the_twin_with_a_threshold_lower_by_one_is_refuted(epsilon: Fraction) -> None:
    threshold = low_threshold(epsilon, MILLIONTH)
    worst = worst_delta(lambda count: key_law(count, 1 / epsilon, threshold, threshold + 12), epsilon, threshold + 5)
    assert worst > 1.00001 * float(MILLIONTH)


@pytest.mark.parametrize("epsilon", EPSILONS[:4])
def test_the_twin_with_half_the_noise_is_refuted(epsilon: Fraction) -> None:
    threshold = threshold_for(epsilon, MILLIONTH)
    worst = worst_delta(
        lambda count: key_law(count, half_noise_scale(epsilon), threshold, threshold + 12), epsilon, threshold + 5
    )
    assert worst > 0.04


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_twins_that_compare_the_raw_count_are_refuted(epsilon: Fraction) -> None:
    reach = threshold_for(epsilon, MILLIONTH) + 2
    assert worst_delta(lambda count: bare_count_law(count, epsilon, MILLIONTH), epsilon, reach) == 1
    late = worst_delta(lambda count: late_noise_law(count, epsilon, MILLIONTH, 0, 2 * reach), epsilon, reach)
    assert late == pytest.approx(1)


def law_of_released(rows: Sequence[str], epsilon: Fraction, order: Sequence[Any]) -> Law:
    """Which keys a table of rows releases, in that order of all its keys."""
    threshold, counts = threshold_for(epsilon, MILLIONTH), Counter(rows)
    return released_keys_law({key: release_chance(count, 1 / epsilon, threshold) for key, count in counts.items()}, order)


def test_released_keys_in_public_order_need_no_more_than_delta_and_in_the_order_of_rows_everything() -> None:
    rows = ["b", *["a"] * 25, *["b"] * 25]
    without = rows[1:]
    here, there = (law_of_released(table, ONE, in_key_order(set(table))) for table in (rows, without))
    assert hockey_stick(here, there, ONE) <= float(MILLIONTH)
    here, there = (law_of_released(table, ONE, order_of_appearance(table)) for table in (rows, without))
    assert hockey_stick(here, there, ONE) > 0.99


def test_all_small_tables_of_two_keys_and_their_neighbours_need_no_more_than_delta() -> None:
    epsilon, delta = Fraction(2), Fraction(1, 50)
    threshold = threshold_for(epsilon, delta)
    chances = [release_chance(count, 1 / epsilon, threshold) for count in range(7)]
    for a, b in itertools.product(range(6), repeat=2):
        here = released_keys_law({"a": chances[a], "b": chances[b]}, "ab")
        for moved in ((a + 1, b), (a, b + 1)):
            there = released_keys_law({"a": chances[moved[0]], "b": chances[moved[1]]}, "ab")
            assert hockey_stick(here, there, epsilon) <= float(delta) * (1 + 1e-9)


# The sampler


@pytest.mark.parametrize("count", [1, 4, 6, 9])
def test_outcomes_fit_the_exact_law_and_none_with_a_tenth_more_or_less_noise(count: int, fit: Callable[..., float]) -> None:
    epsilon, delta, keys, high = Fraction(1, 2), Fraction(1, 5), 60_000, 25
    threshold = threshold_for(epsilon, delta)
    chosen = choose_keys({(key,): count for key in range(keys)}, epsilon, delta, seeded(7))
    outcomes = [chosen.get((key,), HIDDEN) for key in range(keys)]
    seen = [ABOVE if isinstance(outcome, int) and outcome > high else outcome for outcome in outcomes]
    assert fit(seen, key_law(count, 1 / epsilon, threshold, high)) > 1e-3
    for wrong in (Fraction(9, 10), Fraction(11, 10)):
        assert fit(seen, key_law(count, wrong / epsilon, threshold, high)) < 1e-4


@given(st.dictionaries(st.tuples(st.one_of(st.text(max_size=2), st.integers(-3, 3))), st.integers(1, 9)), st.randoms())
@settings(max_examples=60)
def test_the_order_of_the_counts_makes_no_difference(raw_counts: Any, shuffled: Any) -> None:
    items = list(raw_counts.items())
    shuffled.shuffle(items)
    first, second = (choose_keys(dict(table), 1, 0.4, seeded(3)) for table in (raw_counts.items(), items))
    assert list(first.items()) == list(second.items())


def test_keys_leave_in_order_numbers_before_texts() -> None:
    keys = [("b", 2), ("b", "1"), (10, "z"), ("a", 1), (2, 5), (2.5, 0), (True, 0), ("B", 0), ("ä", 0)]
    chosen = list(choose_keys(dict.fromkeys(keys, 10**6), 1, 1e-6))
    assert chosen == [(True, 0), (2, 5), (2.5, 0), (10, "z"), ("B", 0), ("a", 1), ("b", 2), ("b", "1"), ("ä", 0)]
    assert list(choose_keys({"south": 10**6, "north": 10**6}, 1, 1e-6)) == ["north", "south"]


def test_frequent_keys_are_chosen_with_whole_counts_near_their_own() -> None:
    chosen = choose_keys({("north",): 10_000, ("south",): 500, ("alone",): 1}, 1, 1e-9)
    assert set(chosen) == {("north",), ("south",)}
    assert all(type(count) is int for count in chosen.values())
    assert abs(chosen["north",] - 10_000) < 60


def test_a_key_without_rows_is_not_there() -> None:
    chosen = choose_keys({(key,): 0 for key in range(5_000)} | {(-1,): -3}, 1e-6, 0.49, seeded(7))
    assert chosen == {}
    assert choose_keys({}, 1, 1e-6) == {}


@pytest.mark.parametrize(
    "odd",
    [math.nan, None, datetime.date(2020, 1, 2), b"x", ("nested",), frozenset(), np.float32("nan"), 1 + 2j, object()],
    ids=shown,
)
def test_a_key_with_anything_but_a_label_counts_as_missing(odd: Any) -> None:
    raw_counts: dict[Any, int] = {("a", odd): 10**6, ("b", 1): 10**6}
    assert list(choose_keys(raw_counts, 1, 1e-6)) == [("b", 1)]


def test_numbers_of_numpy_are_plain_labels_and_zero_has_no_sign() -> None:
    raw_counts: dict[Any, Any] = {
        (np.int64(3), np.str_("x")): np.int32(10**6),
        (np.bool_(True), "x"): 1e6,
        (-0.0, "x"): 10**6,
        (math.inf, "x"): 2**70,
    }
    chosen = choose_keys(raw_counts, 1, 1e-6)
    assert str(list(chosen)) == "[(0.0, 'x'), (True, 'x'), (3, 'x'), (inf, 'x')]"
    assert [type(label) for key in chosen for label in key] == [float, str, bool, str, int, str, float, str]
    assert chosen[math.inf, "x"] > 2**69


@pytest.mark.parametrize("count", [math.nan, None, "many", 0.99, -math.inf])
def test_a_count_that_is_no_number_or_below_1_is_none(count: Any) -> None:
    assert choose_keys({"a": count, "b": 10**6}, 1, 1e-6, seeded(7)).keys() == {"b"}


# Errors


@pytest.mark.parametrize("call", [lambda **given: choose_keys({}, **given), threshold_for, rows_for])
@pytest.mark.parametrize(
    ("given_values", "words"),
    [
        ({"epsilon": 0, "delta": 1e-6}, "epsilon must be a positive number"),
        ({"epsilon": 1, "delta": 0.5}, r"delta must be at least 0 and below 0\.5"),
        ({"epsilon": 1, "delta": "tiny"}, "delta must be a number such as 1e-6"),
    ],
)
def test_errors_say_what_a_parameter_must_be(call: Callable[..., Any], given_values: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        call(**given_values)


def test_keys_cannot_be_chosen_without_delta() -> None:
    with pytest.raises(MissingParameterError, match="for example delta=1e-6"):
        choose_keys({"a": 5}, 1, 0)


@pytest.mark.parametrize("chance", [0, 0.49, 1, 1.5])
def test_a_chance_is_at_least_a_half_and_no_certainty(chance: float) -> None:
    with pytest.raises(InvalidParameterError, match=r"chance must be at least 0\.5 and below 1, such as 0\.95"):
        rows_for(1, 1e-6, chance)


def test_counts_come_in_a_dict_and_randomness_from_a_source() -> None:
    with pytest.raises(DataTypeError, match=r"a dict from keys to counts; got list\."):
        choose_keys([("a", 3)], 1, 1e-6)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match=r"rng must come from dpstats\.testing\.seeded"):
        choose_keys({"a": 3}, 1, 1e-6, 7)  # type: ignore[arg-type]


def test_choosing_keys_is_among_the_mechanisms() -> None:
    assert dpstats.mechanisms.choose_keys is choose_keys
