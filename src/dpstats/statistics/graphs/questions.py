"""Questions about graphs: what can be asked for the privacy of an edge or of a node, checked and priced before a graph is read.

They are no statistics of the registry, whose questions are about the rows of a table: one edge is not one row, and a node is the
rows of its edges and its place in the list of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpstats.foundations.errors import InvalidParameterError, MissingParameterError
from dpstats.foundations.privacy import GraphNeighbors, PrivacyCost, spendable_epsilon
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import PURE_LOSS, Outcome, checked_level
from dpstats.foundations.rounding import decimal_text
from dpstats.foundations.simple_graphs import SimpleGraph

EDGE, NODE = GraphNeighbors.EDGE, GraphNeighbors.NODE
WHOM = (
    "whom to protect: protect='edge' hides whether any one edge is there, such as a friendship, while who is in the graph is "
    "public; protect='node' hides whether any one node is there with all its edges, such as a person with all friendships"
)
PROTECTION = {
    EDGE: "whether any one {edge} is in the graph; not that a node is in it, nor what many edges of one node show together",
    NODE: "whether any one {node} is in the graph, with all edges of that {node}",
}
"""What a relation promises, in plain words."""


@dataclass(frozen=True)
class GraphMethod:
    """How a statistic is computed under one relation."""

    name: str
    claim: str
    run: Callable[[SimpleGraph, GraphQuestion, RandomSource], Outcome]
    needs_nodes: bool
    """Whether it counts nodes without edges too, or goes by how many nodes there are."""
    loss: Fraction = PURE_LOSS
    version: int = 1
    least_epsilon: Fraction = Fraction(0)


@dataclass(frozen=True)
class GraphStatistic:
    """A statistic of graphs, with its method for each relation that it has one for."""

    name: str
    summary: str
    methods: Mapping[GraphNeighbors, GraphMethod]
    check: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda arguments: arguments
    """Its own parameters as the method reads them, or an error."""
    revive: Callable[[Any], Any] = lambda plain: plain
    """Makes the value of a release again from its plain form."""


@dataclass(frozen=True)
class GraphQuestion:
    """A checked and priced question; nothing in it comes from a graph."""

    statistic: GraphStatistic
    method: GraphMethod
    cost: PrivacyCost
    interval: Fraction | None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def epsilon(self) -> Fraction:
        """What may be spent."""
        return self.cost.epsilon

    @property
    def failure(self) -> float:
        """With what probability an interval may miss; 1 where none is asked for."""
        return 1.0 if self.interval is None else float(1 - self.interval)

    def __str__(self) -> str:
        shown = [f"{name}={value}" for name, value in self.arguments.items()]
        return f"{self.statistic.name}({', '.join(shown)})" if shown else self.statistic.name

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """What every card says: whom it protects, in plain words, and which rows are one edge."""
        words = "edge" if self.cost.unit == "node" else self.cost.unit
        shown = PROTECTION[relation_of(self)].format(edge=words, node=self.cost.unit)
        public = "the parameters and the nodes" if relation_of(self) is EDGE else "the parameters; nothing about nodes or edges"
        rows = "rows with the same two ends are one edge, in either order; loops and rows with a missing or unlisted end are none"
        return (("hides", shown), ("rows", rows), ("public", public))


def relation_of(question: GraphQuestion) -> GraphNeighbors:
    """Which of the two relations a question is asked under."""
    relation = question.cost.neighbors
    assert isinstance(relation, GraphNeighbors)
    return relation


def ask_graph(
    statistic: GraphStatistic,
    *,
    protect: object,
    epsilon: object,
    interval: object,
    unit: str | None,
    arguments: Mapping[str, Any],
) -> GraphQuestion:
    """Check and price a question. Reads no graph; raises only about public things."""
    relation = checked_relation(statistic.name, protect)
    if relation not in statistic.methods:
        known = " or ".join(f"protect={each.value!r}" for each in statistic.methods)
        raise InvalidParameterError(f"{statistic.name} is there for {known} only.")
    if epsilon is None:
        raise MissingParameterError(f"{statistic.name} needs epsilon, the privacy that it may spend: for example epsilon=0.5.")
    method = statistic.methods[relation]
    cost = PrivacyCost(spendable_epsilon(epsilon), 0, relation, relation.value if unit is None else unit)
    if cost.epsilon < method.least_epsilon:
        raise InvalidParameterError(f"{statistic.name} needs an epsilon of at least {decimal_text(method.least_epsilon)}.")
    return GraphQuestion(statistic, method, cost, checked_level(interval), statistic.check(arguments))


def checked_relation(name: str, protect: object) -> GraphNeighbors:
    """The relation that a caller names; there is no default."""
    for relation in GraphNeighbors:
        if protect is relation or protect == relation.value:
            return relation
    if protect is None:
        raise MissingParameterError(f"{name} needs protect, {WHOM}.")
    raise InvalidParameterError(f"protect must be 'edge' or 'node', got {protect!r}: it says {WHOM}.")
