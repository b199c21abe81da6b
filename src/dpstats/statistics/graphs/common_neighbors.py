"""Common neighbours of pairs of nodes: triangles, and how much one edge can add to them.

For a pair, a is the number of common neighbours and b the number of nodes that are a neighbour of exactly one of the two. Nodes
are taken by falling degrees, and products of sparse matrices are made in blocks of rows: of the adjacency matrix with itself for
a, and of its lower half with itself for triangles. A multiple of the identity is added to the second factor, so that one product
also tells which pairs have an edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.lazy_scipy import sparse

_BLOCK = 4_000_000
"""Products in one block of rows, at most, or those of a single row."""
_JOINED = 1 << 30
"""Added to a pair's common neighbours if it has an edge; no graph that fits has so many nodes in common."""


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
    order = np.argsort(-graph.raw_degrees, kind="stable")
    place = np.empty(graph.size, dtype=np.int64)
    place[order] = np.arange(graph.size)
    first, second = place[graph.raw_low], place[graph.raw_high]
    lower = _matrix(np.maximum(first, second), np.minimum(first, second), graph.size)
    return CommonNeighbors(graph.size, _triangles(lower), _deciding_pairs(lower + lower.T, graph.raw_degrees[order]))


def _triangles(lower: Any) -> int:
    """The triangles of a graph whose edges go from later nodes to earlier ones, which have higher degrees."""
    size, corners = lower.shape[0], 0
    with_edges = lower + _JOINED * sparse.eye_array(size, dtype=np.int32, format="csr")
    for start, stop in _blocks(lower, np.diff(lower.indptr)):
        found = (lower[start:stop] @ with_edges).data
        joined = found[found >= _JOINED]
        corners += int(joined.sum(dtype=np.int64)) - _JOINED * len(joined)
    return corners


def _deciding_pairs(adjacency: Any, degrees: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs (a, b), a > 0, that no other pair exceeds in both.

    From a block on, no pair has a degree above that of its first node, d, so that b <= 2 d - 2 a: pairs whose a is so small that
    others have reached as much are passed over, and once no a is left, all further blocks are.
    """
    size, largest = len(degrees), int(degrees.max(initial=0))
    most = np.full(largest + 2, -1, dtype=np.int64)  # the largest b of each a
    with_edges = adjacency + _JOINED * sparse.eye_array(size, dtype=np.int32, format="csr")
    right, passed = with_edges, 0
    for start, stop in _blocks(adjacency, degrees):
        if start > passed + size // 16:  # pairs of earlier nodes have been looked at
            right, passed = right[:, start - passed :], start
        degree = int(degrees[start])
        candidates = np.arange(1, degree + 1)
        reached = np.maximum.accumulate(most[::-1])[::-1]
        open_ones = candidates[reached[1 : degree + 1] < 2 * degree - 2 * candidates]
        if not len(open_ones):
            break
        products = adjacency[start:stop] @ right
        kept = np.flatnonzero(products.data >= open_ones[0])
        first = np.searchsorted(products.indptr, kept, side="right") - 1 + start
        second, found = products.indices[kept].astype(np.int64) + passed, products.data[kept].astype(np.int64)
        joined = found >= _JOINED
        a = found - _JOINED * joined
        later = (second > first) & (a >= open_ones[0])
        first, second, a, joined = first[later], second[later], a[later], joined[later]
        b = degrees[first] + degrees[second] - 2 * a - 2 * joined
        ahead = b > reached[a]
        np.maximum.at(most, a[ahead], b[ahead])
    reached = np.maximum.accumulate(most[::-1])[::-1]
    deciding = np.flatnonzero(most > np.append(reached[1:], -1))
    return np.column_stack([deciding, most[deciding]])


def _matrix(rows: NDArray[np.int64], columns: NDArray[np.int64], size: int) -> Any:
    return sparse.csr_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=(size, size))


def _blocks(left: Any, lengths: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose products with rows of such lengths are about _BLOCK in number."""
    work = np.concatenate([[0], np.cumsum(left @ np.asarray(lengths, dtype=np.int64))])
    start, size = 0, left.shape[0]
    while start < size:
        stop = max(start + 1, int(np.searchsorted(work, work[start] + _BLOCK, side="right")) - 1)
        yield start, min(stop, size)
        start = stop
