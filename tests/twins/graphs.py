"""Broken twins of statistics of graphs. Never use anything from here on data."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.graphs import flows
from dpstats.statistics.graphs.common_neighbors import CommonNeighbors


def rungs_by_largest_degree(graph: SimpleGraph, common: CommonNeighbors, count: int) -> NDArray[np.int64]:
    """Rungs in which b is twice the largest degree for every pair. Mistake: one edge moves that by 2, and b itself by 1."""
    steps = np.arange(count)
    most = 2 * int(graph.raw_degrees.max(initial=0))
    largest = int(common.raw_rungs(1)[0])
    return np.minimum(largest + (steps + np.minimum(steps, most)) // 2, max(graph.size - 2, 0))


def limit_by_largest_degree(graph: SimpleGraph) -> int:
    """The smallest power of two that no degree exceeds. Mistake: the noise tells the largest degree."""
    return 1 << max(0, int(graph.raw_degrees.max(initial=0)) - 1).bit_length()


def projection_by_degrees(graph: SimpleGraph, limit: int) -> NDArray[np.int64]:
    """Projected degrees where edges between nodes of low degree come first. Mistake: a node moves the order of others' edges."""
    own = graph.raw_degrees
    order = np.lexsort((graph.raw_high, graph.raw_low, own[graph.raw_low] + own[graph.raw_high]))
    degrees = [0] * graph.size
    for low, high in zip(graph.raw_low[order].tolist(), graph.raw_high[order].tolist(), strict=True):
        if degrees[low] < limit and degrees[high] < limit:
            degrees[low] += 1
            degrees[high] += 1
    return np.asarray(degrees)


def largest_on_trust(graph: SimpleGraph, limit: int) -> int:
    """The edges under a limit of degrees, twice. Mistake: takes scipy's flow without a proof that it is the largest."""
    both = np.concatenate([graph.raw_low, graph.raw_high]), np.concatenate([graph.raw_high, graph.raw_low])
    return int(np.count_nonzero(flows._proposed_flow(flows.Arcs(graph.size, *both), np.minimum(graph.raw_degrees, limit))))
