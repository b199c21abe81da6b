"""Rounds: which tables of two columns to measure, chosen a few at a time by how far a model is from the rows.

Claim      Everything is paid for out of shares of a budget (coded/budget.py): one share for each draw, one for each noisy table
Neighbors  ADD_REMOVE of one row
Why        The score of a pair is the distance in l1 norm between its counts and those of the model, in whole numbers of 1 / SCALE
           of a row, less a public handicap. The model's counts are released numbers, rounded once: the same on both sides. A row
           moves one count by 1, and so the score by at most SCALE. Each draw is an exponential mechanism over the pairs that
           are still possible, which depends on earlier draws and on sizes alone
Numerics   Scores are whole numbers; draws and noise are exact. The model is fitted in floats, which only see released numbers
Source     synthesis.proof.md; McKenna, Mullins, Sheldon & Miklau 2022 (AIM), whose rounds choose one table each
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.exponential import choose, score_weights
from dpstats.statistics.coded.budget import NoiseLaw, NoisyTable, TableBudget
from dpstats.statistics.synthetic.graphical_model import GraphicalModel, Measured
from dpstats.statistics.synthetic.junction_tree import Columns, cells_of, model_cells

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SCALE = 1 << 20
"""Parts of a row in which scores are counted."""
MOST_ROWS = 1 << 40
"""More rows than any table has: sums of scores stay below 2**62."""
MOST_CELLS = 200_000
"""Cells of the model's cliques together."""
FIRST_LIMIT = 0.25
"""The part of MOST_CELLS that the model may have in the first round; it grows with what is spent."""
HANDICAP = 0.5
"""What a pair's score is less by: this part of the mean size of the noise that its table would get, for each cell."""
ITERATIONS = 60
MORE_PURE, MORE_CONCENTRATED = 2, 2
"""How many times as much later tables get where those of one round told no more than noise does."""
MANY_ROWS, FEW_ROWS = 400.0, 100.0
"""Rows, in mean sizes of the noise that a table gets in six rounds, from which on there are six rounds; and below which two."""


@dataclass(frozen=True)
class MeasuredPair:
    """A table of two columns that was measured."""

    columns: Columns
    noisy: NoisyTable

    def measured(self) -> Measured:
        """The table as a model is fitted to it."""
        return Measured(self.columns, self.noisy.noisy_counts, self.noisy.law.variance)


class PairRounds:
    """Measures tables of pairs of columns, and keeps a model that is fitted to them."""

    def __init__(
        self,
        raw_counts: dict[Columns, Integers],
        sizes: Sequence[int],
        singles: Sequence[Measured],
        rows: float,
        ordered: Mapping[int, int],
    ) -> None:
        """`raw_counts` has all pairs; `singles` are the tables of one column that were measured before.

        `ordered` says how many codes of a column stand in order (see `GraphicalModel`).
        """
        self._raw_counts = raw_counts
        self._sizes = tuple(sizes)
        self._singles = list(singles)
        self._rows = min(rows, float(MOST_ROWS))
        self._found: list[MeasuredPair] = []
        self._model = GraphicalModel(self._sizes, ordered=ordered).fitted(self._singles, self._rows, ITERATIONS)

    def run(
        self,
        budget: TableBudget,
        choose_share: Fraction,
        measure_share: Fraction,
        focus: Sequence[Columns],
        rng: RandomSource,
        most_rounds: int = 6,
    ) -> tuple[MeasuredPair, ...]:
        """Spend both shares: first on the pairs of `focus`, then on pairs that are chosen."""
        at_once = math.ceil(len(self._sizes) / 2)
        rounds = self._rounds(budget, measure_share / (6 * at_once), most_rounds)
        tables = rounds * at_once + len(focus)
        measure, draw = measure_share / tables, choose_share / (rounds * at_once)
        left, left_to_draw = measure_share, choose_share
        if focus:
            self._measure(focus, measure, budget)
            self._fit()
            left -= measure * len(focus)
        while left > 0:
            picks = min(at_once, max(1, int(left / measure)))
            is_last = left < measure * (picks + max(1, at_once // 2))
            if is_last:
                measure, draw = left / picks, left_to_draw / picks
            left, left_to_draw = left - measure * picks, left_to_draw - draw * picks
            limit = MOST_CELLS * (FIRST_LIMIT + (1 - FIRST_LIMIT) * float(1 - left / measure_share))
            pairs = self._choose(picks, budget, draw, HANDICAP * mean_size(budget.law(measure)), int(limit), rng)
            before = [self._expected(pair) for pair in pairs]
            self._measure(pairs, measure, budget)
            if is_last or not pairs:
                break
            self._fit()
            if self._gain(pairs, before, budget.law(measure)) < 1:
                times = MORE_CONCENTRATED if budget.is_concentrated else MORE_PURE
                measure, draw = min(measure * times, left), min(draw * times, left_to_draw)
        return tuple(self._found)

    def _rounds(self, budget: TableBudget, share: Fraction, most: int) -> int:
        """How many rounds, by a public rule: fewer where rows are few beside the noise, and four at most without delta."""
        strength = self._rows / mean_size(budget.law(share))
        return min(most, 6 if strength >= MANY_ROWS and budget.is_concentrated else 4 if strength >= FEW_ROWS else 2)

    def _choose(
        self, picks: int, budget: TableBudget, share: Fraction, handicap: float, limit: int, rng: RandomSource
    ) -> list[Columns]:
        """Draw pairs, one after the other; those that would make the model too large are left out."""
        pairs = list(combinations(range(len(self._sizes)), 2))
        raw_scores = {pair: self._raw_score(pair, handicap) for pair in pairs}
        found: list[Columns] = []
        for _ in range(picks):
            possible = [pair for pair in pairs if pair not in found and self._fits([*found, pair], limit)]
            if not possible:
                break
            weights = score_weights([Fraction(raw_scores[pair]) for pair in possible], budget.draw_epsilon(share) / (2 * SCALE))
            found.append(possible[choose(weights, rng)])
        return found

    def _raw_score(self, pair: Columns, handicap: float) -> int:
        """The distance between the counts of a pair and those of the model, in 1 / SCALE of a row, less a public handicap."""
        expected = np.rint(self._expected(pair) * SCALE).astype(np.int64)
        raw_distance = int(np.abs(self._raw_counts[pair] * SCALE - expected).sum())
        return raw_distance - round(handicap * SCALE) * expected.size

    def _expected(self, pair: Columns) -> Floats:
        """The counts of a pair by the model."""
        return self._model.marginal(pair) * self._rows

    def _fits(self, more: Sequence[Columns], limit: int) -> bool:
        """Whether the model with some more pairs has no more cells than it may."""
        return model_cells(self._sizes, [*self._model.cliques, *more], limit) <= limit

    def _measure(self, pairs: Sequence[Columns], share: Fraction, budget: TableBudget) -> None:
        self._found += [MeasuredPair(pair, budget.noisy(self._raw_counts[pair], share)) for pair in pairs]

    def _fit(self) -> None:
        measured = [*self._singles, *(table.measured() for table in self._found)]
        self._model = self._model.fitted(measured, self._rows, ITERATIONS)

    def _gain(self, pairs: Sequence[Columns], before: Sequence[Floats], law: NoiseLaw) -> float:
        """By how much the measured tables have moved the model, where 1 is what noise alone does."""
        gains = [
            float(np.abs(self._expected(pair) - old).sum()) / (mean_size(law) * cells_of(self._sizes, pair))
            for pair, old in zip(pairs, before, strict=True)
        ]
        return math.fsum(gains) / len(gains)


def mean_size(law: NoiseLaw) -> float:
    """About the mean size of noise."""
    return 0.75 * math.sqrt(law.variance)
