"""Choices of labels: what is released, and that one changed vote is hidden."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpstats.foundations.errors import InvalidParameterError
from dpstats.mechanisms.noisy_max import UNITS
from dpstats.statistics.aggregation import choices
from dpstats.statistics.aggregation.choices import (
    NONE_OF_THEM,
    UNSTABLE,
    checked_options,
    choose_option,
    choose_stable,
    popularity,
    raw_steps_to_another,
    stability_test,
    steps_of_lead,
)
from dpstats.testing import seeded
from tests.laws.aggregates import argmax_law, stable_law
from tests.privacy_loss.exact import hockey_stick, largest_log_ratio
from tests.twins.aggregates import chance_by_single_votes, printed_argmax_law

EPSILON, DELTA = Fraction(1), Fraction(1, 10**6)
Labels = Sequence[Hashable]

HARD_VOTES: dict[str, tuple[Labels, Labels]] = {
    "a vote changes sides": (["a"] * 5 + ["b"] * 5, ["a"] * 4 + ["b"] * 6),
    "a tie is broken": (["a", "b", "c", "c", "b"], ["a", "b", "c", "c", "c"]),
    "all agree but one": (["b"] * 7, ["b"] * 6 + ["a"]),
    "an answer goes missing": (["a"] * 3 + ["b"] * 3, ["a"] * 3 + ["b"] * 2 + [None]),
    "none becomes a vote": ([None] * 6, [None] * 5 + ["c"]),
    "a vote for no option": (["a"] * 4 + ["b"] * 3, ["a"] * 4 + ["b"] * 2 + ["z"]),
    "ten against twelve": (["a"] * 20 + ["b"] * 10, ["a"] * 21 + ["b"] * 9),
    "one block": (["a"], ["b"]),
}


# Options


@pytest.mark.parametrize("pair", HARD_VOTES)
def test_the_argmax_over_options_costs_epsilon_at_most(pair: str) -> None:
    laws = [argmax_law(votes, ["a", "b", "c"], EPSILON) for votes in HARD_VOTES[pair]]
    assert largest_log_ratio(*laws) <= 1 + 1e-12


def test_the_printed_noise_and_noise_for_one_vote_cost_nearly_twice_epsilon() -> None:
    gap_of_ten, gap_of_twelve = printed_argmax_law(20, 10, 1.0), printed_argmax_law(21, 9, 1.0)
    assert largest_log_ratio(gap_of_ten, gap_of_twelve) > 1.8
    halved = [printed_argmax_law(20, 10, 0.5), printed_argmax_law(21, 9, 0.5)]
    assert largest_log_ratio(*halved) <= 1 + 1e-9
    laws = [argmax_law(votes, ["a", "b"], EPSILON, moved=1) for votes in HARD_VOTES["ten against twelve"]]
    assert largest_log_ratio(*laws) > 1.8


def test_the_noise_is_that_of_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, Any, Any]] = []
    module = choices

    def watch(scores: Any, **options: Any) -> Any:
        seen.append((list(scores), options["sensitivity"], options["epsilon"]))
        assert not options.get("monotonic")
        return type("Reply", (), {"value": 1})

    monkeypatch.setattr(module, "noisy_max", watch)
    assert choose_option(["x", "y", "y", None, "z"], ["x", "y"], Fraction(40), seeded(1), overlap=3) == "y"
    assert seen == [([1, 2, 2], 3, 40)]
    assert UNITS == 2**16


def test_the_leading_option_comes_back_as_it_was_listed() -> None:
    assert choose_option([1.0] * 60 + [0] * 20, [True, False], EPSILON, seeded(1)) is True
    assert choose_option(["b"] * 60, ["a", "b"], EPSILON, seeded(1)) == "b"
    assert choose_option([("a", 2)] * 60, [("a", 2), ()], EPSILON, seeded(1)) == ("a", 2)


def test_where_most_blocks_vote_for_no_option_there_is_no_reply() -> None:
    for votes in ([None] * 100, ["z"] * 100, [math.nan] * 100, [object()] * 100):
        assert choose_option(votes, ["a", "b"], Fraction(4), seeded(1)) is NONE_OF_THEM


@pytest.mark.parametrize("options", [[], ["a", "a"], [1, True], [None], [math.nan], [["a"]]])
def test_options_are_different_labels(options: Any) -> None:
    with pytest.raises(InvalidParameterError, match="options must hold"):
        checked_options(options)


# The mode


@pytest.mark.parametrize("overlap", [1, 2])
@pytest.mark.parametrize("pair", HARD_VOTES)
def test_the_stable_mode_keeps_epsilon_and_delta(pair: str, overlap: int) -> None:
    test = stability_test(EPSILON, Fraction(1, 100))

    def chance(lead: int) -> float:
        return test.pass_probability(steps_of_lead(lead, overlap))

    one, other = (stable_law(votes, chance, choices._order) for votes in HARD_VOTES[pair])  # type: ignore[arg-type]
    assert hockey_stick(one, other, EPSILON) <= 0.01 + 1e-12


def test_a_test_for_single_votes_breaks_the_claim() -> None:
    def chance(lead: int) -> float:
        return chance_by_single_votes(lead, 1, EPSILON, Fraction(1, 100))

    pairs = {"modes differ": (["a"] * 3 + ["b"] * 2, ["a"] * 2 + ["b"] * 3), "leads": (["a"] * 4 + ["b"] * 2, ["a"] * 5 + ["b"])}
    for votes in pairs.values():
        one, other = (stable_law(each, chance, choices._order) for each in votes)  # type: ignore[arg-type]
        assert hockey_stick(one, other, EPSILON) > 0.011


def changed(votes: tuple[Any, ...], overlap: int) -> set[tuple[Any, ...]]:
    """All votes that differ in at most `overlap` places, over three labels and no answer."""
    labels = ("a", "b", "c", None)
    found = set()
    for places in itertools.combinations(range(len(votes)), overlap):
        for news in itertools.product(labels, repeat=overlap):
            other = list(votes)
            for place, new in zip(places, news, strict=True):
                other[place] = new
            found.add(tuple(other))
    return found


@pytest.mark.parametrize("overlap", [1, 2])
def test_changed_votes_move_the_steps_by_one_and_the_mode_only_from_the_first_step(overlap: int) -> None:
    for votes in itertools.combinations_with_replacement(("a", "b", "c", None), 5):
        steps, mode = raw_steps_to_another(Counter(votes), overlap), choices._leaders(Counter(votes))[0][0]
        for other in changed(votes, overlap):
            steps_there, mode_there = raw_steps_to_another(Counter(other), overlap), choices._leaders(Counter(other))[0][0]
            assert abs(steps - steps_there) <= 1
            assert mode == mode_there or (steps, steps_there) == (1, 1)


def test_the_steps_agree_with_the_law_by_brute_force() -> None:
    for votes in itertools.product(("a", "b", "c", None), repeat=4):
        lead = next(iter(stable_law(votes, float, choices._order).values()))  # type: ignore[arg-type]
        assert raw_steps_to_another(Counter(votes), 1) == steps_of_lead(int(lead), 1)


def test_a_clear_mode_is_released_and_an_unclear_one_is_not() -> None:
    assert choose_stable([("x1", "x3")] * 60 + [()] * 9, 1, EPSILON, DELTA, seeded(1)) == ("x1", "x3")
    assert choose_stable(["a"] * 30 + ["b"] * 30, 1, EPSILON, DELTA, seeded(1)) is UNSTABLE
    assert choose_stable([None] * 500, 1, EPSILON, DELTA, seeded(1)) is UNSTABLE
    assert choose_stable([], 1, EPSILON, DELTA, seeded(1)) is UNSTABLE
    assert choose_stable(["a"] * 60, 20, EPSILON, DELTA, seeded(1)) is UNSTABLE


def test_about_fifty_blocks_are_enough() -> None:
    assert stability_test(EPSILON, DELTA).pass_probability(steps_of_lead(33, 1)) > 0.95


def test_the_form_of_a_label_does_not_tell_which_block_came_first() -> None:
    for first in (True, 1.0, np.int64(1), np.float32(1)):
        released = choose_stable([first] + [1] * 60, 1, EPSILON, DELTA, seeded(1))
        assert released == 1
        assert type(released) is int
    assert choose_stable([-0.0] + [0.0] * 60, 1, EPSILON, DELTA, seeded(1)) == 0


# Shares


def test_popularity_is_a_noisy_share_with_an_interval_for_the_noise() -> None:
    votes, rng = ["a"] * 70 + ["b"] * 30, seeded(1)
    found = [popularity(votes, "a", 2, EPSILON, rng) for _ in range(600)]
    assert np.mean([each.share for each in found]) == pytest.approx(0.7, abs=0.005)
    assert np.std([each.share for each in found]) == pytest.approx(math.sqrt(2) * 2 / 100, rel=0.15)
    covered = [each.interval.low <= 0.7 <= each.interval.high for each in found if each.interval is not None]
    assert len(covered) == 600
    assert 0.93 < np.mean(covered) < 0.99
    assert popularity(votes, "a", 2, EPSILON, rng, None).interval is None
    assert 0 <= popularity([], "a", 1, EPSILON, rng).share <= 1
