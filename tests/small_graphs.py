"""All simple graphs on a few nodes, their neighbours, and their statistics from the definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from dpstats.foundations.simple_graphs import SimpleGraph, simple_graph

Edges = frozenset[tuple[int, int]]


def all_pairs(size: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(size), 2))


def all_graphs(size: int) -> Iterator[Edges]:
    pairs = all_pairs(size)
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        yield frozenset(pair for pair, there in zip(pairs, chosen, strict=True) if there)


def as_graph(edges: Edges, size: int) -> SimpleGraph:
    ends = np.asarray(sorted(edges), dtype=np.int64).reshape(-1, 2)
    return simple_graph(size, ends[:, 0], ends[:, 1])


def toggled(edges: Edges, size: int) -> Iterator[Edges]:
    """All graphs that differ by one edge."""
    for pair in all_pairs(size):
        yield edges ^ {pair}


def without_node(edges: Edges, node: int) -> Edges:
    """The graph without a node, the others numbered anew in the same order."""
    return frozenset((low - (low > node), high - (high > node)) for low, high in edges if node not in (low, high))


def degrees(edges: Edges, size: int) -> list[int]:
    return [sum(node in pair for pair in edges) for node in range(size)]


def triangle_count(edges: Edges, size: int) -> int:
    return sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in itertools.combinations(range(size), 3))


def stars(edges: Edges, size: int, leaves: int) -> int:
    return sum(math.comb(degree, leaves) for degree in degrees(edges, size))
