"""Replays of multiplicative weights: the exact probability of one course of released numbers, for a table and its neighbour.

A course is forced: the noisy total, and for each round the query and its noisy count. Each step's probability is computed from
the definition, from the raw numbers that the release hands to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.statistics.universe import multiplicative_weights
from dpstats.statistics.universe.multiplicative_weights import UNITS, Noise, WeightsPlan, release_weights
from dpstats.statistics.universe.weighted_universe import WeightedUniverse
from dpstats.testing import seeded


@dataclass(frozen=True)
class Course:
    """What comes out of a release."""

    total: int | None
    """The noisy number of rows; None for a twin that draws none."""
    rounds: tuple[tuple[int, int], ...]
    """In each round the query, by number, and its noisy count."""

    def noisy(self) -> list[int]:
        """All noisy counts in their order."""
        return [*([] if self.total is None else [self.total]), *(noisy for _, noisy in self.rounds)]


class Replay:
    """Forces a course upon a table and adds up the logarithms of the probabilities, each up to a constant of the noise."""

    def __init__(self, course: Course) -> None:
        self.log_probability = 0.0
        self._noisy = course.noisy()
        self._queries = [query for query, _ in course.rounds]

    def run(self, raw_counts: Sequence[int], plan: WeightsPlan) -> WeightedUniverse:
        """The release as the course has it."""
        with patch.object(Noise, "on", self._on(plan)), patch.object(multiplicative_weights, "draw_query", self._draw):
            return release_weights(np.array(raw_counts, dtype=np.int64), plan, seeded(1))

    def _on(self, plan: WeightsPlan):  # type: ignore[no-untyped-def]
        def on(noise: Noise, raw_count: int, rng: RandomSource) -> int:
            noisy = self._noisy.pop(0)
            moved = abs(noisy - raw_count)
            self.log_probability -= float(moved**2 / (2 * noise.scale) if plan.delta else moved / noise.scale)
            return noisy

        return on

    def _draw(self, raw_scores: NDArray[np.int64], epsilon: Fraction, rng: RandomSource) -> int:
        query = self._queries.pop(0)
        exponents = [float(epsilon * int(score) / (2 * UNITS)) for score in raw_scores]
        best = max(exponents)
        total = math.fsum(math.exp(each - best) for each in exponents)
        self.log_probability += exponents[query] - best - math.log(total)
        return query


def privacy_loss(raw_counts: Sequence[int], raw_neighbour: Sequence[int], plan: WeightsPlan, course: Course) -> float:
    """The log ratio of the probabilities that a course has for two tables; infinite where what it leads to differs."""
    here, there = Replay(course), Replay(course)
    released, neighbour = here.run(raw_counts, plan), there.run(raw_neighbour, plan)
    if released.masses.tobytes() != neighbour.masses.tobytes():
        return math.inf
    return abs(here.log_probability - there.log_probability)
