"""Sets of at most s features: drawn as the exponential mechanism says, and private for one changed block."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Hashable, Iterator
from fractions import Fraction

import numpy as np
import pytest

from dpstats.statistics.selection.bounded_sets import draw_bounded_set, raw_levels, steps_against, steps_needed
from dpstats.testing import seeded
from tests.laws.selections import bounded_set_law, steps_by_trying
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.selections import broken_set_law

EPSILON = Fraction(3, 2)
Rows = tuple[tuple[int, ...], ...]
ROWS = list(itertools.product((0, 1), repeat=2))


def hard_pairs() -> Iterator[tuple[Rows, Rows]]:
    """Every table of three or four blocks and two features, up to order, with every block that may stand in for its last one."""
    for blocks in (3, 4):
        for others in itertools.combinations_with_replacement(ROWS, blocks - 1):
            for here, there in itertools.combinations(ROWS, 2):
                yield (*others, here), (*others, there)


def test_a_draw_among_sets_is_private_for_one_changed_block_on_every_small_pair() -> None:
    worst = max(
        largest_log_ratio(bounded_set_law(here, at_most, EPSILON), bounded_set_law(there, at_most, EPSILON))
        for here, there in hard_pairs()
        for at_most in (1, 2)
    )
    assert 0.5 < worst <= float(EPSILON) + 1e-12


def test_the_twin_without_the_factor_two_is_refuted() -> None:
    worst = max(
        largest_log_ratio(broken_set_law(here, 2, EPSILON), broken_set_law(there, 2, EPSILON)) for here, there in hard_pairs()
    )
    assert worst > float(EPSILON) * 1.05


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 5])
def test_steps_are_the_blocks_that_must_change(blocks: int) -> None:
    for count in range(blocks + 1):
        marks = [[1]] * count + [[0]] * (blocks - count)
        against = () if 2 * count > blocks else (0,)
        assert steps_against(count, blocks) == steps_by_trying(marks, against)


@pytest.mark.parametrize(("counts", "at_most"), [((4, 0, 2), 2), ((4, 4, 4), 1), ((0, 0, 0), 3), ((3, 2, 1), 2), ((5, 5, 0), 0)])
def test_levels_hold_the_sets_of_at_most_so_many_steps(counts: tuple[int, ...], at_most: int) -> None:
    marks = [[int(block < count) for count in counts] for block in range(5)]
    sets = [chosen for size in range(at_most + 1) for chosen in itertools.combinations(range(3), size)]
    for steps, level in enumerate(raw_levels(counts, 5, at_most)):
        assert level.raw_sets == sum(steps_by_trying(marks, chosen) <= steps for chosen in sets)


@pytest.mark.parametrize("at_most", [1, 2])
def test_sets_are_drawn_with_the_chances_of_their_law(at_most: int) -> None:
    marks = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 0]])
    law = bounded_set_law(marks.tolist(), at_most, EPSILON)
    rng, draws = seeded(5), 2500
    drawn: Counter[Hashable] = Counter(draw_bounded_set(marks > 0, at_most, EPSILON, rng) for _ in range(draws))
    assert set(drawn) <= set(law)
    for other, rejected in ((1.0, False), (0.7, True), (1.4, True)):
        expected = bounded_set_law(marks.tolist(), at_most, EPSILON * Fraction(other))
        distance = math.fsum((drawn[each] - draws * float(p)) ** 2 / (draws * float(p)) for each, p in expected.items())
        limit = len(law) + 4 * math.sqrt(2 * len(law))
        assert (distance > limit) == rejected


def test_the_right_set_is_drawn_where_every_majority_is_worth_the_steps_needed() -> None:
    steps = math.ceil(steps_needed(30, 4, Fraction(1), 0.95))
    blocks = 2 * steps + 2
    marks = np.zeros((blocks, 30), dtype=bool)
    marks[:, :3] = True
    rng = seeded(2)
    assert sum(draw_bounded_set(marks, 4, Fraction(1), rng) == (0, 1, 2) for _ in range(60)) >= 54
