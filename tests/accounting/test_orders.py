"""Divergences and conversions are never below the truth, and close to it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.accounting.orders import best_excess, conversion, divergence, excess_at
from dpstats.foundations.registry import PURE_LOSS

EPSILONS = st.fractions(min_value=Fraction(1, 10**4), max_value=20, max_denominator=10**6)
EXCESSES = st.integers(-160, 320).map(excess_at)


def log_cosh(value: float) -> float:
    return value + math.log1p(math.exp(-2 * value)) - math.log(2)


@given(epsilon=EPSILONS, excess=EXCESSES)
def test_the_divergence_is_that_of_randomized_response(epsilon: Fraction, excess: Fraction) -> None:
    exact = (log_cosh(float((excess + Fraction(1, 2)) * epsilon)) - log_cosh(float(epsilon) / 2)) / float(excess)
    found = divergence(epsilon, excess, PURE_LOSS)
    assert math.isclose(found, exact, rel_tol=1e-6, abs_tol=1e-12 / float(excess))
    assert found <= min(epsilon, (1 + excess) * epsilon**2 / 2)


@given(epsilon=EPSILONS, excess=EXCESSES)
def test_divergence_grows_with_epsilon_and_with_the_order(epsilon: Fraction, excess: Fraction) -> None:
    assert divergence(epsilon, excess, PURE_LOSS) <= divergence(epsilon * 2, excess, PURE_LOSS)
    assert divergence(epsilon, excess, PURE_LOSS) <= divergence(epsilon, excess * 2, PURE_LOSS)


@given(epsilon=EPSILONS, excess=EXCESSES)
def test_divergence_over_order_is_at_most_epsilon_tanh_of_half_of_it(epsilon: Fraction, excess: Fraction) -> None:
    most = float(epsilon) * math.tanh(float(epsilon) / 2)
    assert float(divergence(epsilon, excess, PURE_LOSS)) <= float(1 + excess) * most * (1 + 1e-9)


@given(epsilon=EPSILONS, gain=st.fractions(min_value=Fraction(1, 100), max_value=Fraction(99, 100)), excess=EXCESSES)
def test_an_eighth_is_enough_for_losses_in_an_interval(epsilon: Fraction, gain: Fraction, excess: Fraction) -> None:
    width, high, order = float(epsilon), float(epsilon * gain), float(1 + excess)
    chance = math.expm1(width - high) / (math.expm1(width) * math.exp(-high))  # of the larger loss, under the first law
    mean = math.fsum((chance * high, (1 - chance) * (high - width)))
    assert mean <= width**2 / 8 * (1 + 1e-6)  # the limit of order 1
    if order * width < 600:
        moment = chance * math.exp((order - 1) * high) + (1 - chance) * math.exp((order - 1) * (high - width))
        assert math.log(moment) / (order - 1) <= order * width**2 / 8 * (1 + 1e-6) + 1e-13 / (order - 1)


@given(excess=EXCESSES, delta=st.fractions(Fraction(1, 10**15), Fraction(1, 2)), epsilon=st.floats(0.01, 30))
def test_the_conversion_bounds_what_exceeds_epsilon(excess: Fraction, delta: Fraction, epsilon: float) -> None:
    """For every loss, max(0, 1 - e**(epsilon - loss)) is at most delta e**(excess (loss - epsilon + conversion))."""
    added = float(conversion(excess, delta))
    for beyond in (1e-6, 1e-3, 0.1, 0.5, 1.0, 3.0, 10.0, float(-math.log(excess / (1 + excess)))):
        exponent = float(excess) * (beyond + added) + math.log(delta)
        assert math.log(-math.expm1(-beyond)) <= exponent + 1e-6


def test_the_best_order_is_found_on_the_grid() -> None:
    for wanted in (Fraction(1, 100), Fraction(1), Fraction(37), Fraction(5000)):
        found = best_excess(lambda excess, wanted=wanted: excess / wanted + wanted / excess)  # type: ignore[misc]
        assert abs(found / wanted - 1) < Fraction(1, 20)


@pytest.mark.parametrize("place", [-100, -16, -1, 0, 1, 15, 16, 333])
def test_the_grid_has_16_steps_to_a_doubling(place: int) -> None:
    assert excess_at(place) < excess_at(place + 1)
    assert excess_at(place + 16) == 2 * excess_at(place)
