"""Broken twins of what measures a table for synthetic rows: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.rounds import SCALE, PairRounds


class KnownTotal(PairRounds):
    """Mistake: the model's counts are shares of the true number of rows, which moves all of them when a row is added."""

    def _expected(self, pair: Columns) -> np.ndarray:
        return self._model.marginal(pair) * float(self._raw_counts[pair].sum())


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
