"""Exact laws of propose-test-release: they are laws, and agree with formulas found another way."""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction

import pytest

from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from tests.laws.mechanisms import ABOVE, BELOW, discrete_laplace_law
from tests.laws.propose_test_release import REFUSED, best_test_law, cascade_law, laplace_test_law, levels_law, marked
from tests.laws.propose_test_release import tested_release_law as release_law  # under its own name pytest would run it
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio

TINY = Fraction(1, 2**200)
LAPLACE = LaplaceTest(Fraction(1, 2), Fraction(1, 100), 1)
BEST = BestTest(Fraction(1, 2), Fraction(1, 100), 1)


@pytest.mark.parametrize("distance", [0, 1, 7, 8, 9, 15])
def test_the_chance_of_a_laplace_test_is_the_sum_over_the_noise(distance: int) -> None:
    noise = discrete_laplace_law(0, LAPLACE.scale, -40, 40)
    summed = noise[ABOVE] + sum(noise[z] for z in range(-40, 41) if distance + z >= LAPLACE.threshold)
    assert abs(laplace_test_law(LAPLACE, distance) - summed) < TINY


def test_beyond_the_cap_all_distances_are_alike() -> None:
    assert (
        laplace_test_law(LAPLACE, LAPLACE.cap) == laplace_test_law(LAPLACE, LAPLACE.cap + 1) == laplace_test_law(LAPLACE, 10**9)
    )
    assert best_test_law(BEST, BEST.cap - 1) < 1 == best_test_law(BEST, BEST.cap) == best_test_law(BEST, 10**9)


def test_the_best_chances_follow_the_closed_form_while_passing_is_rare() -> None:
    epsilon, delta = 0.5, 0.01
    for steps in range(5):
        geometric = delta * (math.exp(epsilon * (steps + 1)) - 1) / (math.exp(epsilon) - 1)
        assert float(best_test_law(BEST, 1 + steps)) == pytest.approx(geometric, rel=1e-12)
    assert best_test_law(BEST, 0) == best_test_law(BEST, -3) == Fraction(1, 100)


def test_the_best_chances_of_passing_and_failing_mirror_each_other() -> None:
    short = BestTest(Fraction(1), Fraction(1, 1000), 0)
    chances = [best_test_law(short, steps) for steps in range(short.cap + 1)]
    steps = next(place for place, chance in enumerate(chances) if chance > Fraction(1, 2))
    for chance, following in zip(chances[steps:], chances[steps + 1 :], strict=False):  # failing is now the binding side
        expected = max(0.0, math.exp(-1) * (float(1 - chance) - 0.001))
        assert float(1 - following) == pytest.approx(expected, abs=1e-15)


def test_a_sensitivity_of_two_takes_two_units_of_distance_for_a_step() -> None:
    wide = BestTest(BEST.epsilon, BEST.delta, 1, sensitivity=2)
    for steps in range(6):
        assert best_test_law(wide, 1 + 2 * steps) == best_test_law(wide, 2 + 2 * steps) == best_test_law(BEST, 1 + steps)


def test_a_tested_release_sums_to_one_and_is_the_release_when_it_passes() -> None:
    chance = Fraction(3, 7)
    law, plain = release_law(chance, 2, Fraction(5, 2), -4, 8), discrete_laplace_law(2, Fraction(5, 2), -4, 8)
    assert abs(sum(law.values(), Fraction(-1))) < TINY
    assert law[REFUSED] == 1 - chance
    assert all(law[outcome] == chance * probability for outcome, probability in plain.items())
    assert set(law) == {REFUSED, BELOW, ABOVE, *range(-4, 9)}


def test_a_cascade_replies_with_its_first_pass() -> None:
    chances = [Fraction(1, 2), Fraction(1, 3), Fraction(1)]
    assert cascade_law(chances, [{name: Fraction(1)} for name in "abc"]) == {
        REFUSED: 0,
        "a": Fraction(1, 2),
        "b": Fraction(1, 6),
        "c": Fraction(1, 3),
    }
    same = cascade_law(chances[:2], [{"a": Fraction(1, 4), "b": Fraction(3, 4)}] * 2)
    assert same == {REFUSED: Fraction(1, 3), "a": Fraction(1, 6), "b": Fraction(1, 2)}
    with pytest.raises(ValueError, match="shorter"):
        cascade_law(chances, [])


def test_levels_refuse_wherever_one_refuses_and_their_laws_multiply() -> None:
    def then(proposal: Hashable) -> dict[Hashable, Fraction]:
        chance = Fraction(1, 2) if proposal == "a" else Fraction(1, 4)
        return cascade_law([chance], [{"end": Fraction(1)}])

    law = levels_law(cascade_law([Fraction(1, 3), Fraction(1, 2)], [{"a": Fraction(1)}, {"b": Fraction(1)}]), then)
    assert law == {REFUSED: Fraction(1, 3) + Fraction(1, 6) + Fraction(1, 4), "end": Fraction(1, 6) + Fraction(1, 12)}


def test_marks_part_what_would_be_one_outcome_and_leave_refusals_alone() -> None:
    law = release_law(Fraction(1, 2), 0, Fraction(1), -1, 1)
    first, second = marked(law, "first"), marked(law, "second")
    assert first[REFUSED] == second[REFUSED] == Fraction(1, 2)
    assert set(first) & set(second) == {REFUSED}
    assert largest_log_ratio(first, second) == math.inf
    assert hockey_stick(first, second, 3) == pytest.approx(0.5)
