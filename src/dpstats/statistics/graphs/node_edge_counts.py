"""The number of edges of a graph, for the privacy of a node.

Claim      epsilon-DP
Neighbors  NODE: one node added or removed with all its edges; the number of nodes is private
Why        F, twice the edges under a limit of degrees (flows.py), moves by at most 2 * limit for one node, and never falls when
           one is added. A part of epsilon chooses the limit (limits.py), the rest releases F with discrete Laplace noise.
Numerics   Whole numbers, exact noise; the half is taken afterwards
No reply   Only where the answer cannot be computed at all
Source     Kasiviswanathan, Nissim, Raskhodnikova & Smith 2013 for the extension, limits.py for the choice. No test
           of degrees could do it: every graph has a neighbour with a node of n edges (docs/errata.md)
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer
from dpstats.foundations.results import Interval
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.graphs.flows import doubled_edges
from dpstats.statistics.graphs.limits import choose_limit
from dpstats.statistics.graphs.questions import GraphQuestion

CHOICE_SHARE = Fraction(1, 2)
"""What of epsilon chooses the limit."""


def edges_by_extension(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The number of edges under a limit of degrees that was chosen privately."""
    choice_epsilon = question.epsilon * CHOICE_SHARE
    noise_epsilon = question.epsilon - choice_epsilon
    raw_doubled = functools.cache(lambda limit: doubled_edges(graph, limit))
    limit = choose_limit(raw_doubled, choice_epsilon, rng)
    scale = 2 * limit / noise_epsilon
    noisy_doubled = raw_doubled(limit) + int(sample_discrete_laplace(scale, 1, rng)[0])
    interval = None
    if question.interval is not None:
        reach = noise_reach(float(1 / scale), 1 - 2 * min(question.failure, 0.49))
        covers = "the noise and what the limit left out, which can be any number of edges: there is a lower end alone"
        interval = Interval(max(0, math.floor((noisy_doubled - reach) / 2)), math.inf, float(question.interval), covers)
    notes = (
        *question.notes,
        (
            "limit",
            f"of each node at most {counted(limit, 'edge')} in full, a limit that was chosen privately; others are left out",
        ),
        ("numerics", "exact: whole numbers and an exact sampler"),
    )
    return Answer(max(0, noisy_doubled) / 2, interval, notes)
