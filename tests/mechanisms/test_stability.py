"""Stable release: its exact law on hard pairs, the trap of the other distance, and that any value may leave."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.mechanisms import stable_release
from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from dpstats.mechanisms.propose_test_release import make_test
from tests.laws.propose_test_release import REFUSED, best_test_law, cascade_law, laplace_test_law
from tests.privacy_loss.exact import hockey_stick
from tests.twins.propose_test_release import PrintedScaleTest, eager_test, other_bin_best_test, other_bin_test

DELTA = Fraction(1, 10**6)


def law_of(test: Any, distance: int, value: str) -> dict[Any, Fraction]:
    chance = best_test_law(test, distance) if isinstance(test, BestTest) else laplace_test_law(test, distance)
    return cascade_law([chance], [{value: Fraction(1)}])


def worst_delta(test: Any, epsilon: Fraction, unstable_at: int, cap: int) -> float:
    """Neighbours have the same value where one of them is stable; on two unstable tables the values may differ."""
    same = [(law_of(test, k, "a"), law_of(test, k + 1, "a")) for k in range(cap + 2)]
    torn = [
        (law_of(test, k, "a"), law_of(test, other, "b"))
        for k in range(unstable_at + 1)
        for other in range(max(0, k - 1), min(k + 1, unstable_at) + 1)
    ]
    return max(hockey_stick(here, there, epsilon) for here, there in same + torn)


@pytest.mark.parametrize("name", ["best", "laplace"])
@pytest.mark.parametrize("unstable_at", [0, 1, 2])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_no_hard_pair_needs_more_than_delta(name: str, unstable_at: int, epsilon: Fraction) -> None:
    test = make_test(name, epsilon, DELTA, unstable_at)
    worst = worst_delta(test, epsilon, unstable_at, test.cap)
    assert worst <= float(DELTA) * (1 + 1e-9)
    assert worst >= float(DELTA) * (1 if name == "best" else math.exp(-float(epsilon))) * (1 - 1e-9)


@pytest.mark.parametrize(
    ("twin", "epsilon", "unstable_at"),
    [
        (other_bin_best_test(Fraction(1), DELTA), Fraction(1), 1),
        (other_bin_test(Fraction(2), DELTA), Fraction(2), 1),
        (PrintedScaleTest(Fraction(1, 10), DELTA, 1), Fraction(1, 10), 1),
        (eager_test(Fraction(1), DELTA), Fraction(1), 0),
    ],
    ids=["another value, coin", "another value, noise", "printed threshold", "eager"],
)
def test_twins_are_refuted(twin: Any, epsilon: Fraction, unstable_at: int) -> None:
    assert worst_delta(twin, epsilon, unstable_at, 40) > 1.99 * float(DELTA)


def test_the_printed_threshold_of_algorithm_13_costs_half_of_delta() -> None:
    printed = LaplaceTest(Fraction(1), DELTA, least_threshold=math.ceil(math.log(1e6)) + 1)  # it wants more than ln(1/delta)
    assert float(laplace_test_law(printed, 0)) < 0.5e-6 < float(laplace_test_law(LaplaceTest(Fraction(1), DELTA), 0))


@pytest.mark.parametrize("name", ["best", "laplace"])
@pytest.mark.parametrize("distance", [0, 6])
def test_replies_are_as_frequent_as_the_law_says(name: str, distance: int) -> None:
    rng, draws = seeded(7), 2_000
    test = make_test(name, Fraction(1), Fraction(1, 50), 1)
    chance = 1 - float(law_of(test, distance, "a")[REFUSED])
    outcomes = [
        stable_release("a", distance=distance, epsilon=1, delta=0.02, unstable_at=1, test=name, rng=rng) for _ in range(draws)
    ]
    replied = sum(isinstance(outcome, Release) for outcome in outcomes)
    assert abs(replied - draws * chance) <= 4.5 * math.sqrt(draws * chance * (1 - chance))


@pytest.mark.parametrize("value", ["blue", 3, None, math.nan, (1, "b"), {"mode": 2}, b"x", object()])
def test_a_value_of_any_type_leaves_as_it_is(value: Any) -> None:
    release: Any = stable_release(value, distance=math.inf, epsilon=1, delta=1e-6, rng=seeded(7))
    assert release.value is value
    assert NOT_PRIVATE in str(release.card())
    assert dict(release.notes)["noise"] == "none: the value is the same on every neighbouring table"


def test_an_array_leaves_as_it_is() -> None:
    value = np.arange(3)
    assert stable_release(value, distance=10**6, epsilon=1, delta=1e-6).value is value


@pytest.mark.parametrize("distance", [math.nan, None, "far", "inf", [9], -math.inf, -1, 0.99, object()])
def test_a_distance_that_is_no_number_or_below_1_is_refused_but_for_delta(distance: Any) -> None:
    rng = seeded(7)
    for _ in range(50):
        assert not stable_release("a", distance=distance, epsilon=1, delta=1e-12, rng=rng)


def test_every_refusal_reads_and_costs_the_same_as_a_reply_costs() -> None:
    refusals = [stable_release(value, distance=0, epsilon=1, delta=1e-6) for value in ("a", 3, None, [1, 2])]
    assert {str(refusal) for refusal in refusals} == {str(refusals[0])}
    assert {type(refusal) for refusal in refusals} == {NoReply}
    assert stable_release("a", distance=math.inf, epsilon=1, delta=1e-6).cost == refusals[0].cost


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"epsilon": -1}, "epsilon must be a positive number such as"),
        ({"delta": 2}, r"delta must be at least 0 and below 0\.5"),
        ({"test": "chi"}, "test must be 'best' or 'laplace'"),
        ({"unstable_at": -1}, "unstable_at must be 0 for a distance to instability, or 1 for"),
        ({"unstable_at": 10**9}, "unstable_at must be 0 for"),
        ({"neighbors": 3}, "neighbors must be"),
    ],
)
def test_errors_say_what_a_parameter_must_be(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        stable_release("a", **{"distance": 5, "epsilon": 1, "delta": 1e-6, **keywords})


def test_a_test_without_delta_is_refused_with_an_example() -> None:
    with pytest.raises(MissingParameterError, match="for example delta=1e-6"):
        stable_release("a", distance=5, epsilon=1, delta=0)
