"""The degrees of a graph, for the privacy of an edge: their distribution, or all of them in order.

Claim      epsilon-DP
Neighbors  EDGE: one edge added or removed, the nodes are public
Why        N_k is the number of nodes with at most k edges, k = 0 ... n - 2. One edge moves the degrees of two nodes by 1, each of
           which moves one N_k by 1: an L1 sensitivity of 2, and discrete Laplace noise of scale 2/epsilon for every N_k. Fitting
           numbers that do not fall, and reading sorted degrees off them, is done afterwards.
Numerics   Whole numbers, exact noise; the fit compares whole numbers
No reply   Only where the answer cannot be computed at all
Source     Hay, Li, Miklau & Jensen 2009 put the noise on the sorted degrees, which are the same curve read the other way; where
           few nodes have many edges, N_k errs less (docs/graphs.md)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.graphs.degree_values import DegreeDistribution, DegreeSequence, changes_of, runs_of
from dpstats.statistics.graphs.isotonic import monotone_band, rounded_fit
from dpstats.statistics.graphs.node_degrees import distribution_by_projection
from dpstats.statistics.graphs.questions import EDGE, NODE, GraphMethod, GraphQuestion, GraphStatistic

SENSITIVITY = 2


def at_most_counts(graph: SimpleGraph) -> NDArray[np.int64]:
    """N_k, the number of nodes with at most k edges, for k = 0 ... size - 2."""
    return np.cumsum(np.bincount(graph.raw_degrees, minlength=max(graph.size, 1)))[: max(graph.size - 1, 0)]


def _noisy_counts(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> NDArray[np.int64]:
    raw_counts = at_most_counts(graph)
    return raw_counts + sample_discrete_laplace(SENSITIVITY / question.epsilon, len(raw_counts), rng)


def _band(noisy: NDArray[np.int64], question: GraphQuestion, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    if question.interval is None:
        return None
    return monotone_band(noisy, SENSITIVITY / float(question.epsilon), question.failure, size)


def _notes(question: GraphQuestion) -> tuple[tuple[str, str], ...]:
    level = "" if question.interval is None else f"{100 * float(question.interval):.10g}%"
    band = (("band", f"value.low and value.high hold all of the graph's degrees at once ({level}): all error is noise"),)
    numerics = ("numerics", "exact: whole numbers and an exact sampler; fitted afterwards to numbers that do not fall")
    return (*question.notes, *(band if level else ()), numerics)


def distribution_by_counts(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The distribution of degrees, with a band."""
    noisy = _noisy_counts(graph, question, rng)
    fitted = np.append(rounded_fit(noisy.tolist(), graph.size), graph.size) if graph.size else noisy
    band = [np.append(ends, graph.size) for ends in _band(noisy, question, graph.size) or () if graph.size]
    places = changes_of(fitted, *band)
    low, high = ([ends[places].tolist() for ends in band]) if band else ([], [])
    listed = fitted[places].tolist()
    value = DegreeDistribution(graph.size, tuple(places.tolist()), tuple(listed), tuple(low), tuple(high))
    return Answer(value, notes=_notes(question))


def sequence_by_counts(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The degrees of all nodes in order, with a band: few nodes with a low degree make high degrees."""
    noisy = _noisy_counts(graph, question, rng)
    band = _band(noisy, question, graph.size)
    low, high = (runs_of(band[1], graph.size), runs_of(band[0], graph.size)) if band else ((), ())
    fitted = rounded_fit(noisy.tolist(), graph.size)
    return Answer(DegreeSequence(runs_of(fitted, graph.size), low, high), notes=_notes(question))


_CLAIM = "pure epsilon-DP for edges: whole-number Laplace noise of scale 2/epsilon on cumulative counts of degrees"

DEGREE_SEQUENCE = GraphStatistic(
    "degree_sequence",
    "the degrees of all nodes, in order",
    {EDGE: GraphMethod("cumulative counts", _CLAIM, sequence_by_counts, needs_nodes=True)},
    revive=DegreeSequence.from_dict,
)
DEGREE_DISTRIBUTION = GraphStatistic(
    "degree_distribution",
    "the distribution of degrees: which part of the nodes has at most so many edges",
    {
        EDGE: GraphMethod("cumulative counts", _CLAIM, distribution_by_counts, needs_nodes=True),
        NODE: GraphMethod(
            "projection",
            "pure epsilon-DP for nodes: cumulative counts of a projected graph, whose limit of degrees is chosen privately",
            distribution_by_projection,
            needs_nodes=True,
        ),
    },
    revive=DegreeDistribution.from_dict,
)
