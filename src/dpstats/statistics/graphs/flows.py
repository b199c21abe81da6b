"""The edges of a graph under a limit of degrees: a Lipschitz extension of the number of edges, in whole numbers.

Let x give every edge a part between 0 and 1 such that the parts at every node add up to at most `limit`. Twice the largest total
of such parts is the largest flow F through a network with two copies of each node: from the source to every first copy (at most
`limit`), from first copies to second copies along every edge in both directions (at most 1), from every second copy to the sink
(at most `limit`). So F is a whole number and is found without rounding (flows.proof.md).
"""

from __future__ import annotations

import numpy as np

from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.lazy_scipy import csgraph, sparse


def doubled_edges(graph: SimpleGraph, limit: int) -> int:
    """F: twice the largest total of parts of edges with at most `limit` at each node; twice the edges if no degree exceeds it."""
    degrees = graph.raw_degrees
    if int(degrees.max(initial=0)) <= limit:
        return 2 * graph.raw_edges
    size, edges = graph.size, graph.raw_edges
    source, sink = 2 * size, 2 * size + 1
    nodes = np.arange(size)
    tails = np.concatenate([graph.raw_low, graph.raw_high, np.full(size, source), nodes + size])
    heads = np.concatenate([graph.raw_high + size, graph.raw_low + size, nodes, np.full(size, sink)])
    room = np.minimum(degrees, limit)
    most = np.concatenate([np.ones(2 * edges, dtype=np.int64), room, room]).astype(np.int32)
    network = sparse.csr_array((most, (tails, heads)), shape=(sink + 1, sink + 1))
    return int(csgraph.maximum_flow(network, source, sink).flow_value)
