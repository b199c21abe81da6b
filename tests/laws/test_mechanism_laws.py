"""Exact output laws: they are laws, and agree with formulas found another way."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from tests.laws.mechanisms import (
    ABOVE,
    BELOW,
    above_threshold_law,
    discrete_gaussian_law,
    discrete_laplace_law,
    exponential_of_minus,
    noisy_max_law,
    randomized_response_law,
    replies_probability,
)

TINY = Fraction(1, 2**200)


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(7), Fraction(900)])
def test_the_exponential_is_right_to_many_digits(exponent: Fraction) -> None:
    assert math.log(exponential_of_minus(exponent).numerator) - math.log(
        exponential_of_minus(exponent).denominator
    ) == pytest.approx(-float(exponent), rel=1e-12, abs=1e-15)
    twice = exponential_of_minus(exponent / 2) ** 2
    assert abs(twice / exponential_of_minus(exponent) - 1) < TINY


@pytest.mark.parametrize("law", [discrete_laplace_law, discrete_gaussian_law])
def test_a_windowed_law_sums_to_one_with_symmetric_tails(law: Any) -> None:
    found: dict[Any, Fraction] = law(2, Fraction(5, 2), -4, 8)
    assert abs(sum(found.values(), Fraction(-1))) < Fraction(1, 2**80)
    assert found[BELOW] == found[ABOVE]
    assert found[ABOVE] > 0
    assert found[1] == found[3]


def test_discrete_laplace_has_its_known_variance() -> None:
    law = discrete_laplace_law(0, Fraction(2), -120, 120)
    ratio = math.exp(-0.5)
    variance = sum(float(p) * z * z for z, p in law.items() if isinstance(z, int))
    assert variance == pytest.approx(2 * ratio / (1 - ratio) ** 2, rel=1e-9)


def test_discrete_gaussian_has_almost_its_nominal_variance() -> None:
    law = discrete_gaussian_law(0, Fraction(4), -40, 40)
    assert sum(float(p) * z * z for z, p in law.items() if isinstance(z, int)) == pytest.approx(4, rel=1e-12)


def test_noisy_max_and_randomized_response_sum_to_one() -> None:
    assert abs(sum(noisy_max_law([0, 4, 4, -3], Fraction(6)).values(), Fraction(-1))) < Fraction(1, 2**150)
    assert sum(randomized_response_law(2, Fraction(1), 5).values()) == 1


def test_far_ahead_wins_surely_and_ties_favour_the_first_a_little() -> None:
    assert float(noisy_max_law([0, 1000], Fraction(3))[1]) == pytest.approx(1)
    tied = noisy_max_law([0, 0], Fraction(3))
    assert tied[0] > tied[1]


def test_above_threshold_sums_to_one_and_a_silent_threshold_is_a_product() -> None:
    law = above_threshold_law([0, 3, -2], 1, Fraction(4), Fraction(6))
    assert sum(law.values()) == pytest.approx(1, abs=1e-11)
    tail = math.exp(-1 / 6) / (1 + math.exp(-1 / 6))  # P(Z >= 1)
    assert replies_probability([0, 0], [False, True], 1, Fraction(0), Fraction(6)) == pytest.approx((1 - tail) * tail)
