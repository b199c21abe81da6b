"""Largest flows are proved by their cuts: whatever scipy proposes, the number of edges under a limit is the right one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

from dpstats.statistics.graphs import flows
from dpstats.statistics.graphs.flows import Arcs, doubled_edges, is_largest, largest_by_search
from tests.small_graphs import Edges, all_graphs, as_graph, without_node
from tests.twins.graphs import largest_on_trust

SIZE = 5
FEW = [edges for edges in list(all_graphs(SIZE))[::7] if edges]
LIMITS_TRIED = (1, 2, 3)


@functools.cache
def right(edges: Edges, size: int, limit: int) -> int:
    """The largest number of arcs within the limit, arc by arc from the definition."""
    pairs = [*sorted(edges), *((high, low) for low, high in sorted(edges))]
    counts = {((0,) * size, (0,) * size): 0}
    for tail, head in pairs:
        for (left, entered), count in list(counts.items()):
            if left[tail] < limit and entered[head] < limit:
                more = tuple(each + (node == tail) for node, each in enumerate(left))
                into = tuple(each + (node == head) for node, each in enumerate(entered))
                counts[more, into] = max(counts.get((more, into), 0), count + 1)
    return max(counts.values())


def arcs_of(edges: Edges, size: int) -> Arcs:
    graph = as_graph(edges, size)
    return Arcs(size, np.concatenate([graph.raw_low, graph.raw_high]), np.concatenate([graph.raw_high, graph.raw_low]))


def one_unit_less(network: Any, source: int, sink: int) -> Any:
    found = csgraph.maximum_flow(network, source, sink)
    flow = found.flow.toarray()
    inner = np.argwhere(flow[:source, :source] > 0)
    if len(inner):
        first, second = inner[0]
        for tail, head in ((source, first), (first, second), (second, sink)):
            flow[tail, head] -= 1
            flow[head, tail] += 1
    return SimpleNamespace(flow=csr_array(flow), flow_value=found.flow_value - bool(len(inner)))


def all_arcs(network: Any, source: int, sink: int) -> Any:
    return SimpleNamespace(flow=network, flow_value=network.sum() - network[[source]].sum() - network[:, [sink]].sum())


def no_answer(network: Any, source: int, sink: int) -> Any:
    raise ValueError("too large a graph")


def reaches_everything(network: Any, source: int, **given: Any) -> Any:
    return np.arange(network.shape[0])


WRONG = {
    "a smaller flow": {"maximum_flow": one_unit_less},
    "more than limits allow": {"maximum_flow": all_arcs},
    "an error": {"maximum_flow": no_answer},
    "a wrong cut": {"breadth_first_order": reaches_everything},
}


def stand_in(**wrong: Callable[..., Any]) -> SimpleNamespace:
    both = {"maximum_flow": csgraph.maximum_flow, "breadth_first_order": csgraph.breadth_first_order}
    return SimpleNamespace(**{**both, **wrong})


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_flow_of_scipy_changes_no_answer(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "csgraph", stand_in(**WRONG[mistake]))
    for edges in FEW:
        for limit in LIMITS_TRIED:
            assert doubled_edges(as_graph(edges, SIZE), limit) == right(edges, SIZE, limit)


def test_scipys_own_flows_prove_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flows, "largest_by_search", lambda *given: pytest.fail("the flow was not proved"))
    for edges in FEW:
        for limit in LIMITS_TRIED:
            assert doubled_edges(as_graph(edges, SIZE), limit) == right(edges, SIZE, limit)


def test_a_flow_on_trust_is_refuted_by_one_node(monkeypatch: pytest.MonkeyPatch) -> None:
    star = frozenset((0, leaf) for leaf in range(1, SIZE))

    def wrong_on_large_graphs(network: Any, source: int, sink: int) -> Any:
        return (one_unit_less if source == 2 * SIZE else csgraph.maximum_flow)(network, source, sink)

    monkeypatch.setattr(flows, "csgraph", stand_in(maximum_flow=wrong_on_large_graphs))
    larger, smaller = as_graph(star, SIZE), as_graph(without_node(star, 1), SIZE - 1)
    assert largest_on_trust(larger, 1) < largest_on_trust(smaller, 1)  # one node more, and the extension falls
    assert doubled_edges(larger, 1) == doubled_edges(smaller, 1) == 2


def test_the_own_search_finds_the_largest_flow() -> None:
    for edges in FEW:
        for limit in LIMITS_TRIED:
            assert largest_by_search(arcs_of(edges, SIZE), limit) == right(edges, SIZE, limit)


def test_the_own_search_agrees_with_proved_flows_on_larger_graphs() -> None:
    chance = np.random.default_rng(3)
    for size in (30, 60):
        pairs = np.sort(chance.integers(0, size, (4 * size, 2)) ** 2 // size, axis=1)
        edges = frozenset((int(low), int(high)) for low, high in pairs if low < high)
        for limit in (1, 2, 5):
            assert largest_by_search(arcs_of(edges, size), limit) == doubled_edges(as_graph(edges, size), limit)


def test_no_cut_proves_fewer_arcs_than_there_can_be() -> None:
    triangle = arcs_of(frozenset([(0, 1), (0, 2), (1, 2)]), 3)
    nodes = [np.array(mask) for mask in np.ndindex(2, 2, 2)]
    for taken in np.ndindex(*(2,) * 6):
        raw_taken = np.array(taken, dtype=np.bool_)
        proved = [is_largest(triangle, raw_taken, left.astype(bool), into.astype(bool), 1) for left in nodes for into in nodes]
        leaves = np.bincount(triangle.raw_tails[raw_taken], minlength=3).max()
        enters = np.bincount(triangle.raw_heads[raw_taken], minlength=3).max()
        assert any(proved) == (sum(taken) == 3 and leaves == enters == 1)
