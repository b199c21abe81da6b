"""Randomized response: the odds of each reply, the estimate from the replies, and that no value makes it fail."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, seeded
from dpstats.mechanisms import randomized_response, randomized_response_estimate
from dpstats.mechanisms.randomized_response import lie_probability
from tests.laws.mechanisms import exponential_of_minus, randomized_response_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.mechanisms import borrowed_odds


@pytest.mark.parametrize("categories", [2, 3, 10])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)])
def test_the_law_costs_exactly_epsilon(epsilon: Any, categories: Any) -> None:
    laws = [randomized_response_law(truth, epsilon, categories) for truth in (0, 1)]
    assert sum(laws[0].values()) == 1
    assert largest_log_ratio(*laws) == pytest.approx(float(epsilon), rel=1e-12)


def test_the_twin_with_the_odds_of_two_categories_is_refuted_for_three() -> None:
    odds = borrowed_odds(1.0, 3)
    laws = [dict(enumerate(odds)), dict(enumerate([odds[1], odds[0], odds[2]]))]
    assert sum(odds) == pytest.approx(1)
    assert largest_log_ratio(*laws) == pytest.approx(1 + math.log(2))


@given(epsilon=st.fractions(Fraction(1, 1000), 60), categories=st.integers(2, 1000), bits=st.sampled_from([16, 80, 144]))
@settings(max_examples=40)
def test_bounds_enclose_the_chance_to_lie_within_two_units(epsilon: Any, categories: Any, bits: int) -> None:
    weight = (categories - 1) * exponential_of_minus(epsilon)
    exact = weight / (1 + weight) * 2**bits
    low, high = lie_probability(epsilon, categories)(bits)
    assert low <= exact + Fraction(1, 2**50)
    assert exact - Fraction(1, 2**50) <= high
    assert high - low <= 2


@pytest.mark.parametrize("categories", [("no", "yes"), ("a", "b", "c")])
def test_responses_fit_the_law_and_not_one_with_a_tenth_more_or_less_epsilon(categories: Any, fit: Callable[..., float]) -> None:
    epsilon = Fraction(1)
    for truth in (0, len(categories) - 1):
        responses: Any = randomized_response([categories[truth]] * 20_000, epsilon=1, categories=categories, rng=seeded(7)).value
        places = [categories.index(response) for response in responses]
        assert fit(places, randomized_response_law(truth, epsilon, len(categories))) > 1e-3
        for wrong in (Fraction(9, 10), Fraction(11, 10)):
            assert fit(places, randomized_response_law(truth, wrong * epsilon, len(categories))) < 1e-4


def test_a_coin_that_ties_with_its_digits_is_refined(script: Callable[..., RandomSource]) -> None:
    tie = math.floor(exponential_of_minus(Fraction(1)) / (1 + exponential_of_minus(Fraction(1))) * 2**16)
    told = [randomized_response([True], epsilon=1, rng=script([tie], word)).value for word in (bytes(8), b"\xff" * 8)]
    assert told == [(False,), (True,)]


@pytest.mark.parametrize("bad", [float("nan"), None, "maybe", [1], {}, np.array([1, 2])])
def test_a_value_outside_the_categories_counts_as_the_first(bad: Any) -> None:
    given_bad = randomized_response([bad, True], epsilon=1, rng=seeded(7))
    assert given_bad.value == randomized_response([False, True], epsilon=1, rng=seeded(7)).value


def test_what_is_drawn_does_not_depend_on_the_values() -> None:
    yes: Any
    no: Any
    yes, no = (randomized_response([value] * 1000, epsilon=1, rng=seeded(7)).value for value in (True, False))
    assert all(a is not b for a, b in zip(yes, no, strict=True))


def test_booleans_of_numpy_are_booleans() -> None:
    values = np.array([True, False, True])
    plain = randomized_response(values.tolist(), epsilon=1, rng=seeded(7)).value
    assert randomized_response(values, epsilon=1, rng=seeded(7)).value == plain


def test_the_relation_is_change_one_because_the_number_of_responses_shows() -> None:
    release = randomized_response([True] * 3, epsilon=0.5, rng=seeded(7))
    assert release.cost.neighbors is Neighbors.CHANGE_ONE
    assert release.cost.epsilon == Fraction(1, 2)
    assert np.shape(release) == (3,)
    assert randomized_response([], epsilon=1, rng=seeded(7)).value == ()


def test_estimates_are_unbiased_and_their_standard_errors_honest() -> None:
    categories, truth = ("a", "b", "c"), [0.6, 0.3, 0.1]
    values = ["a"] * 600 + ["b"] * 300 + ["c"] * 100
    rng = seeded(7)
    estimates = []
    for _ in range(200):
        responses: Any = randomized_response(values, epsilon=1, categories=categories, rng=rng).value
        estimates.append(randomized_response_estimate(responses, epsilon=1, categories=categories))
    shares = np.array([estimate.proportions for estimate in estimates])
    declared = np.mean([estimate.standard_errors for estimate in estimates], axis=0)
    assert np.abs(shares.mean(axis=0) - truth) == pytest.approx(0, abs=4 * declared.max() / math.sqrt(200))
    assert (shares.std(axis=0) < declared * 1.1).all()  # the people are fixed here, so the coins alone spread a little less
    assert (shares.std(axis=0) > declared * 0.75).all()
    assert shares.sum(axis=1) == pytest.approx(1)


def test_the_expected_response_shares_are_undone_exactly() -> None:
    law = randomized_response_law(1, Fraction(1), 3)
    counts = [round(float(law[place]) * 10**6) for place in range(3)]
    responses = [place for place, count in enumerate(counts) for _ in range(count)]
    estimate = randomized_response_estimate(responses, epsilon=1, categories=(0, 1, 2))
    assert estimate.proportions == pytest.approx((0, 1, 0), abs=1e-5)
    assert estimate.to_dict()["responses"] == len(responses)


@pytest.mark.parametrize("categories", [(), ("a",), ("a", "a", "b")])
def test_categories_must_be_two_different_values_or_more(categories: Any) -> None:
    with pytest.raises(InvalidParameterError, match="at least two different"):
        randomized_response(["a"], epsilon=1, categories=categories)


@pytest.mark.parametrize("responses", [[], ["neither"]])
def test_an_estimate_needs_responses_from_the_categories(responses: Any) -> None:
    with pytest.raises(InvalidParameterError):
        randomized_response_estimate(responses, epsilon=1)
