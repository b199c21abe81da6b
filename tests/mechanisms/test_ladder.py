"""The ladder: the tail of its two noises, its threshold, and the exact privacy of the rung that it takes."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Hashable
from fractions import Fraction

import pytest

from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.ladder import Ladder, tail_of_sum
from tests.laws.mechanisms import above_threshold_law, exponential_of_minus
from tests.privacy_loss.exact import largest_log_ratio

SCALES = [Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(10, 3), Fraction(20, 7), Fraction(5)]
THRESHOLDS = [1, 2, 3, 7, 20, 60]
ULP = Fraction(1, 2**100)


LawOfRungs = Callable[[tuple[int, ...]], dict[Hashable, float]]
WHOLE = 1 << 240
"""Chances are whole multiples of 1 / WHOLE, rounded down."""


@functools.cache
def noise(scale: Fraction, reach: int) -> list[int]:
    """P(Z = z) * WHOLE for z from -reach to reach."""
    ratio = exponential_of_minus(1 / scale)
    shrink = math.floor(ratio * WHOLE)
    chances = [math.floor((1 - ratio) / (1 + ratio) * WHOLE)]
    for _ in range(reach):
        chances.append(chances[-1] * shrink // WHOLE)
    return [*reversed(chances[1:]), *chances]


def tail_by_convolution(first: Fraction, second: Fraction, least: int) -> tuple[Fraction, Fraction]:
    """P(X + Y >= least) between two bounds: summed value by value, and what the sum left out on top."""
    reach = math.ceil(60 * max(first, second)) + least
    one, other = noise(first, reach), noise(second, reach)
    above = list(itertools.accumulate(reversed(one)))  # above[k]: X is among its k + 1 largest values
    inside = sum(
        chance * above[min(2 * reach, y + reach - least)] for y, chance in enumerate(other, -reach) if y + reach >= least
    )
    missing = 2 * WHOLE - sum(one) - sum(other)
    return Fraction(inside, WHOLE**2), Fraction(inside, WHOLE**2) + Fraction(missing, WHOLE)


@pytest.mark.parametrize(("first", "second"), [pair for pair in itertools.product(SCALES, SCALES) if pair[0] != pair[1]])
def test_the_tail_of_two_noises_is_that_of_their_convolution_and_never_below_it(first: Fraction, second: Fraction) -> None:
    for least in THRESHOLDS:
        low, high = tail_by_convolution(first, second, least)
        assert low < tail_of_sum(first, second, least) < high + ULP


def test_the_tail_does_not_mind_the_order_of_the_scales() -> None:
    for first, second in itertools.combinations(SCALES, 2):
        assert abs(tail_of_sum(first, second, 9) - tail_of_sum(second, first, 9)) < ULP


LADDERS = [
    Ladder(Fraction(epsilon), Fraction(delta), rungs)
    for epsilon, delta in (("1/10", "1/1000"), ("1", "1/1000000"), ("3", "1/5"), ("20", "1/100"))
    for rungs in (1, 3, 102)
]
ids = [f"epsilon {ladder.epsilon}, delta {ladder.delta}, {ladder.rungs} rungs" for ladder in LADDERS]


@pytest.mark.parametrize("ladder", LADDERS, ids=ids)
def test_the_threshold_is_the_least_that_both_noises_bridge_rarely_enough(ladder: Ladder) -> None:
    allowed = ladder.delta / ladder.rungs
    assert tail_by_convolution(ladder.threshold_scale, ladder.rung_scale, ladder.threshold)[0] <= allowed
    if ladder.threshold > 1:
        assert tail_by_convolution(ladder.threshold_scale, ladder.rung_scale, ladder.threshold - 1)[1] > allowed


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**6), Fraction(1), Fraction(100)])
def test_a_tiny_delta_has_a_threshold_too(epsilon: Fraction) -> None:
    delta = Fraction(1, 10**60)
    ladder = Ladder(epsilon, delta, 100)
    nats = math.log(1e60) + math.log(100)
    assert 0.9 * nats * ladder.rung_scale <= ladder.threshold <= 1.2 * nats * ladder.rung_scale + 2


def test_the_scales_share_epsilon() -> None:
    for ladder in LADDERS:
        assert 1 / ladder.threshold_scale + 2 / ladder.rung_scale == ladder.epsilon


def rung_law(ladder: Ladder, distances: tuple[int, ...]) -> dict[Hashable, float]:
    return above_threshold_law(distances, ladder.threshold, ladder.threshold_scale, ladder.rung_scale)


def worst_log_ratio(near: list[int], moves: tuple[int, ...], rungs: int, law: LawOfRungs) -> float:
    """The largest |log(p / q)| between distances out of `near` and the same distances moved by `moves`, in every way."""
    return max(
        largest_log_ratio(law(vector), law(tuple(map(operator.add, vector, move))))
        for vector in itertools.product(near, repeat=rungs)
        for move in itertools.product(moves, repeat=rungs)
    )


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
def test_the_rung_costs_no_more_than_epsilon_whatever_the_distances(epsilon: Fraction) -> None:
    ladder = Ladder(epsilon, Fraction(1, 10), 3)
    law = functools.cache(functools.partial(rung_law, ladder))
    near = [1, 2, ladder.threshold - 1, ladder.threshold, ladder.threshold + 2]
    assert worst_log_ratio(near, (-1, 0, 1), 3, law) <= epsilon + Fraction(1, 10**9)


def test_distances_that_move_apart_cost_nearly_epsilon() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 10), 5)
    law = functools.cache(functools.partial(rung_law, ladder))
    assert 0.8 < worst_log_ratio([1, ladder.threshold], (-1, 1), 5, law) <= 1 + 1e-9


def test_half_the_noise_for_every_rung_would_cost_more_than_epsilon() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 10), 4)

    @functools.cache
    def law(distances: tuple[int, ...]) -> dict[Hashable, float]:
        return above_threshold_law(distances, ladder.threshold, ladder.threshold_scale, ladder.rung_scale / 2)

    assert worst_log_ratio([1, ladder.threshold], (-1, 1), 4, law) > 1.1


@pytest.mark.parametrize("ladder", [ladder for ladder in LADDERS if ladder.rungs <= 3])
def test_a_rung_at_distance_0_is_taken_with_probability_at_most_delta(ladder: Ladder) -> None:
    for distances in itertools.product((0, 1, ladder.threshold), repeat=ladder.rungs):
        law = rung_law(ladder, distances)
        bad = math.fsum(law[rung] for rung, distance in enumerate(distances) if distance == 0)
        assert bad <= float(ladder.delta) * (1 + 1e-9)


def test_rungs_at_distance_0_together_use_a_good_part_of_delta() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 50), 3)
    law = rung_law(ladder, (0, 0, 0))
    assert 0.3 * ladder.delta < 1 - law[None] <= ladder.delta


def test_draws_follow_the_exact_law(fit: Callable[..., float]) -> None:
    ladder = Ladder(Fraction(2), Fraction(1, 10), 4)
    distances = (0, 3, ladder.threshold, ladder.threshold + 2)
    source = seeded(11)
    draws = [ladder.first_safe(lambda rung: distances[rung], source) for _ in range(4000)]
    assert fit(draws, rung_law(ladder, distances)) > 1e-3


def test_no_distance_beyond_the_cap_is_told_apart() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 1000), 2)

    def runs(far: int) -> list[int | None]:
        source = seeded(3)
        return [ladder.first_safe(lambda _: far, source) for _ in range(50)]

    assert runs(ladder.cap) == runs(10**9) == [0] * 50


def test_rungs_after_the_one_that_is_taken_are_not_looked_at() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 1000), 9)
    asked: list[int] = []

    def distance(rung: int) -> int:
        asked.append(rung)
        return ladder.cap if rung == 4 else 0

    assert ladder.first_safe(distance, seeded(1)) == 4
    assert asked == [0, 1, 2, 3, 4]


def test_a_run_without_a_safe_rung_says_none() -> None:
    ladder = Ladder(Fraction(1), Fraction(1, 10**9), 50)
    assert ladder.first_safe(lambda _: 0, seeded(1)) is None
