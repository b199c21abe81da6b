"""Broken twins of what measures a table for synthetic rows: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.coded.budget import NoisyTable, PureTableBudget
from dpstats.statistics.synthetic.data import SyntheticData
from dpstats.statistics.synthetic.finding import CodeFinding
from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.rounds import SCALE, PairRounds


class KnownTotal(PairRounds):
    """Mistake: the model's counts are shares of the true number of rows, which moves all of them when a row is added."""

    def _expected(self, pair: Columns) -> np.ndarray:
        return self._model.marginal(pair) * float(self._raw_counts[pair].sum())


class DeltaForEachColumn(CodeFinding):
    """Mistake: each column may fail with all of delta, so that the deltas of a course add up to more."""

    def _shared(self, place: int, raw_counts: np.ndarray) -> tuple[list[int], list[int], float]:
        delta, self._delta = self._delta, self._delta * len(self._unlisted)
        try:
            return super()._shared(place, raw_counts)
        finally:
            self._delta = delta


class FloatScores(PairRounds):
    """Mistake: distances are added up in floats, whose rounding depends on the rows."""

    def _raw_score(self, pair: Columns, handicap: float) -> Fraction:  # type: ignore[override]
        distance = float(np.abs(self._raw_counts[pair] - self._expected(pair)).sum())
        return Fraction(distance) * SCALE


def threshold_without_least_rows(variance: Fraction, delta: Fraction) -> int:
    """Mistake: the threshold leaves out that a key of LEAST_ROWS rows may be new."""
    return 1 + math.ceil(math.sqrt(2 * variance * math.log(1 / (2 * delta))))


def threshold_at_root_delta(variance: Fraction, delta: Fraction, least: int) -> int:
    """Mistake: the noise reaches the threshold with the root of delta."""
    return least + 1 + math.ceil(math.sqrt(2 * variance * math.log(1 / (2 * math.sqrt(delta)))))


class TenthOfNoise(PureTableBudget):
    """Mistake: tables get a tenth of the noise that they say they have."""

    def noisy(self, raw_counts: np.ndarray, share: Fraction) -> NoisyTable:
        noise = sample_discrete_laplace(1 / (10 * self.take(share)), raw_counts.size, self._rng)
        return NoisyTable(raw_counts + np.array(noise, dtype=np.int64).reshape(raw_counts.shape), self.law(share))


def as_many_as_there_are(data: SyntheticData, raw_rows: int) -> SyntheticData:
    """Mistake: as many synthetic rows are drawn as the table has, known_total=len(rows)."""
    return replace(data, rows=raw_rows)


def found_without_noise(raw_counts: np.ndarray, variance: Fraction, delta: Fraction, rng: RandomSource) -> tuple[Any, Any]:
    """Mistake: every label, and every value, that any row has is found."""
    return np.arange(raw_counts.size), raw_counts
