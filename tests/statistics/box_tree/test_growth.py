"""Growth of trees of boxes: its law is the definition's, private however deep the tree is; the twins' is not."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpstats.statistics.box_tree import growth
from dpstats.statistics.box_tree.growth import LOG_TWO, Boxes, GrowthNoise, grow
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget
from dpstats.testing import seeded
from tests.laws.box_trees import Tree, halving_chance, lowered_with_floor, tree_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.twins.box_trees import lowered_without_floor, plain_count

SCALE = Fraction(3, 2)
STEP = GrowthNoise.of_scale(SCALE).step
WORST = 8 / 3
TABLES = [(0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 5), (3, 0, 1, 0, 9, 9, 2, 1), (12, 0, 0, 0, 0, 0, 0, 0)]


def tree_of(boxes: Boxes) -> Tree:
    return frozenset(zip(boxes.depths.tolist(), boxes.paths.tolist(), strict=True))


def one_more(counts: tuple[int, ...], path: int) -> tuple[int, ...]:
    return tuple(count + (place == path) for place, count in enumerate(counts))


@pytest.mark.parametrize("counts", TABLES)
def test_every_tree_of_a_small_table_is_private(counts: tuple[int, ...]) -> None:
    lowered = lowered_with_floor(STEP)
    law = tree_law(counts, SCALE, lowered)
    assert sum(law.values()) == 1
    for path in (0, 5, 7):
        assert largest_log_ratio(law, tree_law(one_more(counts, path), SCALE, lowered)) <= WORST / SCALE + 1e-12


def path_losses(counts: list[int], scale: Fraction, lowered: object) -> tuple[float, float]:
    """The least and the largest log ratio of trees with and without one row, whose boxes hold so many rows besides it.

    Decisions elsewhere do not change, so that a tree is told by how far down its path it goes.
    """
    losses, halved = [], 0.0
    for depth, count in enumerate(counts):
        with_row, without = (halving_chance(lowered(count + more, depth), scale) for more in (1, 0))  # type: ignore[operator]
        losses.append(halved + math.log(1 - with_row) - math.log(1 - without))
        halved += math.log(with_row) - math.log(without)
    losses.append(halved)
    return min(losses), max(losses)


counts_down_a_path = st.lists(st.integers(0, 60), min_size=1, max_size=16).map(lambda counts: sorted(counts, reverse=True))


@given(counts_down_a_path, st.sampled_from([Fraction(1, 2), Fraction(3), Fraction(25, 3), Fraction(20)]))
def test_no_path_loses_more_than_it_may_up_and_one_scale_down(counts: list[int], scale: Fraction) -> None:
    low, high = path_losses(counts, scale, lowered_with_floor(GrowthNoise.of_scale(scale).step))
    assert -1 / scale - 1e-9 <= low
    assert high <= WORST / scale + 1e-9


def test_a_path_comes_near_the_bound() -> None:
    noise = GrowthNoise.of_scale(Fraction(20))
    low, high = path_losses([5 * noise.step] * 14, noise.scale, lowered_with_floor(noise.step))
    assert 2.5 / 20 < high <= WORST / 20
    assert low == pytest.approx(-1 / 20, rel=1e-6)


@pytest.mark.parametrize("twin", [lowered_without_floor, plain_count])
def test_the_twins_are_refuted_by_one_deep_path(twin: object) -> None:
    assert path_losses([0] * 12, SCALE, twin(STEP))[1] > 2 * WORST / SCALE  # type: ignore[operator]
    counts = (0,) * 16
    laws = [tree_law(each, SCALE, twin(STEP)) for each in (counts, one_more(counts, 0))]  # type: ignore[operator]
    assert largest_log_ratio(*laws) > WORST / SCALE


def brute_force(counts: list[int], anyway: int, noise: GrowthNoise, drawn: dict[tuple[int, int], int]) -> Tree:
    """The tree by the definition, box by box, with noise that is given for each box."""
    deepest, last = len(counts).bit_length() - 1, set()
    waiting = [(min(anyway, deepest), path) for path in range(1 << min(anyway, deepest))]
    while waiting:
        depth, path = waiting.pop()
        width = 1 << (deepest - depth)
        lowered = lowered_with_floor(noise.step)(sum(counts[path * width : (path + 1) * width]), depth - anyway)
        if depth < deepest and lowered + drawn[depth, path] > 0:
            waiting += [(depth + 1, 2 * path), (depth + 1, 2 * path + 1)]
        else:
            last.add((depth, path))
    return frozenset(last)


@given(st.lists(st.integers(0, 12), min_size=16, max_size=16), st.integers(0, 5), st.integers(0, 10**6))
def test_grow_is_the_definition_for_any_noise(counts: list[int], anyway: int, seed: int) -> None:
    noise, chance = GrowthNoise.of_scale(SCALE), np.random.default_rng(seed)
    drawn = {(depth, path): int(chance.integers(-6, 7)) for depth in range(5) for path in range(1 << depth)}
    visited: list[tuple[int, int]] = []

    def forced(scale: Fraction, size: int, rng: object) -> list[int]:
        assert scale == SCALE
        here = [box for box in sorted(expected_visits) if box not in visited][:size]
        visited.extend(here)
        return [drawn[box] for box in here]

    expected = brute_force(counts, anyway, noise, drawn)
    depths = range(min(anyway, 4), 4)
    expected_visits = {(depth, path) for depth in depths for path in range(1 << depth) if not _is_below(expected, depth, path)}
    with patch.object(growth, "sample_discrete_laplace", forced):
        boxes = grow(np.array(counts), anyway, noise, seeded(1))
    assert tree_of(boxes) == expected
    assert (np.diff(boxes.starts(4)) > 0).all()


def _is_below(tree: Tree, depth: int, path: int) -> bool:
    """Whether a box lies inside of a last one, so that it was never visited."""
    return any((depth - up, path >> up) in tree for up in range(1, depth + 1))


def test_grow_draws_from_the_law() -> None:
    counts, rng, draws = (4, 0, 1, 0), seeded(3), 3_000
    law = tree_law(counts, SCALE, lowered_with_floor(STEP))
    seen = Counter(tree_of(grow(np.array(counts), 0, GrowthNoise(SCALE, STEP), rng)) for _ in range(draws))
    assert set(seen) <= set(law)
    for tree, chance in law.items():
        assert seen[tree] == pytest.approx(draws * float(chance), abs=4.5 * math.sqrt(draws * float(chance)) + 1)


def test_a_budget_buys_the_scale_of_its_kind() -> None:
    assert Fraction(math.log(2)) < LOG_TWO
    pure = PureTableBudget(Fraction(1), seeded(1))
    assert GrowthNoise.bought(pure, Fraction(1, 2)) == GrowthNoise(Fraction(16, 3), 4)
    assert pure.left == Fraction(1, 2)
    concentrated = ConcentratedTableBudget(Fraction(1, 8), seeded(1))
    noise = GrowthNoise.bought(concentrated, Fraction(1))
    assert noise.scale == pytest.approx(11 / 3)
    assert noise.scale >= Fraction(11, 3)


def test_all_trees_hold_all_paths_once() -> None:
    for seed, rows in itertools.product(range(5), (0, 50, 5_000)):
        counts = np.random.default_rng(seed).multinomial(rows, np.full(64, 1 / 64))
        boxes = grow(counts, 2, GrowthNoise(SCALE, STEP), seeded(seed))
        ends = boxes.starts(6) + (1 << (6 - boxes.depths))
        assert boxes.starts(6)[0] == 0
        assert ends[-1] == 64
        assert (boxes.starts(6)[1:] == ends[:-1]).all()
