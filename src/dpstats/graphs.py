"""Private statistics of graphs: `dp.graphs.triangles(graph, nodes=4039, protect="edge", epsilon=1)`.

Every question says whom it protects. With `protect="edge"` nobody can tell from the answer whether any one edge is in the graph,
such as a friendship; who is in the graph is public. With `protect="node"` nobody can tell whether any one node is in it, such as
a person with all friendships. The latter is a far stronger promise, and its answers err more.

A graph is anything with edges: a list of pairs, an array or a data frame with two columns (pandas, polars, arrow), a square
matrix of scipy.sparse, a graph of networkx. It counts as simple and undirected.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, Literal

from dpstats.accounting.budgets import Budget
from dpstats.curator.ledger.ledger import Ledger
from dpstats.curator.protected_graphs import GraphDesk, ProtectedGraphBase, checked_nodes, protected_desk
from dpstats.engines.graphs.given import given_graph
from dpstats.foundations.accepted import Number
from dpstats.foundations.randomness import RandomSource, source_or_system
from dpstats.foundations.registry import INTERVAL
from dpstats.foundations.results import NoReply, Release
from dpstats.foundations.words import EPSILON, with_known_words
from dpstats.statistics.graphs.clustering import CLUSTERING, Clustering
from dpstats.statistics.graphs.degree_values import DegreeDistribution, DegreeSequence
from dpstats.statistics.graphs.edge_counts import EDGE_COUNT
from dpstats.statistics.graphs.edge_degrees import DEGREE_DISTRIBUTION, DEGREE_SEQUENCE
from dpstats.statistics.graphs.questions import WHOM, GraphStatistic, checked_relation
from dpstats.statistics.graphs.stars import K_STARS
from dpstats.statistics.graphs.triangles import TRIANGLES

__all__ = [
    "Clustering",
    "DegreeDistribution",
    "DegreeSequence",
    "ProtectedGraph",
    "clustering_coefficient",
    "degree_distribution",
    "degree_sequence",
    "edge_count",
    "k_stars",
    "protect",
    "triangles",
]


def __dir__() -> list[str]:
    return __all__


Whom = Literal["edge", "node"]
_NEEDED = {"protect": WHOM, **EPSILON}
_NEEDED_BEHIND_A_LEDGER = {
    "protect": WHOM,
    "budget": "how much all questions may spend: for example budget=dp.Budget(epsilon=3)",
    "ledger": "where to keep count of what was spent: for example ledger='friends.ledger', or ':memory:' to forget it",
}


@with_known_words(_NEEDED)
def edge_count(
    graph: Any,
    *,
    protect: Whom,
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[float] | NoReply:
    """The number of edges.

    Parameters
      graph     pairs of nodes, an array or a frame with two columns, a scipy.sparse matrix, a networkx graph
      protect   "edge" or "node": whom the answer protects; there is no default
      epsilon   the privacy that it may spend
      nodes     labels of all nodes, or n for 0 ... n - 1; a row with another end is no edge. May be left out here. They are
                public under "edge", so those of a networkx graph are not taken from it: if they may be, nodes=list(graph)
      interval  the level of an interval, or None. Under "node" it has a lower end alone
      unit      what an edge, or a node, stands for, such as "friendship" or "person", for the card
    """
    return _answer(EDGE_COUNT, graph, protect, epsilon, nodes, interval, unit, rng)


@with_known_words(_NEEDED)
def degree_distribution(
    graph: Any,
    *,
    protect: Whom,
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[DegreeDistribution] | NoReply:
    """Which part of the nodes has at most so many edges, with a band under "edge". Parameters as of `edge_count`.

    The value F is a function: F(10) is the part of nodes with at most 10 edges, F.quantile(0.5) the median degree. Nodes without
    edges count, so `nodes` is needed, but for a sparse matrix.
    """
    return _answer(DEGREE_DISTRIBUTION, graph, protect, epsilon, nodes, interval, unit, rng)


@with_known_words(_NEEDED)
def degree_sequence(
    graph: Any,
    *,
    protect: Literal["edge"],
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[DegreeSequence] | NoReply:
    """The degrees of all nodes in order, as `value.sorted_degrees()`, with a band. Parameters as of `edge_count`."""
    return _answer(DEGREE_SEQUENCE, graph, protect, epsilon, nodes, interval, unit, rng)


@with_known_words(_NEEDED)
def triangles(
    graph: Any,
    *,
    protect: Literal["edge"],
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[int] | NoReply:
    """The number of triangles. Parameters as of `edge_count`; `nodes` is needed, but for a sparse matrix."""
    return _answer(TRIANGLES, graph, protect, epsilon, nodes, interval, unit, rng)


@with_known_words(_NEEDED)
def k_stars(
    graph: Any,
    k: int = 2,
    *,
    protect: Literal["edge"],
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[int] | NoReply:
    """The number of k-stars: a node and k of its neighbours, k from 2 to 10. Other parameters as of `triangles`."""
    return _answer(K_STARS, graph, protect, epsilon, nodes, interval, unit, rng, k=k)


@with_known_words(_NEEDED)
def clustering_coefficient(
    graph: Any,
    *,
    protect: Literal["edge"],
    epsilon: Number,
    nodes: Any = None,
    interval: Number | None = INTERVAL,
    unit: str | None = None,
    rng: RandomSource | None = None,
) -> Release[Clustering] | NoReply:
    """Three times the triangles over the 2-stars, with both numbers. Parameters as of `triangles`."""
    return _answer(CLUSTERING, graph, protect, epsilon, nodes, interval, unit, rng)


class ProtectedGraph(ProtectedGraphBase):
    """A graph behind a ledger: its statistics are methods, each at a price that is debited before an edge is read."""

    def edge_count(self, *, epsilon: Number, interval: Number | None = INTERVAL) -> Release[float] | NoReply:
        """The number of edges."""
        return self._ask(EDGE_COUNT, epsilon, interval)

    def degree_distribution(
        self, *, epsilon: Number, interval: Number | None = INTERVAL
    ) -> Release[DegreeDistribution] | NoReply:
        """Which part of the nodes has at most so many edges."""
        return self._ask(DEGREE_DISTRIBUTION, epsilon, interval)

    def degree_sequence(self, *, epsilon: Number, interval: Number | None = INTERVAL) -> Release[DegreeSequence] | NoReply:
        """The degrees of all nodes in order."""
        return self._ask(DEGREE_SEQUENCE, epsilon, interval)

    def triangles(self, *, epsilon: Number, interval: Number | None = INTERVAL) -> Release[int] | NoReply:
        """The number of triangles."""
        return self._ask(TRIANGLES, epsilon, interval)

    def k_stars(self, k: int = 2, *, epsilon: Number, interval: Number | None = INTERVAL) -> Release[int] | NoReply:
        """The number of k-stars."""
        return self._ask(K_STARS, epsilon, interval, k=k)

    def clustering_coefficient(self, *, epsilon: Number, interval: Number | None = INTERVAL) -> Release[Clustering] | NoReply:
        """Three times the triangles over the 2-stars."""
        return self._ask(CLUSTERING, epsilon, interval)


@with_known_words(_NEEDED_BEHIND_A_LEDGER)
def protect(
    graph: Any,
    *,
    protect: Whom,
    budget: Budget,
    ledger: str | PurePath | Ledger,
    nodes: Any = None,
    unit: str | None = None,
    name: str | None = None,
    edition: str = "",
) -> ProtectedGraph:
    """A graph behind a ledger that keeps count, for one relation: that of edges, or that of nodes.

    Parameters
      graph, nodes, unit  as of `edge_count`
      protect             "edge" or "node": whom every answer protects; the ledger keeps it, and refuses another
      budget, ledger      as of `dp.protect`
      name                the graph's name in the ledger
      edition             names the state of the graph, if you want to; a changed graph is another edition by itself

    The graph is read once for a fingerprint, by which the ledger knows it again: the same graph gets its archived answers, and is
    refused under another name.
    """
    relation, listed, given = checked_relation("protect", protect), checked_nodes(nodes), given_graph(graph)
    called = relation.value if unit is None else unit
    return ProtectedGraph(protected_desk(GraphDesk(given, listed, relation, called), ledger, name, budget, edition))


def _answer(
    statistic: GraphStatistic,
    graph: Any,
    whom: object,
    epsilon: object,
    nodes: Any,
    interval: object,
    unit: str | None,
    rng: RandomSource | None,
    **arguments: object,
) -> Release[Any] | NoReply:
    """The reply to one question, without a ledger: everything public is checked before the graph is read."""
    source = source_or_system(rng)
    desk = GraphDesk(given_graph(graph), checked_nodes(nodes))
    words = {"protect": whom, "epsilon": epsilon, "interval": interval, "unit": unit}
    return desk.answer(desk.asked(statistic, words, arguments), source)
