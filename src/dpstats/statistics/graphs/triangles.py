"""The number of triangles of a graph, for the privacy of an edge.

Claim      epsilon-DP
Neighbors  EDGE: one edge added or removed, the nodes are public
Why        One edge between two nodes is in as many triangles as they have common neighbours, at most I_0 = the largest number of
           any pair; I_t is how large that can become within t changes (common_neighbors.py). I_0 moves by at most 1, so a share
           of epsilon releases it with noise; what it says is then public, and sets a floor under the widths max(I_t, floor) of a
           ladder function (mechanisms/ladder_functions.py), whose widths are at most 1 + 1/floor times those of a neighbour.
Numerics   Whole numbers, exact noise
No reply   Only where the answer cannot be computed at all
Source     Zhang et al. 2015 for the ladder and its rungs; 2 * the largest degree for b is no ladder (triangles.proof.md)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer
from dpstats.foundations.results import Interval
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.mechanisms.discrete_laplace import noisy_count
from dpstats.mechanisms.ladder_functions import LEAST_EPSILON, draw_on_ladder, ladder_rate, ladder_reach
from dpstats.statistics.counts import noise_reach
from dpstats.statistics.graphs.common_neighbors import CommonNeighbors, common_neighbors
from dpstats.statistics.graphs.questions import EDGE, GraphMethod, GraphQuestion, GraphStatistic

SCALE_SHARE = Fraction(1, 10)
"""What of epsilon finds the scale of the ladder."""
SCALE_FAILURE = 0.2
"""What of an interval's failures is due to the scale."""
SLOWEST = 3
"""A floor lets the rungs grow by epsilon / SLOWEST at most."""
_SAFE_SCALES = 2
COVERS = "the noise, which is all the error there is in this number"


@dataclass(frozen=True)
class NoisyLadder:
    """A number that was drawn on a ladder, and how far off it may be."""

    noisy_value: int
    reach: int
    """Exceeded with the probability that was asked for, at most."""


def draw_triangles(raw_common: CommonNeighbors, epsilon: Fraction, failure: float, rng: RandomSource) -> NoisyLadder:
    """The number of triangles at a price of epsilon."""
    scale_epsilon = epsilon * SCALE_SHARE
    rest = epsilon - scale_epsilon
    noisy_scale = noisy_count(int(raw_common.raw_rungs(1)[0]), scale_epsilon, rng)
    floor = max(noisy_scale - math.ceil(_SAFE_SCALES / scale_epsilon), math.ceil(SLOWEST / rest))
    growth = Fraction(1, floor)
    rate = ladder_rate(rest, growth)

    def raw_widths(count: int) -> list[int]:
        return [max(floor, width) for width in raw_common.raw_rungs(count).tolist()]

    drawn = draw_on_ladder(raw_common.raw_triangles, raw_widths, max(raw_common.size, floor), rate, rng)
    likely_scale = max(floor, noisy_scale + noise_reach(float(scale_epsilon), 1 - 2 * min(SCALE_FAILURE * failure, 0.49)))
    return NoisyLadder(drawn, ladder_reach(rate, growth, likely_scale, (1 - SCALE_FAILURE) * failure, by_steps=True))


def triangles_by_ladder(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Answer:
    """The number of triangles with its interval."""
    found = draw_triangles(common_neighbors(graph), question.epsilon, question.failure, rng)
    most = math.comb(graph.size, 3)
    return Answer(
        min(max(found.noisy_value, 0), most),
        ladder_interval(question, found, most),
        (*question.notes, ("numerics", "exact: whole numbers and an exact sampler")),
    )


def ladder_interval(question: GraphQuestion, found: NoisyLadder, most: int) -> Interval | None:
    """The interval of a number between 0 and `most`; None where the question wants none."""
    if question.interval is None:
        return None
    low, high = (min(max(found.noisy_value + sign * found.reach, 0), most) for sign in (-1, 1))
    return Interval(low, high, float(question.interval), COVERS)


TRIANGLES = GraphStatistic(
    "triangles",
    "the number of triangles: three nodes with all three edges",
    {
        EDGE: GraphMethod(
            "ladder",
            "pure epsilon-DP for edges: a ladder function over the common neighbours of pairs",
            triangles_by_ladder,
            needs_nodes=True,
            least_epsilon=LEAST_EPSILON,
        )
    },
)
