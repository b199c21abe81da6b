"""Propose-test-release: noise for a proposed bound, once a private test has shown that the bound is safe here.

Claim      (epsilon, delta)-DP, whatever the data, if `distance` moves by at most 1 between neighbours, and neighbours of a
           table whose distance is above `unstable_at` have values within `bound` of its own
Neighbors  Whichever relation those two facts are true for
Why        The test (distance_tests.py) costs test_epsilon. Where the distance is above `unstable_at`, the Laplace mechanism
           at `bound` costs release_epsilon on top; elsewhere the test passes with probability at most delta. A pass and a
           refusal cannot both use up delta, because what makes one likelier makes the other rarer.
Numerics   Whole distances; value and noise on a public grid
No reply   Costs the same as an answer and says only that the test failed
Source     Dwork & Lei 2009; Dwork & Roth 2014, section 7.2
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import Neighbors, PrivacyCost, spendable_delta, spendable_epsilon
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.rounding import decimal_text, exact_rational
from dpstats.mechanisms.discrete_laplace import add_laplace, l1_units
from dpstats.mechanisms.distance_tests import BestTest, DistanceTest, LaplaceTest, steps_within
from dpstats.mechanisms.grid import LARGEST, POLICY, grid_for, positive_rational, take_coordinates

METHOD = "propose-test-release"
CLAIM = (
    "(epsilon, delta)-DP if distance moves by at most 1, and values move by at most bound from a table whose distance is "
    "above unstable_at"
)
REASON = "The private test did not show that the answer is stable enough."
ADVICE = "More rows, a larger epsilon or delta, a larger bound or another method make a reply likelier."
TESTS: dict[str, type[BestTest] | type[LaplaceTest]] = {"best": BestTest, "laplace": LaplaceTest}


def propose_test_release(
    value: object,
    *,
    bound: object,
    distance: object,
    epsilon: object,
    delta: object,
    unstable_at: int = 0,
    test: str = "best",
    test_share: object = Fraction(1, 2),
    neighbors: object = Neighbors.ADD_REMOVE,
    grid: object = None,
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """A number or a flat list of numbers with Laplace noise for `bound`, if a private test of `distance` passes.

    `bound` is the proposal: how far one unit may move the value, summed over coordinates. It must not come from the data,
    except through an earlier release. `distance` is how many units must change before the table is one on which the
    proposal may fail; it must move by at most 1 between neighbours. `unstable_at` is the largest distance at which the
    proposal may fail: 0 (the default) when distance counts the steps to an unstable table, 1 when it counts the steps to
    another bin, because then a neighbour can be in that bin at distance 1.

    `test` is "best" (passes most often) or "laplace" (as first described); `test_share` is its part of epsilon.
    A distance that is no number counts as 0. Values follow the policy of `laplace`.
    """
    cost = cost_of_test(epsilon, delta, neighbors)
    sensitivity = positive_rational(bound, "bound")
    share = exact_rational(test_share, "test_share")
    if not 0 < share < 1:
        raise InvalidParameterError(f"test_share must lie between 0 and 1, such as 0.5, got {test_share}.")
    tester = make_test(test, cost.epsilon * share, cost.delta, unstable_at)
    release_epsilon = cost.epsilon * (1 - share)
    chosen = grid_for(sensitivity / release_epsilon, grid, False)
    source = source_or_system(rng)
    raw_coordinates, is_vector = take_coordinates(value)
    question = f"propose_test_release(bound={decimal_text(sensitivity)})"
    if not tester.passes(steps_within(distance, tester.cap), source):
        return NoReply(question, cost, METHOD, REASON, ADVICE, source.private)
    noisy = add_laplace(raw_coordinates, sensitivity, release_epsilon, chosen, source)
    scale = l1_units(sensitivity, chosen, len(raw_coordinates)) * chosen.spacing / release_epsilon
    return Release(
        question=question,
        value=tuple(noisy) if is_vector else noisy[0],
        cost=cost,
        method=METHOD,
        claim=CLAIM,
        private=source.private,
        notes=(
            ("test", note_on_test(test, tester)),
            ("noise", f"discrete Laplace of scale {decimal_text(scale)}, drawn exactly"),
            ("grid", str(chosen)),
            ("policy", POLICY),
        ),
    )


@dataclass(frozen=True)
class Exact:
    """A value that may leave without noise, because every neighbour of a stable table has the very same one."""

    value: Any


class Refused:
    """The outcome of a test that did not pass."""


REFUSED = Refused()


def unchanged(value: Any) -> Any:
    """The released value as it is."""
    return value


def release_if_stable(
    raw_value: Callable[[], object],
    raw_distance: object,
    bound: Fraction,
    test: DistanceTest,
    release_epsilon: Fraction,
    rng: RandomSource,
    finish: Callable[[Any], Any] = unchanged,
) -> Any:
    """One test and, if it passes, one release with noise for the bound, post-processed by `finish`; otherwise REFUSED.

    An `Exact` value leaves as it is; so does any value where the bound is 0, but through `finish`.
    """
    if not test.passes(steps_within(raw_distance, test.cap), rng):
        return REFUSED
    return release_with_noise(raw_value(), bound, release_epsilon, rng, finish)


def release_with_noise(
    raw_value: object, bound: Fraction, epsilon: Fraction, rng: RandomSource, finish: Callable[[Any], Any] = unchanged
) -> Any:
    """What leaves after a test has passed."""
    if isinstance(raw_value, Exact):
        return raw_value.value
    if not bound:
        return finish(raw_value)
    grid = grid_for(min(bound / epsilon, LARGEST), None, False)  # a proposed bound may be absurd, which is no error
    return finish(add_laplace([raw_value], bound, epsilon, grid, rng)[0])


def cost_of_test(epsilon: object, delta: object, neighbors: object) -> PrivacyCost:
    """The cost of a call that tests a distance; it needs a delta."""
    cost = PrivacyCost(spendable_epsilon(epsilon), spendable_delta(delta), neighbors)
    if not cost.delta:
        raise MissingParameterError("a private test needs a positive delta: for example delta=1e-6.")
    return cost


def make_test(name: object, epsilon: Fraction, delta: Fraction, unstable_at: int) -> DistanceTest:
    """The distance test of that name."""
    if not isinstance(name, str) or name not in TESTS:
        raise InvalidParameterError(f"test must be {' or '.join(map(repr, TESTS))}, got {name!r}.")
    return TESTS[name](epsilon, delta, unstable_at)


def note_on_test(name: str, tester: DistanceTest) -> str:
    """What the card says of the test: from which distances on it replies, from parameters alone."""
    half, mostly = (distance_for(tester, chance) for chance in (0.5, 0.95))
    return f"{name}: replies with probability 1/2 from distance {half:,} on, 0.95 from {mostly:,} on"


def distance_for(tester: DistanceTest, chance: float) -> int:
    """The least distance at which the test passes with at least that chance; the cap if none does."""
    return bisect_left(range(tester.cap), True, key=lambda distance: tester.pass_probability(distance) >= chance)
