"""Statistics of graphs for the privacy of an edge: exact on all small graphs."""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from dpstats.foundations.randomness import seeded
from dpstats.mechanisms.ladder_functions import ladder_rate
from dpstats.statistics.graphs.common_neighbors import CommonNeighbors, common_neighbors
from dpstats.statistics.graphs.edge_degrees import at_most_counts
from dpstats.statistics.graphs.open_degrees import deciding_pairs, star_rungs
from dpstats.statistics.graphs.stars import draw_stars, star_count
from dpstats.statistics.graphs.triangles import draw_triangles
from tests.laws.ladders import ladder_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.small_graphs import Edges, all_graphs, as_graph, stars, toggled, triangle_count
from tests.twins.graphs import rungs_by_largest_degree

SIZE, RUNGS = 5, 8
GRAPHS = list(all_graphs(SIZE))


@functools.cache
def common_of(edges: Edges, size: int = SIZE) -> CommonNeighbors:
    return common_neighbors(as_graph(edges, size))


@functools.cache
def star_rungs_of(edges: Edges, leaves: int, floor: int = 0) -> tuple[int, ...]:
    return tuple(star_rungs(deciding_pairs(as_graph(edges, SIZE)), leaves, SIZE, floor, RUNGS))


def test_triangles_and_stars_are_counted_right() -> None:
    for edges in GRAPHS[::7]:
        assert common_of(edges).raw_triangles == triangle_count(edges, SIZE)
        assert [star_count(as_graph(edges, SIZE), k) for k in (2, 3)] == [stars(edges, SIZE, k) for k in (2, 3)]


@pytest.mark.parametrize("block", [60, 4_000_000])
def test_products_of_blocks_count_triangles_and_rungs_of_larger_graphs(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpstats.statistics.graphs.common_neighbors._BLOCK", block)
    size, chance = 40, np.random.default_rng(6)
    for most in (90, 300):
        ends = np.sort(chance.integers(0, size, (most, 2)) ** 2 // size, axis=1)
        edges = frozenset((int(low), int(high)) for low, high in ends if low < high)
        joined = np.zeros((size, size), dtype=np.int64)
        for low, high in edges:
            joined[low, high] = joined[high, low] = 1
        a = joined @ joined
        b = joined.sum(axis=0) + joined.sum(axis=1)[:, None] - 2 * a - 2 * joined
        shared = np.triu(a > 0, 1)
        steps = np.arange(RUNGS)
        rungs = (a[shared][:, None] + (steps + np.minimum(steps, b[shared][:, None])) // 2).max(axis=0)
        common = common_neighbors(as_graph(edges, size))
        assert common.raw_triangles == np.trace(a @ joined) // 6
        assert common.raw_rungs(RUNGS).tolist() == np.minimum(np.maximum(rungs, steps), size - 2).tolist()


def test_rung_0_is_the_local_sensitivity_of_triangles() -> None:
    for edges in GRAPHS:
        moved = max(abs(triangle_count(edges, SIZE) - triangle_count(other, SIZE)) for other in toggled(edges, SIZE))
        assert int(common_of(edges).raw_rungs(1)[0]) == moved


def test_rungs_of_triangles_are_a_ladder() -> None:
    for edges in GRAPHS:
        rungs = common_of(edges).raw_rungs(RUNGS)
        assert np.all(np.diff(rungs) >= 0)
        assert np.all(np.diff(rungs) <= 1)
        for other in toggled(edges, SIZE):
            assert np.all(common_of(other).raw_rungs(RUNGS - 1) <= rungs[1:])


def test_twice_the_largest_degree_is_no_ladder() -> None:
    size = 12
    before, after = (as_graph(frozenset(edges), size) for edges in ([(0, 1)], [(0, 1), (0, 2)]))
    rungs = rungs_by_largest_degree(before, common_neighbors(before), 20)
    assert np.any(rungs_by_largest_degree(after, common_neighbors(after), 19) > rungs[1:])


def test_the_exact_law_refutes_twice_the_largest_degree_and_not_the_rungs() -> None:
    size, rate, window = 150, 0.5, 3000
    graphs = [as_graph(frozenset(edges), size) for edges in ([(0, 1)], [(0, 1), (0, 2)])]
    twins, ours = [], []
    for graph in graphs:
        common = common_neighbors(graph)
        twins.append([max(1, int(each)) for each in rungs_by_largest_degree(graph, common, 250)])
        ours.append([max(1, int(each)) for each in common.raw_rungs(250)])
    losses = [largest_log_ratio(*(ladder_law(0, each, rate, 0, window) for each in pair)) for pair in (twins, ours)]
    assert losses[0] > 2 * rate + 0.2
    assert losses[1] <= 2 * rate + 1e-9


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(3)])
def test_triangles_have_no_greater_loss_than_epsilon(epsilon: Fraction) -> None:
    for floor in {math.ceil(3 / epsilon), math.ceil(3 / epsilon) + 1}:
        rate = float(ladder_rate(epsilon, Fraction(1, floor)))

        @functools.cache
        def law(triangles: int, rungs: tuple[int, ...], floor: int = floor, rate: float = rate) -> dict[int, float]:
            widths = [max(floor, each) for each in rungs]
            return ladder_law(triangles, [*widths, *[widths[-1]] * 150], rate, -15, 25)

        @functools.cache
        def key(edges: Edges) -> tuple[int, tuple[int, ...]]:
            return common_of(edges).raw_triangles, tuple(common_of(edges).raw_rungs(RUNGS).tolist())

        pairs = {(key(edges), key(other)) for edges in GRAPHS for other in toggled(edges, SIZE)}
        assert max(largest_log_ratio(law(*one), law(*other)) for one, other in pairs) <= float(epsilon) + 1e-9


@pytest.mark.parametrize("leaves", [2, 3])
def test_rungs_of_stars_are_a_ladder_that_begins_at_the_local_sensitivity(leaves: int) -> None:
    for edges in GRAPHS:
        rungs = star_rungs_of(edges, leaves)
        assert rungs[0] == max(abs(stars(edges, SIZE, leaves) - stars(other, SIZE, leaves)) for other in toggled(edges, SIZE))
        for other in toggled(edges, SIZE):
            assert all(below <= above for below, above in zip(star_rungs_of(other, leaves), rungs[1:], strict=False))


def test_rungs_of_stars_grow_as_slowly_as_their_floor_says() -> None:
    floor, leaves = 6, 3
    growth = Fraction(leaves - 1, floor - leaves + 2)
    for edges in GRAPHS[::3]:
        rungs = star_rungs_of(edges, leaves, floor)
        assert all(above <= (1 + growth) * below for below, above in itertools.pairwise(rungs))
        for other in toggled(edges, SIZE):
            pairs = zip(star_rungs_of(other, leaves, floor), rungs, strict=True)
            assert all(theirs <= (1 + growth) * own for theirs, own in pairs)


def test_one_edge_moves_all_cumulative_counts_by_2_and_the_largest_degree_by_1() -> None:
    for edges in GRAPHS[::5]:
        counts, largest = at_most_counts(as_graph(edges, SIZE)), as_graph(edges, SIZE).raw_degrees.max()
        for other in toggled(edges, SIZE):
            graph = as_graph(other, SIZE)
            assert np.abs(at_most_counts(graph) - counts).sum() == 2
            assert abs(int(graph.raw_degrees.max()) - int(largest)) <= 1


def test_intervals_of_ladders_hold() -> None:
    ring = as_graph(frozenset((min(a, b % 40), max(a, b % 40)) for a in range(40) for b in range(a + 1, a + 5)), 40)
    common, rng = common_neighbors(ring), seeded(5)
    for epsilon in (Fraction(1, 2), Fraction(2)):
        three = [draw_triangles(common, epsilon, 0.05, rng) for _ in range(60)]
        assert sum(abs(each.noisy_value - common.raw_triangles) <= each.reach for each in three) >= 54
        two = [draw_stars(ring, 2, epsilon, 0.05, rng) for _ in range(60)]
        assert sum(abs(each.noisy_value - star_count(ring, 2)) <= each.reach for each in two) >= 54
