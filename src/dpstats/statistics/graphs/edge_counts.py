"""The number of edges of a graph, for the privacy of an edge.

Claim      epsilon-DP
Neighbors  EDGE: one edge added or removed
Why        One edge moves the count by 1; discrete Laplace noise of scale 1/epsilon hides it
Numerics   Whole numbers, exact noise; a negative result is shown as 0 afterwards
"""

from __future__ import annotations

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer
from dpstats.foundations.results import Interval
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.graphs.node_edge_counts import edges_by_extension
from dpstats.statistics.graphs.questions import EDGE, NODE, GraphMethod, GraphQuestion, GraphStatistic
from dpstats.statistics.graphs.triangles import COVERS


def edges_with_noise(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The number of edges with discrete Laplace noise."""
    noisy_edges = max(0, noisy_count(graph.raw_edges, question.epsilon, rng))
    interval = None
    if question.interval is not None:
        reach = noise_reach(float(question.epsilon), float(question.interval))
        interval = Interval(max(0, noisy_edges - reach), noisy_edges + reach, float(question.interval), COVERS)
    return Answer(noisy_edges, interval, (*question.notes, ("numerics", "exact: whole numbers and an exact sampler")))


EDGE_COUNT = GraphStatistic(
    "edge_count",
    "the number of edges",
    {
        EDGE: GraphMethod(
            "laplace",
            "pure epsilon-DP for edges: whole-number Laplace noise of scale 1/epsilon",
            edges_with_noise,
            needs_nodes=False,
        ),
        NODE: GraphMethod(
            "extension",
            "pure epsilon-DP for nodes: a Lipschitz extension, whose limit of degrees is chosen privately",
            edges_by_extension,
            needs_nodes=False,
        ),
    },
)
