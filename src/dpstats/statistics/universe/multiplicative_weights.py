"""Multiplicative weights with the exponential mechanism (MWEM): the queries that fit worst are measured, round by round.

Claim      epsilon-DP; with a delta (epsilon, delta)-DP, by way of rho-zCDP
Neighbors  ADD_REMOVE, the number of rows is private; CHANGE_ONE at the same price
Why        A noisy total; in each round a draw of the query whose count the weights miss most, and a noisy count of it. One row
           moves every count by at most 1, and what the weights say is a function of released numbers alone, so it moves every
           score by at most UNITS, and a count by 1. Shares of the budget add up. All weights are post-processing
Numerics   Scores are whole numbers: |UNITS * count - a whole number from released ones|. Draws and noise are exact. For tables
           below 2**42 rows
Source     Hardt, Ligett & McSherry 2012; multiplicative_weights.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import sqrt_bounds
from dpstats.foundations.text_tables import counted
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.mechanisms.exponential import choose
from dpstats.mechanisms.gaussian import sample_discrete_gaussian
from dpstats.statistics.universe.loss_weights import loss_weights
from dpstats.statistics.universe.universe import Universe
from dpstats.statistics.universe.weighted_universe import (
    Measurement,
    MultiplicativeWeights,
    WeightedUniverse,
    mass_units,
    share_of,
)
from dpstats.statistics.universe.workload import Workload

UNITS = 1 << 20
"""Scores are counted in so many parts of a row."""
FEWEST_ROUNDS, MOST_ROUNDS = 10, 200
TOTAL_SHARE = Fraction(1, 20)
"""The part of the budget for the number of rows. Each round has an equal part of the rest: half to choose, half to measure."""

_MOST_ROWS = 1 << 40


@dataclass(frozen=True)
class Noise:
    """Discrete noise on a count."""

    scale: Fraction
    """Of Laplace noise its scale, of Gaussian noise its variance."""
    gaussian: bool

    def on(self, raw_count: int, rng: RandomSource) -> int:
        """The noisy count."""
        sample = sample_discrete_gaussian if self.gaussian else sample_discrete_laplace
        return raw_count + int(sample(self.scale, 1, rng)[0])

    @cached_property
    def deviation(self) -> float:
        """About its standard deviation."""
        return math.sqrt(self.scale if self.gaussian else 2 * self.scale**2)


@dataclass(frozen=True)
class WeightsPlan:
    """All that is public about one release; `weights_plan` checks it."""

    workload: Workload
    epsilon: Fraction
    delta: Fraction
    rounds: int
    average: bool

    @cached_property
    def whole(self) -> Fraction:
        """What is shared out: epsilon, or with a delta the rho that amounts to both."""
        return zcdp_within(self.epsilon, self.delta) if self.delta else self.epsilon

    @cached_property
    def round_share(self) -> Fraction:
        """The part of the whole for one choice, or for one measurement."""
        return (1 - TOTAL_SHARE) / (2 * self.rounds)

    @cached_property
    def choice_epsilon(self) -> Fraction:
        """The epsilon of each choice: a draw at epsilon costs epsilon, or epsilon**2 / 8 in rho."""
        part = self.whole * self.round_share
        return sqrt_bounds(8 * part)[0] if self.delta else part

    def noise(self, share: Fraction) -> Noise:
        """What a share buys on a count that a row moves by 1."""
        part = self.whole * share
        return Noise(1 / (2 * part), True) if self.delta else Noise(1 / part, False)

    def notes(self) -> tuple[tuple[str, str], ...]:
        """Lines for the card."""
        kind = "Gaussian" if self.delta else "Laplace"
        measured, total = self.noise(self.round_share).deviation, self.noise(TOTAL_SHARE).deviation
        rounds = "round" if self.rounds == 1 else "rounds"
        return (
            (
                "queries",
                f"all {counted(self.workload.queries, 'cell')} of marginal tables of {counted(self.workload.ways, 'column')}",
            ),
            ("rounds", f"{self.rounds} {rounds}; in each, one query is chosen and counted; weights {self._which()}"),
            ("noise", f"discrete {kind}, standard deviation {measured:.4g} on each count, {total:.4g} on the number of rows"),
            ("not covered", "queries that were not measured carry no interval"),
        )

    def _which(self) -> str:
        return "averaged over rounds" if self.average else "after the last one"


def weights_plan(
    universe: Universe,
    *,
    ways: int,
    epsilon: Fraction,
    delta: Fraction = Fraction(0),
    rounds: int | None = None,
    average: bool = False,
) -> WeightsPlan:
    """What will be measured, checked; `rounds` are `default_rounds` unless given."""
    if rounds is None:
        rounds = default_rounds(len(universe.columns), delta)
    if type(rounds) is not int or not 1 <= rounds <= MOST_ROUNDS:
        raise InvalidParameterError(f"rounds must be a whole number from 1 to {MOST_ROUNDS}, got {rounds}.")
    return WeightsPlan(Workload(universe, ways), epsilon, delta, rounds, average)


def default_rounds(columns: int, delta: Fraction) -> int:
    """Two for each column, because the weights must learn every column before they can learn what goes together; at least 10.

    With a delta noise grows with the root of the number of rounds only, and there are twice as many.
    """
    return min(max(FEWEST_ROUNDS, (4 if delta else 2) * columns), MOST_ROUNDS)


def release_weights(raw_counts: NDArray[np.int64], plan: WeightsPlan, rng: RandomSource) -> WeightedUniverse:
    """Weights of all cells, from the number of rows in each."""
    workload, universe = plan.workload, plan.workload.universe
    raw_answers = workload.answers(universe.checked_counts(raw_counts))
    total_noise, noise = plan.noise(TOTAL_SHARE), plan.noise(plan.round_share)
    noisy_total = min(max(1, total_noise.on(int(raw_counts.sum()), rng)), _MOST_ROWS)
    weights, measured = MultiplicativeWeights(universe.cells), []
    for _ in range(plan.rounds):
        raw_scores = np.abs(UNITS * raw_answers - said(weights, workload, noisy_total))
        query = draw_query(raw_scores, plan.choice_epsilon, rng)
        noisy = noise.on(int(raw_answers[query]), rng)
        weights.learn(workload.inside(query), share_of(noisy, noisy_total))
        measured.append(Measurement(*workload.query(query), noisy))
    return WeightedUniverse(universe, noisy_total, tuple(measured), noise.deviation, total_noise.deviation, average=plan.average)


def said(weights: MultiplicativeWeights, workload: Workload, noisy_total: int) -> NDArray[np.int64]:
    """What the weights say to each query, in whole parts of a row."""
    masses = mass_units(weights.cell_weights())
    shares = workload.answers(masses) / int(masses.sum())
    return np.rint(shares * float(UNITS * noisy_total)).astype(np.int64)


def draw_query(raw_scores: NDArray[np.int64], epsilon: Fraction, rng: RandomSource) -> int:
    """A query, with probability proportional to exp(epsilon * score / (2 * UNITS)), exactly."""
    raw_losses = raw_scores.max() - raw_scores
    return choose(loss_weights(raw_losses.tolist(), epsilon / (2 * UNITS)), rng)
