"""Stable release: the answer itself, without noise, once a private test has shown that no neighbour has another one.

Claim      (epsilon, delta)-DP, whatever the data, if `distance` moves by at most 1 between neighbours, and neighbours of a
           table whose distance is above `unstable_at` have the same value
Neighbors  Whichever relation those two facts are true for
Why        Propose-test-release with the bound 0: the whole of epsilon goes to the test, and where it may pass with more
           than delta the value is the same on both sides
Numerics   Whole distances; the value leaves as it is
No reply   Costs the same as an answer and says only that the test failed
Source     Smith & Thakurta 2013; Dwork & Roth 2014, Algorithm 13 (A_dist), whose threshold is a little larger than needed
"""

from __future__ import annotations

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.results import NoReply, Release
from dpstats.mechanisms.distance_tests import steps_within
from dpstats.mechanisms.propose_test_release import REASON, cost_of_test, make_test, note_on_test

METHOD = "stable release"
CLAIM = (
    "(epsilon, delta)-DP if distance moves by at most 1, and neighbours of a table whose distance is above unstable_at have "
    "the same value"
)
ADVICE = "More rows, a larger epsilon or delta, or a coarser question make a reply likelier."


def stable_release(
    value: object,
    *,
    distance: object,
    epsilon: object,
    delta: object,
    unstable_at: int = 0,
    test: str = "best",
    neighbors: object = Neighbors.ADD_REMOVE,
    rng: RandomSource | None = None,
) -> Release | NoReply:
    """The value as it is, of whatever type, if a private test of `distance` passes.

    `distance` is how many units must change to reach an unstable table, one with a neighbour that has another value
    (unstable_at=0); or to reach a table with another value (unstable_at=1), which is one more. It must move by at most 1
    between neighbours; one that is no number counts as 0. `test` is "best" or "laplace".
    """
    cost = cost_of_test(epsilon, delta, neighbors)
    tester = make_test(test, cost.epsilon, cost.delta, unstable_at)
    source = source_or_system(rng)
    if not tester.passes(steps_within(distance, tester.cap), source):
        return NoReply("stable_release()", cost, METHOD, REASON, ADVICE, source.private)
    return Release(
        question="stable_release()",
        value=value,
        cost=cost,
        method=METHOD,
        claim=CLAIM,
        private=source.private,
        notes=(("test", note_on_test(test, tester)), ("noise", "none: the value is the same on every neighbouring table")),
    )
