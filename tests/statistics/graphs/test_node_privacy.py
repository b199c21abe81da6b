"""Statistics of graphs for the privacy of a node: Lipschitz constants on all small graphs, and twins that have none."""

from __future__ import annotations

import functools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from dpstats.foundations.privacy import GraphNeighbors, PrivacyCost
from dpstats.foundations.randomness import seeded
from dpstats.foundations.registry import Answer
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.graphs.edge_counts import EDGE_COUNT
from dpstats.statistics.graphs.edge_degrees import DEGREE_DISTRIBUTION
from dpstats.statistics.graphs.flows import doubled_edges
from dpstats.statistics.graphs.limits import LIMITS, choose_limit, raw_gain
from dpstats.statistics.graphs.node_degrees import block_edges, fitted_counts
from dpstats.statistics.graphs.projections import at_most_counts_below, projected_degrees
from dpstats.statistics.graphs.questions import GraphQuestion, ask_graph
from tests.laws.mechanisms import discrete_laplace_law
from tests.privacy_loss.exact import largest_log_ratio
from tests.small_graphs import Edges, all_graphs, as_graph, without_node
from tests.twins.graphs import limit_by_largest_degree, projection_by_degrees

SIZE = 5
LIMITS_TRIED = (1, 2, 3)
GRAPHS = list(all_graphs(SIZE))
FEW = GRAPHS[::3]


def question(statistic: object, epsilon: object = 1, **more: object) -> GraphQuestion:
    return ask_graph(statistic, protect="node", epsilon=epsilon, interval=0.95, unit=None, arguments={}, **more)  # type: ignore[arg-type]


@functools.cache
def flow(edges: Edges, size: int, limit: int) -> int:
    return doubled_edges(as_graph(edges, size), limit)


def test_one_node_moves_the_extension_by_at_most_twice_the_limit_and_never_down() -> None:
    for edges in FEW:
        for limit in LIMITS_TRIED:
            moved = {flow(edges, SIZE, limit) - flow(without_node(edges, node), SIZE - 1, limit) for node in range(SIZE)}
            assert min(moved) >= 0
            assert max(moved) <= 2 * limit


def test_the_bound_of_the_extension_is_reached() -> None:
    star = frozenset((0, leaf) for leaf in range(1, SIZE))
    assert flow(star, SIZE, 3) - flow(without_node(star, 0), SIZE - 1, 3) == 6


def test_the_extension_is_the_number_of_edges_where_no_degree_exceeds_the_limit() -> None:
    for edges in FEW:
        graph = as_graph(edges, SIZE)
        for limit in LIMITS_TRIED:
            if graph.raw_degrees.max() <= limit:
                assert flow(edges, SIZE, limit) == 2 * len(edges)
            assert flow(edges, SIZE, limit) <= min(2 * len(edges), int(np.minimum(graph.raw_degrees, limit).sum()))


def test_the_flow_is_the_linear_program() -> None:
    for edges in [each for each in GRAPHS[::97] if each]:
        listed = sorted(edges)
        incidence = np.array([[node in pair for pair in listed] for node in range(SIZE)], dtype=float)
        for limit in LIMITS_TRIED:
            best = -linprog(-np.ones(len(listed)), A_ub=incidence, b_ub=np.full(SIZE, limit), bounds=(0, 1)).fun
            assert flow(edges, SIZE, limit) == pytest.approx(2 * best, abs=1e-6)


def test_one_node_moves_every_gain_by_at_most_1() -> None:
    def gains(edges: Edges, size: int) -> list[Fraction]:
        return [raw_gain(lambda limit: flow(edges, size, limit), limit) for limit in (1, 2)]

    for edges in FEW:
        for node in range(SIZE):
            pairs = zip(gains(edges, SIZE), gains(without_node(edges, node), SIZE - 1), strict=True)
            assert all(abs(one - other) <= 1 for one, other in pairs)


def counts(edges: Edges, size: int, limit: int, project: object = projected_degrees) -> np.ndarray:
    return at_most_counts_below(project(as_graph(edges, size), limit), limit)  # type: ignore[operator]


def moved_counts(edges: Edges, limit: int, project: object = projected_degrees) -> int:
    before = counts(edges, SIZE, limit, project)
    return max(int(np.abs(before - counts(without_node(edges, node), SIZE - 1, limit, project)).sum()) for node in range(SIZE))


def test_one_node_moves_all_cumulative_counts_of_a_projection_by_at_most_the_limit() -> None:
    for limit in LIMITS_TRIED:
        assert max(moved_counts(edges, limit) for edges in GRAPHS[::2]) == limit


def test_an_order_that_goes_by_degrees_is_refuted() -> None:
    paths = 4  # of nodes a - b - c - d, whose middle edge comes first only where all degrees are alike
    edges = {(4 * path + low, 4 * path + high) for path in range(paths) for low, high in ((0, 1), (0, 2), (1, 3))}
    hub = {(4 * path + end, 4 * paths) for path in range(paths) for end in (2, 3)}

    def moved(project: object) -> int:
        before, after = counts(frozenset(edges), 4 * paths, 1, project), counts(frozenset(edges | hub), 4 * paths + 1, 1, project)
        return int(np.abs(after - before).sum())

    assert moved(projection_by_degrees) > 4
    assert moved(projected_degrees) <= 1


@st.composite
def graphs_with_one_node_more(draw: st.DrawFn) -> tuple[SimpleGraph, SimpleGraph, int]:
    size = draw(st.integers(6, 12))
    pairs = [(low, high) for high in range(size) for low in range(high)]
    edges = frozenset(draw(st.sets(st.sampled_from(pairs), max_size=40)))
    node = draw(st.integers(0, size - 1))
    return as_graph(edges, size), as_graph(without_node(edges, node), size - 1), node


@given(graphs_with_one_node_more(), st.integers(1, 4))
def test_degrees_of_others_move_by_at_most_those_of_the_new_node(pair: tuple[SimpleGraph, SimpleGraph, int], limit: int) -> None:
    larger, smaller, node = pair
    with_node = projected_degrees(larger, limit)
    assert np.abs(np.delete(with_node, node) - projected_degrees(smaller, limit)).sum() <= with_node[node]
    assert 0 <= doubled_edges(larger, limit) - doubled_edges(smaller, limit) <= 2 * limit


def test_a_limit_that_is_read_off_the_degrees_is_refuted_and_a_chosen_one_is_not() -> None:
    path, hub = (
        as_graph(frozenset([(0, 1)]), 4),
        as_graph(frozenset([(0, 1), (0, 2), (0, 3)]), 4),
    )  # after node 0 has left: no edges
    empty = as_graph(frozenset(), 3)
    epsilon = Fraction(1)

    def law(graph: SimpleGraph, limit: int) -> dict[object, Fraction]:
        return discrete_laplace_law(doubled_edges(graph, limit), 2 * limit / epsilon, -30, 30)  # type: ignore[return-value]

    twins = [law(graph, limit_by_largest_degree(graph)) for graph in (hub, empty)]
    assert largest_log_ratio(*twins) > 5 * float(epsilon)
    for limit in (1, 2, 4):
        assert largest_log_ratio(law(hub, limit), law(empty, limit)) <= float(epsilon) + 1e-9
        assert largest_log_ratio(law(path, limit), law(empty, limit)) <= float(epsilon) + 1e-9


def test_the_choice_goes_on_while_much_is_gained_and_stops_then() -> None:
    rng = seeded(2)
    chosen = [choose_limit(lambda limit: 10**6 * min(limit, 64), Fraction(1, 2), rng) for _ in range(40)]
    assert min(chosen) >= 64
    assert sorted(chosen)[20] <= 256
    assert set(chosen) <= set(LIMITS)


def random_graph(size: int, edges: int) -> SimpleGraph:
    ends = np.random.default_rng(4).integers(0, size, (edges, 2))
    return as_graph(frozenset((min(a, b), max(a, b)) for a, b in ends.tolist() if a != b), size)


def test_edges_come_with_a_lower_end_that_holds() -> None:
    graph, rng = random_graph(400, 6000), seeded(7)
    asked = question(EDGE_COUNT)
    answers = [asked.method.run(graph, asked, rng) for _ in range(12)]
    assert all(isinstance(each, Answer) for each in answers)
    lows = [each.interval.low for each in answers if isinstance(each, Answer) and each.interval]
    assert sum(low <= graph.raw_edges for low in lows) >= 11
    assert asked.cost == PrivacyCost(1, 0, GraphNeighbors.NODE, "node")


def test_degrees_are_near_those_of_a_large_sparse_graph() -> None:
    graph = random_graph(3000, 9000)
    asked = question(DEGREE_DISTRIBUTION, 4)
    answer = asked.method.run(graph, asked, seeded(1))
    assert isinstance(answer, Answer)
    truth = np.cumsum(np.bincount(graph.raw_degrees)) / graph.size
    released = [answer.value(degree) for degree in range(len(truth))]  # type: ignore[operator]
    assert np.abs(np.array(released) - truth).max() < 0.06


def test_a_graph_without_nodes_gets_no_reply() -> None:
    asked = question(DEGREE_DISTRIBUTION)
    reply = asked.method.run(as_graph(frozenset(), 0), asked, seeded(1))
    assert not isinstance(reply, Answer)


def test_blocks_cover_all_degrees_below_the_limit() -> None:
    for limit in (1, 2, 7, 64, 1000):
        for narrow in (1, 3, 2000):
            edges = block_edges(limit, narrow)
            assert edges[0] == 0
            assert edges[-1] == limit
            assert np.all(np.diff(edges) > 0)
    exact = np.minimum(np.arange(64) * 3, 150)
    edges = block_edges(64, 1)
    assert np.abs(fitted_counts(np.add.reduceat(exact, edges[:-1]), edges, 150)[:64] - exact).max() <= 9
