"""Broken twins of classifiers: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.classification.residuals import SCALE, ResidualSum
from dpstats.statistics.classification.splits import NodeSplit


def information_gains(raw_tables: Sequence[NDArray[np.int64]], splits: Sequence[NodeSplit]) -> list[Fraction]:
    """Scores of splits for weights exp(epsilon * score). Mistake: information gain is taken for a monotone score that a row moves
    by 1 at most; a row may raise the gain of one split and lower that of another, each by more than 1."""
    gains = []
    for split in splits:
        raw_table, branches = raw_tables[split.feature], np.array(split.branches)
        sides = [raw_table[branches == branch].sum(axis=0).tolist() for branch in range(split.ways)]
        whole = [sum(column) for column in zip(*sides, strict=True)]
        gains.append(Fraction(_entropy(whole) - sum(map(_entropy, sides))))
    return gains


def _entropy(counts: Sequence[int]) -> float:
    """Rows times the entropy of their classes, in bits."""
    total = sum(counts)
    return -sum(count * math.log2(count / total) for count in counts if count)


class RoundedLast(ResidualSum):
    """Mistake: residuals are added up as floats, and only their sums are rounded and cut, to what whole numbers could be."""

    def __call__(self, raw_codes: NDArray[np.signedinteger]) -> NDArray[np.int64]:
        raw_left = (raw_codes[:, -1] - self.margins.probabilities(raw_codes)[0]).astype(np.float32)
        raw_sums = np.zeros(self.size, dtype=np.float32)
        np.add.at(raw_sums, raw_codes[:, self.place], raw_left)
        return np.rint(raw_sums.astype(np.float64) * SCALE).astype(np.int64)
