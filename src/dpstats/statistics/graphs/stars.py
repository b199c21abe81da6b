"""The number of k-stars of a graph, for the privacy of an edge.

Claim      epsilon-DP
Neighbors  EDGE: one edge added or removed, the nodes are public
Why        An edge between nodes of open degrees p and q is in C(p, k-1) + C(q, k-1) stars of k leaves; a change elsewhere moves p
           or q by at most 1 (open_degrees.py). The largest degree moves by at most 1: a share of epsilon releases it with noise,
           which sets a floor under the larger open degree. So the rungs grow by a factor of at most 1 + (k-1) / (floor - k + 2),
           and a ladder function (mechanisms/ladder_functions.py) may fall nearly at epsilon.
Numerics   Whole numbers of any size, exact noise
No reply   Only where the answer cannot be computed at all
Source     Karwa, Raskhodnikova, Smith & Yaroslavtsev 2011 for the sensitivity; Zhang et al. 2015 for ladders
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.mechanisms.ladder_functions import LEAST_EPSILON, draw_on_ladder, ladder_rate, ladder_reach
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.graphs.open_degrees import deciding_pairs, star_rungs
from dpstats.statistics.graphs.questions import EDGE, GraphMethod, GraphQuestion, GraphStatistic
from dpstats.statistics.graphs.triangles import SCALE_FAILURE, SCALE_SHARE, SLOWEST, NoisyLadder, ladder_interval

MOST_LEAVES = 10
_SAFE_SCALES = 2


def star_count(graph: SimpleGraph, leaves: int) -> int:
    """The number of ways to choose a node and so many of its neighbours."""
    counts = np.bincount(graph.raw_degrees)
    return sum(int(counts[degree]) * math.comb(int(degree), leaves) for degree in np.flatnonzero(counts))


def draw_stars(graph: SimpleGraph, leaves: int, epsilon: Fraction, failure: float, rng: RandomSource) -> NoisyLadder:
    """The number of stars at a price of epsilon."""
    scale_epsilon = epsilon * SCALE_SHARE
    rest = epsilon - scale_epsilon
    raw_largest = int(graph.raw_degrees.max(initial=0))
    noisy_largest = noisy_count(raw_largest, scale_epsilon, rng)
    least = math.ceil(SLOWEST * (leaves - 1) / rest) + leaves - 2
    floor = max(noisy_largest - 1 - math.ceil(_SAFE_SCALES / scale_epsilon), least)
    growth = Fraction(leaves - 1, floor - leaves + 2)
    rate = ladder_rate(rest, growth)
    raw_pairs = deciding_pairs(graph)

    def raw_widths(count: int) -> list[int]:
        return star_rungs(raw_pairs, leaves, graph.size, floor, count)

    widest = 2 * math.comb(max(graph.size, floor), leaves - 1)
    drawn = draw_on_ladder(star_count(graph, leaves), raw_widths, widest, rate, rng)
    likely = noisy_largest + noise_reach(float(scale_epsilon), 1 - 2 * min(SCALE_FAILURE * failure, 0.49))
    first_width = math.comb(max(likely, floor), leaves - 1) + math.comb(max(likely, 0), leaves - 1)
    reach = ladder_reach(rate, growth, first_width, (1 - SCALE_FAILURE) * failure, by_steps=leaves == 2)
    return NoisyLadder(drawn, reach)


def stars_by_ladder(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The number of stars with its interval."""
    leaves = question.arguments["k"]
    found = draw_stars(graph, leaves, question.epsilon, question.failure, rng)
    most = graph.size * math.comb(max(graph.size - 1, 0), leaves)
    return Answer(
        min(max(found.noisy_value, 0), most),
        ladder_interval(question, found, most),
        (*question.notes, ("numerics", "exact: whole numbers and an exact sampler")),
    )


def _checked(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    leaves = arguments["k"]
    if isinstance(leaves, bool) or not isinstance(leaves, int) or not 2 <= leaves <= MOST_LEAVES:
        raise InvalidParameterError(f"k must be a whole number from 2 to {MOST_LEAVES}, such as 2.")
    return arguments


K_STARS = GraphStatistic(
    "k_stars",
    "the number of k-stars: a node and k of its neighbours",
    {
        EDGE: GraphMethod(
            "ladder",
            "pure epsilon-DP for edges: a ladder function over the degrees of pairs",
            stars_by_ladder,
            needs_nodes=True,
            least_epsilon=LEAST_EPSILON,
        )
    },
    check=_checked,
)
