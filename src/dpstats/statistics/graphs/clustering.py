"""The clustering coefficient of a graph, for the privacy of an edge: three times the triangles over the 2-stars.

Claim      epsilon-DP
Neighbors  EDGE: one edge added or removed, the nodes are public
Why        Half of epsilon releases the triangles, the other half the 2-stars; all else is made of these two numbers
Numerics   Whole numbers, exact noise; the ratio is rounded after the release
No reply   Where the 2-stars are not told from none; a function of what was released
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Refusal
from dpstats.foundations.results import Interval
from dpstats.foundations.simple_graphs import SimpleGraph
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.ladder_functions import LEAST_EPSILON
from dpstats.statistics.graphs.common_neighbors import common_neighbors
from dpstats.statistics.graphs.questions import EDGE, GraphMethod, GraphQuestion, GraphStatistic
from dpstats.statistics.graphs.stars import draw_stars
from dpstats.statistics.graphs.triangles import COVERS, draw_triangles

_LEAVES = 2
NO_STARS = Refusal(
    "There may be no two edges that meet: the noisy number of 2-stars is not above the noise.",
    "The cost is spent; ask with a larger epsilon.",
)


@dataclass(frozen=True)
class Clustering:
    """Which part of the 2-stars is closed to a triangle, and the two released numbers behind it."""

    estimate: float
    triangles: int
    two_stars: int

    def __float__(self) -> float:
        return self.estimate

    def __str__(self) -> str:
        return f"{self.estimate:.6g} (3 * {counted(self.triangles, 'triangle')} / {counted(self.two_stars, '2-star')})"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"estimate": self.estimate, "triangles": self.triangles, "two_stars": self.two_stars}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Clustering:
        """What `to_dict` wrote."""
        return cls(**plain)


def clustering_by_ladders(graph: SimpleGraph, question: GraphQuestion, rng: RandomSource) -> Outcome:
    """The coefficient with its interval, from two releases."""
    half, failure = question.epsilon / 2, question.failure / 2
    corners = draw_triangles(common_neighbors(graph), half, failure, rng)
    stars = draw_stars(graph, _LEAVES, half, failure, rng)
    if stars.noisy_value <= stars.reach:
        return NO_STARS
    triangles = min(max(corners.noisy_value, 0), math.comb(graph.size, 3))
    estimate = float(min(Fraction(3 * triangles, stars.noisy_value), Fraction(1)))
    low = Fraction(3 * max(corners.noisy_value - corners.reach, 0), stars.noisy_value + stars.reach)
    high = Fraction(3 * max(corners.noisy_value + corners.reach, 0), stars.noisy_value - stars.reach)
    interval = None
    if question.interval is not None:
        ends = float(min(low, Fraction(1))), float(min(high, Fraction(1)))
        interval = Interval(*ends, float(question.interval), COVERS, "the coefficient")
    notes = (*question.notes, ("numerics", "triangles and 2-stars are exact draws; the ratio is rounded afterwards"))
    return Answer(Clustering(estimate, triangles, stars.noisy_value), interval, notes)


CLUSTERING = GraphStatistic(
    "clustering_coefficient",
    "the global clustering coefficient: which part of all pairs of edges that meet is closed to a triangle",
    {
        EDGE: GraphMethod(
            "ladders",
            "pure epsilon-DP for edges: triangles and 2-stars, each by a ladder function at half of epsilon",
            clustering_by_ladders,
            needs_nodes=True,
            least_epsilon=2 * LEAST_EPSILON,
        )
    },
    revive=Clustering.from_dict,
)
