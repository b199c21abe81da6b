"""A graph projected to a limit of degrees: edges are added one by one, where neither end is full.

The order of edges goes by the labels of their ends alone (engines/graphs/labels.py), so that adding a node leaves the order of
all other edges as it is, whether the others keep their labels or are numbered anew in the same order.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.simple_graphs import SimpleGraph


def projected_degrees(graph: SimpleGraph, limit: int) -> NDArray[np.int64]:
    """The degrees of the projected graph. Between neighbours those of the common nodes differ by at most `limit` in all."""
    if int(graph.raw_degrees.max(initial=0)) <= limit:
        return graph.raw_degrees
    degrees = [0] * graph.size
    for low, high in zip(graph.raw_low.tolist(), graph.raw_high.tolist(), strict=True):
        if degrees[low] < limit and degrees[high] < limit:
            degrees[low] += 1
            degrees[high] += 1
    return np.asarray(degrees, dtype=np.int64)


def at_most_counts_below(raw_degrees: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The number of nodes with at most k edges, for k = 0 ... limit - 1."""
    return np.cumsum(np.bincount(np.minimum(raw_degrees, limit), minlength=limit + 1))[:limit]
