"""Aggregates that the analyst gives: what they are called with, and what becomes of their replies."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpstats as dp
from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.registry import COULD_NOT
from dpstats.statistics.aggregation.aggregators import Aggregated, aggregate_numbers, aggregator_for
from dpstats.statistics.aggregation.given_aggregates import NO_REPLY, float_below
from dpstats.testing import seeded
from tests.statistics.aggregation.vote_tables import (
    DELTA,
    EPSILON,
    INF,
    LEVEL,
    NAN,
    Floats,
    normal_votes,
    reply,
    votes,
)


def test_functions_of_the_library_aggregate_votes() -> None:
    raw = normal_votes(2000)
    for function, truths in (
        (dp.winsorized_mean, (3, 6)),
        (functools.partial(dp.quantile, q=0.5), (3, 6)),
        (functools.partial(dp.quantile, q=[0.25, 0.75]), (2.8, 3.2, 5.66, 6.34)),
    ):
        how = aggregator_for(function)
        how.check(2, Fraction(6), Fraction(0), LEVEL)
        found = reply(raw, how, epsilon=Fraction(6))
        assert found.values == pytest.approx(truths, abs=0.2)
        assert len(found.intervals) == len(truths)
    assert "by the word of" in how.claim


def test_a_given_function_gets_all_votes_and_its_part_of_epsilon() -> None:
    seen: list[Any] = []

    def own(values: Floats, *, epsilon: float, delta: float, neighbors: str, rng: Any) -> float:
        seen.append((values.tolist(), epsilon, delta, neighbors))
        return 1.0

    found = aggregate_numbers(
        votes([1, NAN, 3], [4, 5, 6]), aggregator_for(own), epsilon=Fraction(100), delta=DELTA, level=None, rng=seeded(1)
    )
    assert isinstance(found, Aggregated)
    assert (found.values, found.intervals) == ((1.0, 1.0), ())
    part = pytest.approx((100 - 20 / 3) / 2)  # three blocks: the turnout has 20 / 3
    assert seen == [([1, INF, 3], part, 5e-7, "change_one"), ([4, INF, 6], part, 5e-7, "change_one")]


def test_a_given_function_may_take_epsilon_alone_or_anything() -> None:
    for function in (lambda values, epsilon: epsilon, lambda values, **words: len(words), lambda values, *, epsilon: [1, 2, 3]):
        how = aggregator_for(function)
        how.check(1, Fraction(1), Fraction(0), None)
        assert all(math.isfinite(value) for value in reply(np.ones((99, 1)), how, level=None).values)


def test_a_mistake_in_a_given_function_shows_before_anything_is_spent() -> None:
    def failing(values: Floats, *, epsilon: float) -> float:
        raise ValueError("vote 812")

    for function in (failing, lambda values: 1.0, lambda values, epsilon: "text", lambda values, epsilon: np.ones((2, 2))):
        with pytest.raises(InvalidParameterError, match="aggregate") as caught:
            aggregator_for(function).check(1, Fraction(1), Fraction(0), None)
        assert "812" not in str(caught.value)
    with pytest.raises(MissingParameterError, match="quantile needs q"):
        aggregator_for(dp.quantile).check(1, Fraction(1), Fraction(0), None)


class _Private:
    """Seeded bits that count as private."""

    private = True

    def __init__(self) -> None:
        self._source = seeded(1)

    def octets(self, count: int) -> bytes:
        return self._source.octets(count)


def test_what_a_given_function_raises_because_of_votes_is_one_refusal() -> None:
    def picky(values: Floats, *, epsilon: float) -> float:
        if len(values) == 90:
            raise dp.DataTypeError("vote 812")
        return 1.0

    how = aggregator_for(picky)
    how.check(1, Fraction(1), Fraction(0), None)
    assert aggregate_numbers(np.ones((90, 1)), how, epsilon=Fraction(9), level=None, rng=_Private()) is COULD_NOT
    with pytest.raises(dp.DataTypeError):
        aggregate_numbers(np.ones((90, 1)), how, epsilon=Fraction(9), level=None, rng=seeded(1))


def test_a_given_function_spends_no_more_than_the_question_has() -> None:
    with pytest.raises(MissingParameterError, match="needs delta"):
        aggregator_for(functools.partial(dp.mode, delta=1e-6)).check(1, Fraction(1), Fraction(0), None)
    seen: list[float] = []

    def own(values: Floats, *, epsilon: float) -> float:
        seen.append(epsilon)
        return 0.0

    reply(np.ones((99, 1)), aggregator_for(functools.partial(own, epsilon=50.0)), level=None)
    assert seen == [pytest.approx(1.8)]
    assert seen[0] <= 1.8


def test_no_reply_of_a_given_function_is_a_refusal() -> None:
    how = aggregator_for(dp.mode)
    found = aggregate_numbers(normal_votes(60), how, epsilon=EPSILON, delta=DELTA, level=None, rng=seeded(1))
    assert found is NO_REPLY


@given(st.fractions(Fraction(1, 10**9), 10**6))
@settings(max_examples=100)
def test_a_part_of_epsilon_as_a_float_is_no_larger_and_hardly_smaller(part: Fraction) -> None:
    shown = float_below(part)
    assert Fraction(str(shown)) <= part
    assert Fraction(shown) <= part
    assert shown == pytest.approx(float(part), rel=1e-14)
