"""Rounds: which tables of two columns to measure, chosen a few at a time by how far the model is from the rows.

Claim      k draws at epsilon_s each, and k noisy tables, out of the shares of a budget (coded/budget.py)
Neighbors  ADD_REMOVE of one row
Why        The score of a pair is the distance in l1 norm between its counts and those of the model, in whole numbers of 1 / SCALE
           of a row, less a public handicap. The model's counts are released numbers, rounded once: the same on both sides. A row
           moves one count by 1, and so the score by at most SCALE. Each draw is an exponential mechanism over the pairs that
           are still possible, which depends on earlier draws and on sizes alone
Numerics   Scores are whole numbers; draws and noise are exact. The model is fitted in floats, which only see released numbers
Source     ../coded/tables.proof.md; McKenna, Mullins, Sheldon & Miklau 2022 (AIM), whose rounds choose one table each
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.exponential import choose, score_weights
from dpstats.statistics.coded.budget import NoiseLaw, TableBudget
from dpstats.statistics.synthetic.graphical_model import GraphicalModel, Measured
from dpstats.statistics.synthetic.junction_tree import Columns, cells_of, model_cells

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALE = 1 << 20
ROUNDS = 6
MOST_CELLS = 60_000
FIRST_LIMIT = 0.25
"""The part of MOST_CELLS that the model may have in the first round; it grows with what is spent."""
NOISE = 0.0
HANDICAP, AGAIN = 1.0, True
ITERATIONS, LAST_ITERATIONS = 60, 300
MORE = {True: 2, False: 4}
"""How many times as much the tables of later rounds get where those of one told little; by whether the noise is Laplace's."""


@dataclass(frozen=True)
class Chosen:
    """A table that was measured, and the law of its noise."""

    columns: Columns
    noisy_counts: Integers
    law: NoiseLaw


@dataclass(frozen=True)
class Synthesis:
    """A model, about how many rows there are, and what was measured for it."""

    model: GraphicalModel
    rows: float
    chosen: tuple[Chosen, ...]


class PairRounds:
    """Measures tables of pairs of columns, and fits the model to them."""

    def __init__(
        self, pair_counts: dict[Columns, Integers], sizes: Sequence[int], start: Sequence[Measured], rows: float, pure: bool
    ) -> None:
        self._raw_counts = pair_counts
        self._sizes = tuple(sizes)
        self._measured = list(start)
        self._rows = max(rows, 1.0)
        self._pure = pure
        self._chosen: list[Chosen] = []
        self._cliques: list[Columns] = []
        self.model = GraphicalModel(self._sizes).fitted(self._measured, self._rows, ITERATIONS)

    def run(self, budget: TableBudget, choose_share: Fraction, measure_share: Fraction, focus: Sequence[Columns], rng: RandomSource) -> Synthesis:
        """Spend both shares: first on the pairs of `focus`, then on pairs that are chosen."""
        pairs = list(combinations(range(len(self._sizes)), 2))
        if pairs:
            at_once = math.ceil(len(self._sizes) / 2)
            total = ROUNDS * at_once + len(focus)
            each_measure, each_choose = measure_share / total, choose_share / total
            left_measure, left_choose = measure_share, choose_share
            if focus:
                self._measure(focus, [each_measure] * len(focus), budget)
                left_measure -= each_measure * len(focus)
                self._fit(ITERATIONS)
            while left_measure >= each_measure:
                picks = min(at_once, int(left_measure / each_measure))
                last = left_measure < each_measure * (picks + max(1, at_once // 2))
                if last:
                    each_measure, each_choose = left_measure / picks, left_choose / picks
                limit = MOST_CELLS * (FIRST_LIMIT + (1 - FIRST_LIMIT) * float(1 - (left_measure - picks * each_measure) / measure_share))
                found = self._choose(pairs, picks, budget, each_choose, each_measure, limit, rng)
                gain = self._measure(found, [each_measure] * len(found), budget)
                left_measure -= each_measure * picks
                left_choose -= each_choose * picks
                self._fit(LAST_ITERATIONS if last else ITERATIONS)
                if last:
                    break
                if self._gain(found, gain, budget.law(each_measure)) < 1:
                    each_measure, each_choose = (min(each * MORE[self._pure], left) for each, left in ((each_measure, left_measure), (each_choose, left_choose)))
        return Synthesis(self.model, self._rows, tuple(self._chosen))

    def _choose(
        self, pairs: Sequence[Columns], picks: int, budget: TableBudget, choose_share: Fraction, measure_share: Fraction, limit: float, rng: RandomSource
    ) -> list[Columns]:
        """Draw pairs, one after the other, by how far the model is from them; those that would make it too large are left out."""
        handicap = HANDICAP * mean_size(budget.law(measure_share))
        raw_scores = {pair: self._raw_score(pair, handicap) for pair in pairs}
        found: list[Columns] = []
        for _ in range(picks):
            fitting = [pair for pair in pairs if pair not in found and (AGAIN or pair not in self._cliques) and self._fits([*found, pair], limit)]
            if not fitting:
                break
            epsilon = budget.draw_epsilon(choose_share)
            rate = epsilon / (2 * SCALE)
            found.append(fitting[choose(score_weights([Fraction(raw_scores[pair]) for pair in fitting], rate), rng)])
        return found

    def _raw_score(self, pair: Columns, handicap: float) -> int:
        """The distance between the counts of a pair and those of the model, in 1 / SCALE of a row, less a public handicap."""
        expected = np.rint(self.model.marginal(pair) * (self._rows * SCALE)).astype(np.int64)
        raw_distance = int(np.abs(self._raw_counts[pair] * SCALE - expected).sum())
        return raw_distance - round(handicap * SCALE) * expected.size

    def _fits(self, more: Sequence[Columns], limit: float) -> bool:
        """Whether the model with some more pairs has no more cells than it may."""
        if all(self.model.tree.home(pair) is not None for pair in more):
            return True
        return model_cells(self._sizes, [*self._cliques, *more], int(limit)) <= limit

    def _measure(self, pairs: Sequence[Columns], shares: Sequence[Fraction], budget: TableBudget) -> list[Floats]:
        """Measure tables; what the model said of them before."""
        before = [self.model.marginal(pair) * self._rows for pair in pairs]
        for pair, share in zip(pairs, shares, strict=True):
            noisy = budget.noisy(self._raw_counts[pair], share)
            self._chosen.append(Chosen(pair, noisy.noisy_counts, noisy.law))
            self._measured.append(Measured(pair, noisy.noisy_counts, noisy.law.variance))
            self._cliques.append(pair)
        return before

    def _fit(self, iterations: int) -> None:
        self.model = self.model.grown(self._cliques).fitted(self._measured, self._rows, iterations, NOISE)

    def _gain(self, pairs: Sequence[Columns], before: Sequence[Floats], law: NoiseLaw) -> float:
        """By how much the measured tables have moved the model, where 1 is what noise alone does."""
        gains = [
            float(np.abs(self.model.marginal(pair) * self._rows - old).sum()) / (mean_size(law) * cells_of(self._sizes, pair))
            for pair, old in zip(pairs, before, strict=True)
        ]
        return sum(gains) / len(gains) if gains else 0.0


def mean_size(law: NoiseLaw) -> float:
    """About the mean size of noise."""
    return math.sqrt(law.variance) * 0.75
