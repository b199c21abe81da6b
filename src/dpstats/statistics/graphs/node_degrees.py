"""The distribution of degrees of a graph, for the privacy of a node.

Claim      epsilon-DP
Neighbors  NODE: one node added or removed with all its edges; the number of nodes is private
Why        C_k is the number of nodes of the projected graph (projections.py) with at most k edges, k = 0 ... limit - 1. One node
           moves all C_k together by at most the limit, and so it moves sums of C_k over disjoint blocks of degrees: discrete
           Laplace noise of scale limit / epsilon for each sum. A wide block has so much less noise in its mean. Other parts of
           epsilon release the number of nodes (noise of scale 1 / epsilon), which decides how wide the blocks are, and choose the
           limit (limits.py).
Numerics   Whole numbers, exact noise; the fit and lines between blocks come afterwards
No reply   Where the number of nodes is not told from none, a function of what was released
Source     Day, Li & Lyu 2016 for the projection and its cumulative counts; blocks of growing width are ours
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Refusal
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import noisy_count, sample_discrete_laplace
from dpstats.statistics.graphs.degree_values import DegreeDistribution, changes_of
from dpstats.statistics.graphs.flows import doubled_edges
from dpstats.statistics.graphs.isotonic import isotonic
from dpstats.statistics.graphs.limits import choose_limit
from dpstats.statistics.graphs.projections import at_most_counts_below, projected_degrees
from dpstats.statistics.graphs.questions import GraphQuestion

NODES_SHARE, CHOICE_SHARE = Fraction(1, 20), Fraction(7, 20)
SMALL_NOISE, WANTED_NOISE = Fraction(6, 100), Fraction(3, 100)
"""Noise in one count, as a part of all nodes, up to which a narrow block is a single degree; and what a block's mean is to have
where it is not."""
GROWTH = 4
"""A block is about 1 / GROWTH of its degrees wide."""
FEWEST_SCALES = 4
UNKNOWN = "the noise is known, but how many edges the projection left out is not, and no limit to it would be private"


def distribution_by_projection(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Outcome:
    """The distribution of degrees below a limit that was chosen privately."""
    nodes_epsilon, choice_epsilon = question.epsilon * NODES_SHARE, question.epsilon * CHOICE_SHARE
    rest = question.epsilon - nodes_epsilon - choice_epsilon
    noisy_nodes = noisy_count(graph.size, nodes_epsilon, rng)
    limit = choose_limit(functools.cache(lambda limit: doubled_edges(graph, limit)), choice_epsilon, rng)
    if noisy_nodes < FEWEST_SCALES / nodes_epsilon:
        return Refusal("There may be no nodes: their noisy number is not above its noise.", "Ask with a larger epsilon.")
    edges = block_edges(limit, narrowest(limit, noisy_nodes, rest))
    raw_sums = np.add.reduceat(at_most_counts_below(projected_degrees(graph, limit), limit), edges[:-1])
    noisy_sums = raw_sums + sample_discrete_laplace(limit / rest, len(raw_sums), rng)
    fitted = fitted_counts(noisy_sums, edges, noisy_nodes)
    places = changes_of(fitted)
    value = DegreeDistribution(noisy_nodes, tuple(places.tolist()), tuple(fitted[places].tolist()), limit=limit)
    notes = (
        *question.notes,
        ("limit", f"of each node at most {counted(limit, 'edge')}, a limit that was chosen privately; more are not told apart"),
        ("numerics", "exact: whole numbers and an exact sampler; fitted afterwards to numbers that do not fall"),
    )
    return Answer(value, notes=notes, unknown=UNKNOWN)


def narrowest(limit: int, noisy_nodes: int, epsilon: Fraction) -> int:
    """How wide a block must be for little noise in its mean. Lines across a block hide steps, so a single degree is best."""
    noise = limit / (epsilon * noisy_nodes)
    return 1 if noise <= SMALL_NOISE else math.ceil(noise / WANTED_NOISE)


def block_edges(limit: int, narrow: int) -> NDArray[np.int64]:
    """Where blocks of the degrees 0 ... limit - 1 begin and end: each at least so narrow, and wider the higher the degrees."""
    edges = [0]
    while edges[-1] < limit:
        edges.append(edges[-1] + max(narrow, edges[-1] // GROWTH))
    edges[-1] = limit
    return np.asarray(edges)


def fitted_counts(noisy_sums: NDArray[np.int64], edges: NDArray[np.int64], noisy_nodes: int) -> NDArray[np.float64]:
    """Counts for the degrees 0 ... limit, where all nodes are: lines between the fitted means of blocks."""
    widths = np.diff(edges)
    totals = [int(each) * int(width) for each, width in zip(noisy_sums, widths, strict=True)]
    runs = isotonic(totals, [int(width) ** 2 for width in widths])
    means = [total / weight for total, weight, count in runs for _ in range(count)]
    middles = [(start + stop - 1) / 2 for start, stop in pairwise(edges.tolist())]
    limit = int(edges[-1])
    levels = np.clip(np.asarray(means), 0, noisy_nodes)
    lines = np.interp(np.arange(limit), [-1.0, *middles], [0.0, *levels])
    return np.append(np.round(lines, 3), float(noisy_nodes))
