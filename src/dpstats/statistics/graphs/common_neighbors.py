"""Common neighbours of pairs of nodes: triangles, and how much one edge can add to them.

For a pair, a is the number of common neighbours and b the number of nodes that are a neighbour of exactly one of the two. The
product of the adjacency matrix with itself has a of every pair with a > 0; it is computed in blocks of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.lazy_scipy import sparse

_BLOCK = 20_000_000
"""Products in one block of rows."""


@dataclass(frozen=True)
class CommonNeighbors:
    """The triangles of a graph, and the pairs that decide its rungs."""

    size: int
    raw_triangles: int
    raw_pairs: NDArray[np.int64]
    """Rows (a, b) of the pairs with a > 0 of which no other pair has both at least as large."""

    def raw_rungs(self, count: int) -> NDArray[np.int64]:
        """How many triangles one edge can add or remove after t other changes, at most, for t = 0 ... count - 1.

        A pair without a common neighbour counts as if b were unlimited: finding the largest b among them would take longer than
        all the rest, and it decides no rung below twice the largest a.
        """
        steps = np.arange(count, dtype=np.int64)
        rungs = steps.copy()
        for a, b in self.raw_pairs.tolist():
            np.maximum(rungs, a + (steps + np.minimum(steps, b)) // 2, out=rungs)
        return np.minimum(rungs, max(self.size - 2, 0))


def common_neighbors(graph: SimpleGraph) -> CommonNeighbors:
    """Triangles and deciding pairs of a graph."""
    degrees = graph.raw_degrees
    adjacency = _adjacency(graph)
    most = np.full(int(degrees.max(initial=0)) + 2, -1, dtype=np.int64)  # the largest b of each a
    corners = 0
    for start, stop in _blocks(adjacency, degrees):
        rows = adjacency[start:stop]
        # twice the number of common neighbours, and 1 more where the pair has an edge
        marks = (2 * (rows @ adjacency) + rows).tocoo()
        first, second, mark = marks.row + start, marks.col, marks.data.astype(np.int64)
        later = (second > first) & (mark > 1)
        first, second, mark = first[later], second[later], mark[later]
        a, joined = mark >> 1, mark & 1
        corners += int(a[joined == 1].sum())
        b = degrees[first] + degrees[second] - 2 * a - 2 * joined
        reached = np.maximum.accumulate(most[::-1])[::-1]
        ahead = b > reached[a]
        np.maximum.at(most, a[ahead], b[ahead])
    reached = np.maximum.accumulate(most[::-1])[::-1]
    deciding = np.flatnonzero(most > np.append(reached[1:], -1))
    return CommonNeighbors(graph.size, corners // 3, np.column_stack([deciding, most[deciding]]))


def _adjacency(graph: SimpleGraph) -> Any:
    ends = np.concatenate([graph.raw_low, graph.raw_high]), np.concatenate([graph.raw_high, graph.raw_low])
    return sparse.csr_array((np.ones(2 * graph.raw_edges, dtype=np.int32), ends), shape=(graph.size, graph.size))


def _blocks(adjacency: Any, degrees: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose products are about _BLOCK in number."""
    work = np.concatenate([[0], np.cumsum(adjacency @ degrees)])
    start, size = 0, len(degrees)
    while start < size:
        stop = max(start + 1, int(np.searchsorted(work, work[start] + _BLOCK, side="right")) - 1)
        yield start, min(stop, size)
        start = stop
