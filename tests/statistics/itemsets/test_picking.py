"""Draws of candidates by their counts: their law is the definition's, and its loss is what is paid; the twins' is not."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.foundations.rounding import cumulative, exp_bounds
from dpstats.mechanisms.exponential import settled_index
from dpstats.statistics.itemsets.picking import CandidateDraws, draw_highest, quick_weights
from dpstats.testing import seeded
from tests.laws.itemsets import peeling_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.itemsets import lifts_law, settled_without_doubt

RATE = Fraction(1, 3)


def monotone_neighbours(how_many: int, most: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All small counts, and what one row more may make of them."""
    for counts in itertools.product(range(most + 1), repeat=how_many):
        for moved in itertools.product((0, 1), repeat=how_many):
            yield counts, tuple(count + more for count, more in zip(counts, moved, strict=True))


@pytest.mark.parametrize(("candidates", "drawn", "most"), [(3, 1, 4), (3, 2, 3), (4, 2, 1), (4, 3, 1)])
def test_draws_cost_their_rate_each_and_no_less(candidates: int, drawn: int, most: int) -> None:
    pairs = list(monotone_neighbours(candidates, most))
    laws = {counts: peeling_law(counts, RATE, drawn) for counts in {each for pair in pairs for each in pair}}
    losses = [largest_log_ratio(laws[here], laws[there]) for here, there in pairs]
    assert max(losses) <= drawn * RATE + 1e-12
    assert max(losses) >= 0.7 * RATE  # the bound is nearly met, so that the test can fail


def test_lift_at_the_price_of_counts_is_caught() -> None:
    here, there = [(0, 0, 0), (0, 20, 20)], [(1, 1, 1), (0, 20, 21)]  # one row more: both items of a pair, one of the other
    assert largest_log_ratio(lifts_law(here, 40, RATE, 1), lifts_law(there, 41, RATE, 1)) > RATE + 0.05
    counts = [[both for both, _, _ in pairs] for pairs in (here, there)]
    assert largest_log_ratio(*(peeling_law(each, RATE, 1) for each in counts)) <= RATE


def test_what_is_drawn_has_the_law_of_the_definition() -> None:
    counts = np.array([5, 3, 5, 0, 4])
    law: Any
    law, repeats = peeling_law(counts.tolist(), RATE, 2), 6_000
    seen: Any = Counter(tuple(draw_highest(counts, RATE, 2, seeded(seed))) for seed in range(repeats))
    distance = sum(abs(seen[order] / repeats - float(chance)) for order, chance in law.items()) / 2
    assert distance < 0.03
    wrong: Any = peeling_law(counts.tolist(), 2 * RATE, 2)
    assert sum(abs(seen[order] / repeats - float(chance)) for order, chance in wrong.items()) / 2 > 0.1


def test_all_candidates_are_drawn_once() -> None:
    counts = np.array([7, 0, 7, 7, 900, 0])
    assert sorted(draw_highest(counts, Fraction(1, 50), 6, seeded(1))) == list(range(6))
    assert draw_highest(counts, Fraction(100), 4, seeded(1))[0] == 4
    assert set(draw_highest(counts, Fraction(100), 4, seeded(2))) == {0, 2, 3, 4}


@given(
    levels=st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 10**5)), min_size=1, max_size=40, unique_by=lambda x: x[0]),
    rate=st.fractions(Fraction(1, 10**5), 5),
)
def test_quick_weights_are_as_near_as_they_say(levels: list[tuple[int, int]], rate: Fraction) -> None:
    losses = np.array(sorted(loss for loss, _ in levels)) - min(loss for loss, _ in levels)
    numbers = np.array([number for _, number in levels])
    quick, bits = quick_weights(losses, rate, numbers), 400
    exact = [int(number) * exp_bounds(rate * int(loss), bits)[0] for loss, number in zip(losses, numbers, strict=True)]
    for place, weight in enumerate(quick.weights):
        assert abs(Fraction(float(weight)) * 2**bits - exact[place]) <= Fraction(quick.error) * exact[place]
    beyond = sum(exact[len(quick.weights) :])
    assert beyond <= Fraction(quick.error) * sum(exact)


def test_a_word_beside_a_boundary_is_settled_rightly_or_not_at_all() -> None:
    losses, numbers, bits, wrong = np.arange(40) * 7, np.full(40, 3), 512, 0
    quick = quick_weights(losses, RATE / 10, numbers)
    ends = cumulative([3 * exp_bounds(RATE / 10 * int(loss), bits)[0] for loss in losses])
    for end in ends[:-1]:
        boundary = (end << 64) // ends[-1]
        for word in (boundary, boundary + 1):
            exact = bisect_left(ends, (word * ends[-1] >> 64) + 1)
            assert settled_index(quick, word) in (None, exact)
            wrong += settled_without_doubt(quick, word) != exact
    assert wrong > 10


def test_far_candidates_can_still_be_drawn() -> None:
    draws = CandidateDraws(np.array([10_000, 0]), Fraction(1))
    assert [draws.draw(seeded(3)) for _ in range(2)] == [0, 1]
    assert math.isclose(sum(quick_weights(np.array([0, 10_000]), Fraction(1), np.array([1, 1])).weights), 1.0)
