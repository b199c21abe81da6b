"""Propose-test-release: its exact law on hard pairs, the twins that it must not be, and that no value makes it fail."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.errors import DataTypeError, InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import seeded
from dpstats.foundations.results import NOT_PRIVATE, NoReply, Release
from dpstats.mechanisms import propose_test_release
from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest
from dpstats.mechanisms.propose_test_release import ADVICE, REASON, distance_for, make_test
from tests.laws.mechanisms import ABOVE, BELOW, discrete_laplace_law
from tests.laws.propose_test_release import REFUSED, best_test_law, laplace_test_law
from tests.laws.propose_test_release import tested_release_law as release_law  # under its own name pytest would run it
from tests.privacy_loss.exact import hockey_stick
from tests.twins.propose_test_release import PrintedScaleTest, QuietTest, eager_test, half_bound_scale, other_bin_best_test

BOUND = 4  # grid units
FAR = 100 * BOUND
LOW, HIGH = -4, 12
DELTA = Fraction(1, 10**6)
SHARES = [Fraction(1, 10), Fraction(1, 2), Fraction(4, 5)]
Law = dict[Any, Fraction]


def chance_of(test: BestTest | LaplaceTest, distance: int) -> Fraction:
    return best_test_law(test, distance) if isinstance(test, BestTest) else laplace_test_law(test, distance)


def law_of(test: BestTest | LaplaceTest, distance: int, value: int, scale: Fraction) -> Law:
    """The law in grid units; a value out of the window's reach is an outcome of its own, the worst that it can be."""
    if value > HIGH:
        return {REFUSED: 1 - chance_of(test, distance), "elsewhere": chance_of(test, distance)}
    chance = chance_of(test, distance)
    return {REFUSED: 1 - chance, **{outcome: chance * p for outcome, p in release_of(value, scale).items()}}


@functools.cache
def release_of(value: int, scale: Fraction) -> Law:
    return discrete_laplace_law(value, scale, LOW, HIGH)


def hard_pairs(unstable_at: int, cap: int) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of (distance, value) that neighbours may have."""
    close = [((k, 0), (k + 1, move)) for k in range(unstable_at, cap + 1) for move in (0, BOUND, -BOUND)]
    beside = [((k, 0), (k, BOUND)) for k in range(unstable_at + 1, cap + 1)]
    torn = [((k, 0), (other, FAR)) for k in range(unstable_at + 1) for other in {k, max(0, k - 1)}]
    return close + beside + torn


def worst_delta(test: BestTest | LaplaceTest, epsilon: Fraction, scale: Fraction, unstable_at: int, cap: int) -> float:
    needed = []
    for here, there in hard_pairs(unstable_at, cap):
        needed.append(hockey_stick(law_of(test, *here, scale), law_of(test, *there, scale), epsilon))
    return max(needed)


@pytest.mark.parametrize("name", ["best", "laplace"])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("epsilon", "unstable_at"), [(Fraction(1), 0), (Fraction(1), 1), (Fraction(4), 0)])
def test_no_hard_pair_needs_more_than_delta(name: str, share: Fraction, epsilon: Fraction, unstable_at: int) -> None:
    test = make_test(name, epsilon * share, DELTA, unstable_at)
    cap = min(test.cap, unstable_at + 60)
    worst = worst_delta(test, epsilon, BOUND / (epsilon * (1 - share)), unstable_at, cap)
    assert worst <= float(DELTA) * (1 + 1e-9)
    least = 1 if name == "best" else math.exp(-float(epsilon * share))  # a whole threshold can be so much too large
    assert worst >= float(DELTA) * least * (1 - 1e-9)


@pytest.mark.parametrize(
    ("twin", "unstable_at"),
    [
        (PrintedScaleTest(Fraction(1, 2), DELTA, 1), 1),
        (other_bin_best_test(Fraction(1), DELTA), 1),
        (QuietTest(Fraction(1, 2), DELTA), 0),
        (eager_test(Fraction(1, 2), DELTA), 0),
    ],
    ids=["printed threshold", "another bin", "no noise", "eager"],
)
def test_twins_of_the_test_are_refuted(twin: Any, unstable_at: int) -> None:
    worst = worst_delta(twin, Fraction(1), BOUND / Fraction(1, 2), unstable_at, min(twin.cap, 40))
    assert worst > 1.99 * float(DELTA)


def test_the_twin_with_noise_for_half_the_bound_is_refuted() -> None:
    test, half = make_test("best", Fraction(1, 2), DELTA, 0), Fraction(1, 2)
    assert worst_delta(test, Fraction(1), half_bound_scale(Fraction(BOUND), half), 0, test.cap) > 0.1


@pytest.mark.parametrize("name", ["best", "laplace"])
@pytest.mark.parametrize("distance", [5, 40])
def test_outcomes_fit_the_exact_law_and_none_with_a_fifth_more_or_less_noise(
    name: str, distance: int, fit: Callable[..., float]
) -> None:
    rng = seeded(7)
    keywords: Any = {"bound": 1, "epsilon": 2, "delta": Fraction(1, 20), "grid": Fraction(1, 4), "test": name, "rng": rng}
    replies = [propose_test_release(0.5, distance=distance, **keywords) for _ in range(2_500)]
    test = make_test(name, Fraction(1), Fraction(1, 20), 0)
    units = [round(reply.value * 4) if isinstance(reply, Release) else None for reply in replies]
    outcomes = [REFUSED if unit is None else BELOW if unit < LOW else ABOVE if unit > HIGH else str(unit) for unit in units]

    def p_value(scale: Fraction, chance: Fraction) -> float:
        return fit(outcomes, {str(key): value for key, value in release_law(chance, 2, scale, LOW, HIGH).items()})

    chance = chance_of(test, distance)
    assert p_value(Fraction(4), chance) > 1e-3
    assert p_value(Fraction(4), chance * Fraction(8, 10)) < 1e-3
    if distance == 40:
        assert p_value(Fraction(4) * Fraction(8, 10), chance) < 1e-3
        assert p_value(Fraction(4) * Fraction(12, 10), chance) < 1e-3


def test_the_test_and_the_release_share_epsilon_as_asked() -> None:
    release: Any = propose_test_release(
        1, bound=1, distance=10**6, epsilon=2, delta=1e-6, test_share=0.25, test="laplace", rng=seeded(7)
    )
    tester = LaplaceTest(Fraction(1, 2), DELTA)
    notes = dict(release.notes)
    halfway, mostly = distance_for(tester, 0.5), distance_for(tester, 0.95)
    assert notes["test"] == f"laplace: replies with probability 1/2 from distance {halfway} on, 0.95 from {mostly} on"
    assert "scale ~0.66" in notes["noise"] or "scale 2/3" in notes["noise"]  # 1 / (2 * 3/4)


def test_a_vector_gets_noise_for_all_its_coordinates_and_a_number_stays_one() -> None:
    keywords: Any = {"bound": 1, "distance": math.inf, "epsilon": 1e6, "delta": 1e-6, "rng": seeded(7)}
    assert propose_test_release([1, 2.5, -3], **keywords).value == pytest.approx((1, 2.5, -3), abs=1e-4)
    assert propose_test_release(np.array([1.0]), **keywords).value == pytest.approx((1,), abs=1e-4)
    assert propose_test_release(7, **keywords).value == pytest.approx(7, abs=1e-4)


@pytest.mark.parametrize("raw", [math.nan, math.inf, -math.inf, None, "far", [3], object(), 1j, np.ma.masked, 10**400])
def test_no_distance_and_no_element_makes_an_error(raw: Any) -> None:
    keywords: Any = {"bound": 1, "epsilon": 1, "delta": 1e-6, "rng": seeded(7)}
    assert isinstance(propose_test_release(3, distance=raw, **keywords), (Release, NoReply))
    reply: Any = propose_test_release([raw, 1.0], distance=10**6, **keywords)
    assert len(reply.value) == 2
    assert all(math.isfinite(number) for number in reply.value)


@pytest.mark.parametrize("raw", [math.nan, None, "far", [3], object(), -math.inf, -5])
def test_a_distance_that_is_no_number_is_refused_but_for_delta(raw: Any) -> None:
    rng = seeded(7)
    for _ in range(50):
        assert not propose_test_release(3, bound=1, distance=raw, epsilon=1, delta=1e-12, rng=rng)


def test_a_container_that_holds_no_numbers_is_refused_by_its_type() -> None:
    for value in (None, "3", {"a": 1}, [[1, 2], [3, 4]]):
        with pytest.raises(DataTypeError, match="one number or a flat list"):
            propose_test_release(value, bound=1, distance=0, epsilon=1, delta=1e-6)


def test_every_refusal_reads_and_costs_the_same_as_a_reply_costs() -> None:
    keywords: Any = {"bound": 1, "epsilon": 1, "delta": 1e-6, "neighbors": "change_one"}
    refusals = [propose_test_release(value, distance=0, **keywords) for value in (3, math.nan, [1, 2], -1e300)]
    assert {str(refusal) for refusal in refusals} == {str(refusals[0])}
    assert {type(refusal) for refusal in refusals} == {NoReply}
    reply: Any = propose_test_release(3, distance=math.inf, **keywords)
    assert reply.cost == refusals[0].cost
    assert reply.cost.neighbors is Neighbors.CHANGE_ONE
    assert REASON in str(refusals[0])
    assert ADVICE in str(refusals[0])
    assert reply.question == refusals[0].question


def test_a_seeded_run_says_so_and_repeats_itself() -> None:
    keywords: Any = {"bound": 1, "epsilon": 1, "delta": 1e-6}
    for distance in (0, math.inf):
        outcome = propose_test_release(3, distance=distance, rng=seeded(7), **keywords)
        assert NOT_PRIVATE in str(outcome.card())
        assert str(outcome) == str(propose_test_release(3, distance=distance, rng=seeded(7), **keywords))
        assert NOT_PRIVATE not in str(propose_test_release(3, distance=distance, **keywords).card())


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"bound": 0}, "bound must be a positive number"),
        ({"bound": -1}, "bound must be a positive number"),
        ({"bound": math.inf}, "bound must be a finite number"),
        ({"epsilon": 0}, "epsilon must be a positive number such as"),
        ({"delta": 0.5}, r"delta must be at least 0 and below 0\.5"),
        ({"test": "chi"}, "test must be 'best' or 'laplace', got 'chi'"),
        ({"test": None}, "test must be 'best' or 'laplace'"),
        ({"unstable_at": -1}, "unstable_at must be 0 for a distance to instability, or 1 for"),
        ({"unstable_at": 1.0}, "unstable_at must be 0 for a distance to instability, or 1 for"),
        ({"unstable_at": True}, "unstable_at must be 0 for a distance to instability, or 1 for"),
        ({"test_share": 0}, r"test_share must lie between 0 and 1, such as 0\.5"),
        ({"test_share": 1}, r"test_share must lie between 0 and 1, such as 0\.5"),
        ({"neighbors": "all"}, "neighbors must be"),
        ({"grid": 0}, "grid must be a positive number"),
    ],
)
def test_errors_say_what_a_parameter_must_be(keywords: Any, words: str) -> None:
    with pytest.raises(InvalidParameterError, match=words):
        propose_test_release(3, **{"bound": 1, "distance": 5, "epsilon": 1, "delta": 1e-6, **keywords})


def test_a_test_without_delta_is_refused_with_an_example() -> None:
    with pytest.raises(MissingParameterError, match="a private test needs a positive delta: for example delta=1e-6"):
        propose_test_release(3, bound=1, distance=5, epsilon=1, delta=0)
