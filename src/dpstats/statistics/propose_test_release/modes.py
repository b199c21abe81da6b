"""The mode: the most common value, released without noise once a private test has shown that it leads clearly.

Claim      (epsilon, delta)-DP
Neighbors  ADD_REMOVE or CHANGE_ONE
Why        Stable release (mechanisms/stability.py) of the mode with its exact distance to another mode: the lead over the second
           most common label, which one row added or removed moves by at most 1; a changed row moves half of it by at most 1
           (distances.py). Ties go to the smaller label
Numerics   Counts are exact. Labels leave as they are; numbers beyond 2**53 as decimals of 15 digits
No reply   Costs the same as an answer and says only that the test failed
Source     Dwork & Roth 2014, section 7.3
"""

from __future__ import annotations

from typing import Any

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Question, Reads, Refusal, Statistic, register
from dpstats.foundations.summaries import Column, label_order
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.distance_tests import BestTest
from dpstats.mechanisms.propose_test_release import distance_for
from dpstats.statistics.propose_test_release.answers import TESTED_NOTES, refusal, tested_method
from dpstats.statistics.propose_test_release.distances import steps_to_another_mode

MODE = register(
    Statistic(
        "mode",
        "The most common value, of numbers, text or dates",
        reads=(Reads.LABELS,),
        returns="a number or a text",
        value=str | int | float,
        why_preferred="where it replies it is the mode itself, and nothing else is known to find it without a list of labels",
    )
)


@tested_method("stable", "the mode without noise, if it leads clearly", MODE)
def mode_stable(column: Column, question: Question, rng: RandomSource) -> Answer | Refusal:
    """The mode, if its lead over the second most common label passes the test."""
    raw_leaders = column.most_common(2)
    test = BestTest(question.epsilon, question.delta, unstable_at=1)
    passed = test.passes(min(_distance(raw_leaders, question), test.cap), rng)
    if not passed or not raw_leaders:
        return refusal(question)
    return Answer(raw_leaders[0][0], notes=(("test", _lead_note(test, question.neighbors)), *TESTED_NOTES))


def _lead_note(test: BestTest, neighbors: Neighbors) -> str:
    """How far the mode must lead, from parameters alone; a changed row takes two from a lead."""
    half, mostly = (distance_for(test, chance) for chance in (0.5, 0.95))
    if neighbors is Neighbors.CHANGE_ONE:
        half, mostly = 2 * half - 1, 2 * mostly - 1
    return f"replies with probability 1/2 from a lead of {counted(half, 'row')} on, 0.95 from {mostly:,} on"


def _distance(raw_leaders: list[tuple[Any, int]], question: Question) -> int:
    """Changes before another label leads; 0 where there are no rows."""
    if not raw_leaders:
        return 0
    (label, first), (rival, second) = (*raw_leaders, (raw_leaders[0][0], 0))[:2]
    return steps_to_another_mode(first, second, label_order(rival) > label_order(label), question.neighbors)
