"""Open degrees of pairs of nodes: their degrees without an edge between the two, which decide how many stars one edge is in."""

from __future__ import annotations

import math

import numpy as np

from dpstats.foundations.simple_graphs import SimpleGraph


def deciding_pairs(graph: SimpleGraph) -> list[tuple[int, int]]:
    """The open degrees (p, q), p >= q, of pairs such that those of every other pair are both at most those of one of these.

    With d_1 >= d_2 the two largest degrees, a pair with an edge has open degrees of at most (d_1 - 1, d_2 - 1). The pair of two
    largest nodes has these, if it has an edge, and otherwise (d_1, d_2), which nothing exceeds. Pairs without an edge that are
    not below the former have a node of degree d_1, or two of degree d_2.
    """
    if graph.size < 2:
        return [(0, 0)]
    degrees = graph.raw_degrees
    order = np.argsort(-degrees, kind="stable")
    largest, second = int(degrees[order[0]]), int(degrees[order[1]])
    if graph.raw_edges == 0:
        return [(0, 0)]
    found = {(largest - 1, second - 1)} if second else set()
    neighbours = _neighbours(graph, np.flatnonzero(degrees >= second))
    for node, joined in neighbours.items():
        degree = int(degrees[node])
        for other in order.tolist():  # at most one more than the node has neighbours
            if other != node and other not in joined:
                pair = max(degree, int(degrees[other])), min(degree, int(degrees[other]))
                if pair == (largest, second):
                    return [pair]
                found.add(pair)
                break
    return sorted(found) or [(0, 0)]


def _neighbours(graph: SimpleGraph, raw_nodes: np.typing.NDArray[np.int64]) -> dict[int, set[int]]:
    """The neighbours of some nodes."""
    chosen = np.zeros(graph.size, dtype=bool)
    chosen[raw_nodes] = True
    found: dict[int, set[int]] = {int(node): set() for node in raw_nodes}
    for ends, others in ((graph.raw_low, graph.raw_high), (graph.raw_high, graph.raw_low)):
        kept = chosen[ends]
        for end, other in zip(ends[kept].tolist(), others[kept].tolist(), strict=True):
            found[end].add(other)
    return found


def star_rungs(pairs: list[tuple[int, int]], leaves: int, size: int, floor: int, count: int) -> list[int]:
    """In how many stars of so many `leaves` one edge can be after t other changes, at most, for t = 0 ... count - 1.

    The larger open degree of a pair counts as `floor` at least. Each change adds 1 to one of the two, at most; the sum of
    binomials is largest if the larger one gets all it can take.
    """
    most = max(size - 2, floor)
    rungs = [0] * count
    for larger, smaller in pairs:
        p, q = max(larger, floor), smaller
        for step in range(count):
            up = min(p + step, most)
            other = min(q + step - (up - p), most)
            rungs[step] = max(rungs[step], math.comb(up, leaves - 1) + math.comb(other, leaves - 1))
    return rungs
