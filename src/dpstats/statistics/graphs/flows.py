"""The edges of a graph under a limit of degrees: a Lipschitz extension of the number of edges, in whole numbers.

Let x give every edge a part between 0 and 1 such that the parts at every node add up to at most `limit`. Twice the largest total
of such parts is F: the largest number of arcs, two for each edge and one in each direction, of which at most `limit` leave each
node and at most `limit` enter it. Such arcs are a flow through a network with two copies of each node. scipy proposes the largest
flow and a cut; both are checked in whole numbers, and where they do not prove each other an own search finds F
(flows.proof.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.statistics.lazy_scipy import csgraph, sparse

Mask = NDArray[np.bool_]


def doubled_edges(graph: SimpleGraph, limit: int) -> int:
    """F: twice the largest total of parts of edges with at most `limit` at each node; twice the edges if no degree exceeds it."""
    if int(graph.raw_degrees.max(initial=0)) <= limit:
        return 2 * graph.raw_edges
    arcs = Arcs(
        graph.size,
        np.concatenate([graph.raw_low, graph.raw_high]),
        np.concatenate([graph.raw_high, graph.raw_low]),
    )
    proved = _proved(arcs, np.minimum(graph.raw_degrees, limit), limit)
    return largest_by_search(arcs, limit) if proved is None else proved


class Arcs(NamedTuple):
    """The edges of a graph, each in both directions."""

    size: int
    """How many nodes there are."""
    raw_tails: NDArray[np.int64]
    raw_heads: NDArray[np.int64]


def _proved(arcs: Arcs, raw_room: NDArray[np.int64], limit: int) -> int | None:
    """How many arcs scipy's flow takes, where a cut proves that no more can be taken; None where it does not, or scipy fails."""
    try:
        raw_taken = _proposed_flow(arcs, raw_room)
        proved = is_largest(arcs, raw_taken, *_proposed_cut(arcs, raw_taken, limit), limit)
    except Exception:  # such as too many arcs for numbers of 32 bits: the own search does without scipy
        return None
    return int(np.count_nonzero(raw_taken)) if proved else None


def is_largest(arcs: Arcs, raw_taken: Mask, raw_left: Mask, raw_entered: Mask, limit: int) -> bool:
    """Whether the arcs taken keep to the limit at each node and are as many as a cut allows, so that no more can be taken.

    `raw_left` and `raw_entered` are the cut: nodes on the source's side by their first and by their second copy.
    """
    leaving = np.bincount(arcs.raw_tails[raw_taken], minlength=arcs.size)
    entering = np.bincount(arcs.raw_heads[raw_taken], minlength=arcs.size)
    if leaving.max(initial=0) > limit or entering.max(initial=0) > limit:
        return False
    across = int(np.count_nonzero(raw_left[arcs.raw_tails] & ~raw_entered[arcs.raw_heads]))
    cut = limit * int(np.count_nonzero(~raw_left)) + limit * int(np.count_nonzero(raw_entered)) + across
    return int(np.count_nonzero(raw_taken)) == cut


def _proposed_flow(arcs: Arcs, raw_room: NDArray[np.int64]) -> Mask:
    """The arcs that scipy's largest flow uses, whether or not it is right."""
    size, count = arcs.size, len(arcs.raw_tails)
    source, sink, nodes = 2 * size, 2 * size + 1, np.arange(size)
    tails = np.concatenate([arcs.raw_tails, np.full(size, source), nodes + size])
    heads = np.concatenate([arcs.raw_heads + size, nodes, np.full(size, sink)])
    most = np.concatenate([np.ones(count, dtype=np.int64), raw_room, raw_room]).astype(np.int32)
    network = sparse.csr_array((most, (tails, heads)), shape=(sink + 1, sink + 1))
    flow = sparse.csr_array(csgraph.maximum_flow(network, source, sink).flow)
    used = flow[:size, size : 2 * size].tocoo()
    keys = np.sort((used.row.astype(np.int64) * size + used.col)[used.data == 1])
    wanted = arcs.raw_tails * size + arcs.raw_heads
    places = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
    return keys[places] == wanted if keys.size else np.zeros(count, dtype=np.bool_)


def _proposed_cut(arcs: Arcs, raw_taken: Mask, limit: int) -> tuple[Mask, Mask]:
    """What scipy reaches from the source along arcs that are not taken, and back along those that are; right or not."""
    size, source = arcs.size, 2 * arcs.size
    with_room = np.flatnonzero(np.bincount(arcs.raw_tails[raw_taken], minlength=size) < limit)
    firsts, seconds = arcs.raw_tails, arcs.raw_heads + size
    tails = np.concatenate([np.full(with_room.size, source), firsts[~raw_taken], seconds[raw_taken]])
    heads = np.concatenate([with_room, seconds[~raw_taken], firsts[raw_taken]])
    residual = sparse.csr_array((np.ones(tails.size, dtype=np.int8), (tails, heads)), shape=(source + 1, source + 1))
    reached = np.zeros(source + 1, dtype=np.bool_)
    reached[csgraph.breadth_first_order(residual, source, return_predecessors=False)] = True
    return reached[:size], reached[size:source]


def largest_by_search(arcs: Arcs, limit: int) -> int:
    """F by an own search: the arcs taken change along ways that raise their number by 1, until a round finds no such way."""
    search = _ArcSearch(arcs, limit)
    while search.extend_in_a_round():
        pass
    return sum(search.leaving)


class _ArcSearch:
    """Arcs of which some are taken, at most `limit` from each node and at most `limit` to each node."""

    def __init__(self, arcs: Arcs, limit: int) -> None:
        self._tails, self._heads, self._limit = arcs.raw_tails.tolist(), arcs.raw_heads.tolist(), limit
        self._from: list[list[int]] = [[] for _ in range(arcs.size)]
        self._to: list[list[int]] = [[] for _ in range(arcs.size)]
        for arc, (tail, head) in enumerate(zip(self._tails, self._heads, strict=True)):
            self._from[tail].append(arc)
            self._to[head].append(arc)
        self._taken = [False] * len(self._tails)
        self.leaving = [0] * arcs.size
        """How many arcs are taken from each node."""
        self._entering = [0] * arcs.size

    def extend_in_a_round(self) -> bool:
        """Take arcs along ways from all nodes that have room; False where none was found.

        A node is entered on its second copy once in a round, unless it has room: so a round looks at each arc a few times.
        """
        found = False
        entered: set[int] = set()
        for start in range(len(self.leaving)):
            while self.leaving[start] < self._limit and self._extend_from(start, entered):
                found = True
        return found

    def _extend_from(self, start: int, entered: set[int]) -> bool:
        """Take one arc more in all, and one more from `start`; False where no way leads to a node that has room.

        A way goes forth along arcs that are not taken and back along arcs that are. To change all of them leaves the number of
        taken arcs as it is at every node between.
        """
        came_by: dict[int, int] = {}  # for each second copy that was reached the arc to it
        back_by = {start: -1}  # for each first copy that was reached the arc that leads back to it
        waiting = deque([start])
        while waiting:
            node = waiting.popleft()
            for arc in self._from[node]:
                head = self._heads[arc]
                if self._taken[arc] or head in entered:
                    continue
                came_by[head] = arc
                if self._entering[head] < self._limit:
                    self._entering[head] += 1
                    self.leaving[start] += 1
                    self._change_way_to(head, came_by, back_by)
                    return True
                entered.add(head)
                for other in self._to[head]:
                    if self._taken[other] and self._tails[other] not in back_by:
                        back_by[self._tails[other]] = other
                        waiting.append(self._tails[other])
        return False

    def _change_way_to(self, head: int, came_by: Mapping[int, int], back_by: Mapping[int, int]) -> None:
        """Take the arcs of a way that are not taken, and let go of those that are."""
        while True:
            arc = came_by[head]
            self._taken[arc] = True
            back = back_by[self._tails[arc]]
            if back < 0:
                return
            self._taken[back] = False
            head = self._heads[back]
