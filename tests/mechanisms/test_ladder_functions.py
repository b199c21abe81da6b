"""Ladder functions: the drawn law is the defined one, and its loss stays within epsilon."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest

from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.ladder_functions import draw_on_ladder, ladder_rate, ladder_reach, rungs_for
from tests.laws.ladders import ladder_law
from tests.privacy_loss.exact import largest_log_ratio


def growing(first: int, most: int) -> list[int]:
    return [min(first + place, most) for place in range(400)]


def test_draws_follow_the_defined_law() -> None:
    rng, rate, widths = seeded(3), Fraction(1, 2), growing(2, 9)
    drawn = Counter(draw_on_ladder(7, lambda count: widths[:count], 9, rate, rng) for _ in range(1500))
    law = ladder_law(7, widths, 0.5, -500, 500)
    assert math.isclose(sum(law.values()), 1, abs_tol=1e-6)
    for outcome in range(0, 15):
        expected = 1500 * law[outcome]
        assert abs(drawn[outcome] - expected) < 5 * math.sqrt(expected) + 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_the_loss_of_a_step_is_within_epsilon(epsilon: Fraction) -> None:
    first = math.ceil(3 / epsilon)
    rate = float(ladder_rate(epsilon, Fraction(1, first)))
    assert rate > float(epsilon) / 2
    laws = [
        ladder_law(value, growing(width, 50), rate, -60, 60)
        for value, width in ((0, first), (0, first + 1), (first, first), (first, first + 1))
    ]
    losses = [largest_log_ratio(one, other) for one in laws for other in laws]
    assert max(losses) <= float(epsilon) + 1e-9


def test_a_growth_that_is_stated_too_small_is_refuted() -> None:
    epsilon = Fraction(1)
    rate = float(ladder_rate(epsilon, Fraction(1, 100)))  # the rungs grow from 1 to 2
    laws = [ladder_law(value, growing(width, 200), rate, -300, 300) for value, width in ((0, 1), (1, 2))]
    assert largest_log_ratio(*laws) > float(epsilon) + 0.05


def test_without_a_useful_growth_the_rate_is_half_of_epsilon() -> None:
    assert ladder_rate(Fraction(1), Fraction(3, 4)) == Fraction(1, 2)
    assert ladder_rate(Fraction(1), Fraction(1, 4)) == Fraction(3, 4)


@pytest.mark.parametrize("by_steps", [True, False])
def test_the_reach_is_exceeded_as_rarely_as_asked_for(by_steps: bool) -> None:
    growth = Fraction(1, 5)
    widths = growing(5, 10**9) if by_steps else [math.floor(5 * Fraction(6, 5) ** place) for place in range(200)]
    reach = ladder_reach(Fraction(1, 2), growth, 5, 0.05, by_steps=by_steps)
    total = 1 + 2 * math.fsum(width * math.exp(-(place + 1) / 2) for place, width in enumerate(widths))
    inside = math.fsum(
        2 * math.exp(-0.5 * (next(p for p in range(200) if sum(widths[: p + 1]) >= away) + 1)) for away in range(1, reach + 1)
    )
    assert (1 + inside) / total >= 0.95


def test_the_reach_of_runaway_rungs_is_refused() -> None:
    with pytest.raises(ValueError, match="too fast"):
        ladder_reach(Fraction(1, 10), Fraction(1), 5, 0.05, by_steps=False)


def test_enough_rungs_are_looked_at() -> None:
    count = rungs_for(128, 10**9, Fraction(1))
    assert 10**9 * math.exp(-count) / (1 - math.exp(-1)) < 2.0**-127
