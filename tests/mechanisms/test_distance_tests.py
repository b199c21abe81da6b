"""Distance tests: their chances, that these are private in exact integers, and that none could be larger."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import seeded
from dpstats.foundations.rounding import exp_bounds
from dpstats.mechanisms.distance_tests import (
    MOST_STEPS,
    BestTest,
    DistanceTest,
    LaplaceTest,
    growing_chances,
    noise_quantile,
    steps_within,
)
from dpstats.mechanisms.propose_test_release import distance_for
from tests.laws.propose_test_release import best_test_law, laplace_test_law
from tests.privacy_loss.exact import hockey_stick
from tests.twins.propose_test_release import (
    PrintedScaleTest,
    QuietTest,
    eager_test,
    hasty_test,
    narrow_test,
    other_bin_best_test,
    other_bin_test,
)

ONE, TENTH, MILLIONTH = Fraction(1), Fraction(1, 10), Fraction(1, 10**6)
EPSILONS = [Fraction(1, 1000), Fraction(1, 30), TENTH, Fraction(1, 2), ONE, Fraction(5)]
DELTAS = [Fraction(1, 10**12), MILLIONTH, Fraction(1, 100), Fraction(3, 10)]
SLACK = Fraction(1, 2**100)
BITS = 160


def chance_of(test: DistanceTest, distance: int) -> Fraction:
    return best_test_law(test, distance) if isinstance(test, BestTest) else laplace_test_law(test, distance)  # type: ignore[arg-type]


def needed_delta(chance: Fraction, neighbour: Fraction, epsilon: Fraction) -> float:
    return hockey_stick({True: chance, False: 1 - chance}, {True: neighbour, False: 1 - neighbour}, epsilon)


def breaches(chances: Sequence[int], whole: int, epsilon: Fraction, delta: Fraction) -> list[int]:
    """The places where a chance and the next break (epsilon, delta)-DP, compared in integers."""
    bits = whole.bit_length() + 600
    shrink_high = exp_bounds(epsilon, bits)[1]
    scaled_delta = delta.numerator * whole

    def too_much(large: int, small: int) -> bool:  # large > e**epsilon small + delta
        return (large * delta.denominator - scaled_delta) * shrink_high > small * delta.denominator << bits

    return [
        place
        for place, (chance, following) in enumerate(itertools.pairwise(chances))
        if too_much(following, chance) or too_much(whole - chance, whole - following)
    ]


@pytest.mark.parametrize(
    ("test", "distance"),
    [
        (BestTest(ONE, MILLIONTH), 15),
        (BestTest(TENTH, MILLIONTH), 131),
        (LaplaceTest(ONE, MILLIONTH), 16),
        (LaplaceTest(TENTH, MILLIONTH), 155),
    ],
)
def test_the_distance_from_which_95_percent_pass_is_known(test: Any, distance: int) -> None:
    assert distance_for(test, 0.95) == distance
    assert chance_of(test, distance - 1) < Fraction(95, 100) <= chance_of(test, distance)


def test_the_threshold_is_14_at_epsilon_1_and_one_more_for_a_distance_to_another_bin() -> None:
    assert LaplaceTest(ONE, MILLIONTH).threshold == 14
    assert LaplaceTest(ONE, MILLIONTH, unstable_at=1).threshold == 15
    assert LaplaceTest(ONE, MILLIONTH, least_threshold=49).threshold == 49
    assert LaplaceTest(ONE, MILLIONTH, least_threshold=5).threshold == 14


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_threshold_is_the_delta_tail_of_the_noise(epsilon: Any, delta: Any) -> None:
    test = LaplaceTest(epsilon, delta)
    assert laplace_test_law(test, 0) <= delta
    assert test.threshold <= 1 or laplace_test_law(test, 2) > delta  # at most one more than the least threshold that does


@given(scale=st.fractions(Fraction(1, 50), 10**6), delta=st.fractions(Fraction(1, 10**30), Fraction(49, 100)))
@settings(max_examples=60)
def test_noise_reaches_its_quantile_with_at_most_delta(scale: Any, delta: Any) -> None:
    quantile = noise_quantile(scale, delta)
    unit = LaplaceTest(1 / scale, delta)
    assert unit.threshold == quantile >= 1
    assert laplace_test_law(unit, 0) <= delta


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_neighbouring_chances_keep_epsilon_and_delta_in_exact_integers(epsilon: Any, delta: Any) -> None:
    chances = growing_chances(epsilon, delta, BITS)
    assert chances[0] == math.floor(delta * 2**BITS)
    assert chances[-1] == 2**BITS
    assert all(chance < following for chance, following in itertools.pairwise(chances))
    assert breaches(chances, 2**BITS, epsilon, delta) == []


@given(epsilon=st.fractions(Fraction(1, 50), 40), delta=st.fractions(Fraction(1, 10**15), Fraction(49, 100)))
@settings(max_examples=60)
def test_no_epsilon_and_delta_breach_their_chances(epsilon: Any, delta: Any) -> None:
    chances = growing_chances(epsilon, delta, BITS)
    assert chances[-1] == 2**BITS
    assert breaches(chances, 2**BITS, epsilon, delta) == []


def test_the_check_in_integers_finds_a_single_unit_too_much() -> None:
    chances = list(growing_chances(ONE, MILLIONTH, BITS))
    for place in range(1, len(chances) - 1):
        greedy = [*chances[:place], chances[place] + 4, *chances[place + 1 :]]  # rounding loses fewer than 4 units a step
        assert place - 1 in breaches(greedy, 2**BITS, ONE, MILLIONTH)
    assert 0 in breaches([chances[0], 2**BITS], 2**BITS, ONE, MILLIONTH)
    assert 0 in breaches([0, 2 * chances[0]], 2**BITS, ONE, MILLIONTH)


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("unstable_at", [0, 1])
def test_no_chance_of_the_best_test_could_be_larger(epsilon: Any, delta: Any, unstable_at: int) -> None:
    test = BestTest(epsilon, delta, unstable_at)
    chances = growing_chances(epsilon, delta, BITS)
    for steps in {0, 1, 2, len(chances) // 4, len(chances) // 2, len(chances) - 2, len(chances) - 1}:
        missed = best_test_law(test, unstable_at + steps) - Fraction(chances[steps], 2**BITS)
        assert 0 <= missed < SLACK


@pytest.mark.parametrize("epsilon", EPSILONS[2:])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_best_test_passes_at_least_as_often_as_the_laplace_test_everywhere(epsilon: Any, delta: Any) -> None:
    best, laplace = BestTest(epsilon, delta, 1), LaplaceTest(epsilon, delta, 1)
    chances = growing_chances(epsilon, delta, BITS)
    for distance in range(laplace.cap + 2):
        steps = max(0, min(distance - 1, len(chances) - 1))
        assert Fraction(chances[steps], 2**BITS) + SLACK >= laplace_test_law(laplace, distance)
    assert best.cap <= laplace.cap


@pytest.mark.parametrize("epsilon", EPSILONS[2:])
@pytest.mark.parametrize("delta", [MILLIONTH, Fraction(1, 100)])
def test_a_laplace_test_moves_by_epsilon_alone(epsilon: Any, delta: Any) -> None:
    test = LaplaceTest(epsilon, delta)
    shrink = Fraction(exp_bounds(epsilon, 400)[0], 1 << 400) * (1 - Fraction(1, 2**190))
    chances = [laplace_test_law(test, distance) for distance in range(test.cap + 3)]
    for chance, following in itertools.pairwise(chances):
        assert chance <= following
        assert following * shrink <= chance
        assert (1 - chance) * shrink <= 1 - following


@pytest.mark.parametrize("kind", [BestTest, LaplaceTest])
@pytest.mark.parametrize("unstable_at", [0, 1, 7])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_pass_probability_is_the_exact_law(kind: Any, unstable_at: int, sensitivity: int) -> None:
    test = kind(Fraction(1, 3), Fraction(1, 1000), unstable_at, sensitivity)
    for distance in [*range(-2, test.cap + 3, 3), 10**9]:
        assert test.pass_probability(distance) == pytest.approx(float(chance_of(test, distance)), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("kind", [BestTest, LaplaceTest])
@pytest.mark.parametrize("sensitivity", [1, 2, 3])
def test_a_distance_that_moves_by_its_sensitivity_stays_within_epsilon_and_delta(kind: Any, sensitivity: int) -> None:
    delta = Fraction(1, 100)
    test = kind(ONE, delta, 1, sensitivity)
    for distance in range(test.cap + 4):
        for moved in range(distance, distance + sensitivity + 1):
            needed = needed_delta(chance_of(test, distance), chance_of(test, moved), ONE)
            assert needed <= (float(delta) * (1 + 1e-9) if kind is BestTest else 1e-14)


@pytest.mark.parametrize("kind", [BestTest, LaplaceTest])
@pytest.mark.parametrize("distance", [0, 4, 7, 9, 14])
def test_passes_are_as_frequent_as_the_law_says(kind: Any, distance: int) -> None:
    test, rng, draws = kind(Fraction(1, 2), Fraction(1, 20), 1), seeded(7), 3_000
    chance = float(chance_of(test, distance))
    passed = sum(test.passes(distance, rng) for _ in range(draws))
    assert abs(passed - draws * chance) <= 4.5 * math.sqrt(draws * chance * (1 - chance))


@pytest.mark.parametrize("distance", [-4, 0, 1, 5, 14, 26, 27, 10**6])
def test_the_coin_of_the_best_test_turns_at_its_exact_chance(distance: int) -> None:
    test, bits = BestTest(ONE, MILLIONTH), 148
    chance = growing_chances(ONE, MILLIONTH, bits)[max(0, min(distance, 27))]

    class Coin:
        private = False

        def __init__(self, shown: int) -> None:
            self._shown = shown

        def octets(self, count: int) -> bytes:
            assert count * 8 >= bits + 1
            return (self._shown << (count * 8 - bits - 1)).to_bytes(count, "big")

    assert test.passes(distance, Coin(chance - 1))
    assert chance == 2**bits or not test.passes(distance, Coin(chance))
    assert test.cap == 27


def test_a_test_that_would_look_too_far_stops_and_passes_less_often() -> None:
    slow = Fraction(1, 10**9)
    assert LaplaceTest(slow, MILLIONTH).cap == MOST_STEPS
    assert laplace_test_law(LaplaceTest(slow, MILLIONTH), 10**12) <= MILLIONTH * 2
    test = BestTest(Fraction(1, 10**5), Fraction(1, 10**9))
    assert test.cap == MOST_STEPS
    assert test.pass_probability(10**12) == test.pass_probability(MOST_STEPS) < 1


@pytest.mark.parametrize("epsilon", [Fraction(1, 20), TENTH, Fraction(1, 2)])
def test_the_printed_threshold_of_algorithm_12_is_refuted(epsilon: Any) -> None:
    twin, real = PrintedScaleTest(epsilon, MILLIONTH, 1), LaplaceTest(epsilon, MILLIONTH, 1)
    assert laplace_test_law(twin, 1) > 500 * MILLIONTH
    assert laplace_test_law(real, 1) <= MILLIONTH


def test_the_printed_threshold_lets_a_fifth_of_the_wrong_answers_through() -> None:
    twin = PrintedScaleTest(TENTH, MILLIONTH, 1)
    either = 1 - (1 - laplace_test_law(twin, 1)) ** 2  # two discretisations, as the algorithm takes
    assert float(either) == pytest.approx(0.235, abs=0.01)


@pytest.mark.parametrize("twin", [other_bin_test(Fraction(2), MILLIONTH), other_bin_best_test(ONE, MILLIONTH)])
def test_a_distance_to_another_bin_at_the_wrong_threshold_is_refuted(twin: Any) -> None:
    assert chance_of(twin, 1) > 2 * MILLIONTH
    assert chance_of(type(twin)(twin.epsilon, MILLIONTH, unstable_at=1), 1) <= MILLIONTH


def test_a_test_without_noise_is_refuted() -> None:
    twin = QuietTest(ONE, MILLIONTH)
    assert twin.threshold == LaplaceTest(ONE, MILLIONTH).threshold
    assert [twin.passes(distance, seeded(7)) for distance in (13, 14)] == [False, True]
    assert needed_delta(laplace_test_law(twin, 13), laplace_test_law(twin, 14), ONE) == 1


def test_noise_for_a_distance_that_moves_by_2_is_refuted() -> None:
    twin, real = narrow_test(ONE, MILLIONTH), LaplaceTest(ONE, MILLIONTH, sensitivity=2)
    worst = {
        test: max(needed_delta(laplace_test_law(test, k), laplace_test_law(test, k + 2), ONE) for k in range(40))
        for test in (twin, real)
    }
    assert worst[twin] > 0.1
    assert worst[real] < 1e-14


@pytest.mark.parametrize("make", [eager_test, hasty_test])
def test_a_chance_that_starts_or_grows_too_fast_is_refuted(make: Callable[..., BestTest]) -> None:
    twin = make(ONE, MILLIONTH)
    worst = max(needed_delta(best_test_law(twin, k), best_test_law(twin, k + 1), ONE) for k in range(twin.cap))
    assert max(worst, float(best_test_law(twin, 0))) > 1.9e-6
    chances = growing_chances(twin.epsilon, twin.delta, BITS)
    assert breaches(chances, 2**BITS, ONE, MILLIONTH)


@pytest.mark.parametrize(
    ("raw", "steps"),
    [
        (3, 3),
        (3.99, 3),
        (Fraction(7, 2), 3),
        (Decimal("3.5"), 3),
        (np.int64(3), 3),
        (np.float32(3.5), 3),
        (True, 1),
        (-1, 0),
        (-0.5, 0),
        (10, 10),
        (11, 10),
        (10**400, 10),
        (math.inf, 10),
        (np.inf, 10),
        (Decimal("Infinity"), 10),
        (Decimal("1e999999"), 10),
        (-math.inf, 0),
        (math.nan, 0),
        (np.ma.masked, 0),
        (None, 0),
        ("7", 0),
        ("far", 0),
        ("inf", 0),
        ("1e400", 0),
        ([7], 0),
        (object(), 0),
        (1j, 0),
    ],
)
def test_a_distance_becomes_whole_steps_rounded_down_and_0_where_it_is_no_number(raw: Any, steps: int) -> None:
    assert steps_within(raw, 10) == steps


@given(distance=st.fractions(-3, 30), move=st.fractions(-1, 1))
@settings(max_examples=100)
def test_a_distance_that_moves_by_1_becomes_steps_that_move_by_1(distance: Any, move: Any) -> None:
    assert abs(steps_within(distance + move, 20) - steps_within(distance, 20)) <= 1


@pytest.mark.parametrize("kind", [BestTest, LaplaceTest])
@pytest.mark.parametrize(
    ("epsilon", "delta", "sensitivity"),
    [(Fraction(0), TENTH, 1), (-ONE, TENTH, 1), (ONE, Fraction(0), 1), (ONE, Fraction(1, 2), 1), (ONE, TENTH, 0)],
)
def test_a_test_says_what_it_needs(kind: Any, epsilon: Any, delta: Any, sensitivity: int) -> None:
    with pytest.raises(InvalidParameterError, match=r"positive epsilon, a delta between 0 and 0\.5"):
        kind(epsilon, delta, 0, sensitivity)


@pytest.mark.parametrize("kind", [BestTest, LaplaceTest])
@pytest.mark.parametrize("unstable_at", [-1, 1.0, True, None, 10**9])
def test_the_unstable_distance_is_a_small_whole_number(kind: Any, unstable_at: Any) -> None:
    with pytest.raises(InvalidParameterError, match="unstable_at must be 0 for a distance to instability, or 1 for"):
        kind(ONE, TENTH, unstable_at)
