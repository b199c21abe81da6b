"""The privacy loss of two exact laws."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tests.privacy_loss.exact import hockey_stick, largest_log_ratio


def test_the_largest_log_ratio_looks_both_ways() -> None:
    law, neighbour = {"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1}
    assert largest_log_ratio(law, neighbour) == largest_log_ratio(neighbour, law) == pytest.approx(math.log(5))


def test_equal_laws_lose_nothing() -> None:
    law = {0: Fraction(1, 3), 1: Fraction(2, 3)}
    assert largest_log_ratio(law, law) == 0
    assert hockey_stick(law, law, 0) == 0
    assert largest_log_ratio({}, {}) == 0


def test_an_outcome_of_one_law_only_is_an_infinite_loss() -> None:
    assert largest_log_ratio({0: 1.0}, {1: 1.0}) == math.inf
    assert largest_log_ratio({0: 1.0, 1: 0.0}, {0: 1.0}) == 0


def test_probabilities_below_every_float_are_compared() -> None:
    tiny = Fraction(1, 10**500)
    assert largest_log_ratio({0: tiny}, {0: tiny * 3}) == pytest.approx(math.log(3))


def test_the_hockey_stick_is_the_mass_beyond_the_factor() -> None:
    law, neighbour = {"a": 0.5, "b": 0.5}, {"a": 0.9, "b": 0.1}
    assert hockey_stick(law, neighbour, 0) == pytest.approx(0.4)  # total variation
    assert hockey_stick(law, neighbour, math.log(2)) == pytest.approx(0.3)  # 0.5 - 2 * 0.1
    assert hockey_stick(law, neighbour, math.log(5)) == pytest.approx(0)
    assert hockey_stick(neighbour, law, math.log(2)) == hockey_stick(law, neighbour, math.log(2))


def test_randomized_response_has_the_hockey_stick_of_its_formula() -> None:
    p = math.exp(1) / (1 + math.exp(1))
    laws = {0: p, 1: 1 - p}, {0: 1 - p, 1: p}
    assert hockey_stick(*laws, 0.5) == pytest.approx(p - math.exp(0.5) * (1 - p))
    assert hockey_stick(*laws, 1) == pytest.approx(0, abs=1e-15)
