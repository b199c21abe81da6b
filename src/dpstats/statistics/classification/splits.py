"""Splits of a decision tree: which questions about a row a node may ask, and which of them is drawn.

A split of numbers asks whether the code is at most some code, one of labels whether it is some code; cells without a number go
with the codes above. The score of a split is how many rows of its node have the commonest class of their side: adding a row
raises the score of every split by 0 or 1, and lowers none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.exponential import choose, score_weights
from dpstats.statistics.classification.features import CodedFeature

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class NodeSplit:
    """A question about one feature: for each of its codes the number of the branch that rows with it take."""

    feature: int
    branches: tuple[int, ...]

    @property
    def ways(self) -> int:
        """How many branches there are."""
        return max(self.branches) + 1


def possible_splits(features: Sequence[CodedFeature]) -> list[NodeSplit]:
    """All splits in two, from the codes alone."""
    found = []
    for place, feature in enumerate(features):
        codes = range(feature.size)
        ordered = feature.ordered if feature.ordered > 1 else 0
        groups = [{*range(last + 1)} for last in range(ordered - 1)] if ordered else [{code} for code in codes]
        found += [
            NodeSplit(place, tuple(int(code not in group) for code in codes)) for group in groups if len(group) < len(codes)
        ]
    return found


def full_split(place: int, counts: NDArray[np.float64], most: int) -> NodeSplit:
    """The split of a feature by all its codes; beyond `most` branches neighbours share one, by released counts."""
    if len(counts) <= most:
        return NodeSplit(place, tuple(range(len(counts))))
    before = np.add.accumulate(counts) - counts / 2
    branches = np.minimum((before / counts.sum() * most).astype(np.int64), most - 1)
    return NodeSplit(place, tuple(np.searchsorted(np.unique(branches), branches).tolist()))


def divides(split: NodeSplit, codes: Sequence[set[int]]) -> bool:
    """Whether rows with some of these codes, a set for each feature, can take different branches."""
    return len({split.branches[code] for code in codes[split.feature]}) > 1


def agreement_scores(raw_tables: Sequence[Whole], splits: Sequence[NodeSplit]) -> list[int]:
    """How many rows of a node have the commonest class of their side, for each split.

    `raw_tables` has for each feature the rows of the node by code and class.
    """
    raw_scores = []
    for split in splits:
        raw_table, branches = raw_tables[split.feature], np.array(split.branches)
        raw_scores.append(sum(int(raw_table[branches == branch].sum(axis=0).max()) for branch in range(split.ways)))
    return raw_scores


def draw_split(raw_tables: Sequence[Whole], splits: Sequence[NodeSplit], epsilon: Fraction, rng: RandomSource) -> NodeSplit:
    """One split, with weight exp(epsilon * score): all scores move in one direction, so that this costs epsilon."""
    raw_scores = agreement_scores(raw_tables, splits)
    return splits[choose(score_weights([Fraction(score) for score in raw_scores], epsilon), rng)]
