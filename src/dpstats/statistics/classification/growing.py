"""Growing a decision tree, level by level: splits that are drawn, or chosen by noisy counts, and counts at the leaves.

Claim      Paid for out of shares of a budget: half for the splits, an even part for each level, and half for the leaves
Neighbors  ADD_REMOVE of one row
Why        A row lies in one node of each level, and in one leaf: nodes of a level cost together what one does. A drawn split is
           one exponential mechanism over monotone scores (splits.py). By information gain, as printed, a node releases a noisy
           table of each feature's codes by class, of which a row moves one cell by 1, and splits follow from these. Leaves are
           counts
Numerics   Counts are exact, draws and noise too
Source     classifiers.proof.md; Blum, Dwork, McSherry & Nissim 2005 (ID3 by noisy counts)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.classification.finding import FoundFeatures
from dpstats.statistics.classification.noise import Budget, noisy_sums
from dpstats.statistics.classification.splits import NodeSplit, divides, draw_split, full_split, possible_splits
from dpstats.statistics.classification.tree import TreeNode, TreeShape
from dpstats.statistics.coded.budget import ConcentratedTableBudget
from dpstats.statistics.likelihood.logarithms import log_of

Floats = NDArray[np.float64]
RawCodes = NDArray[np.signedinteger]
Whole = NDArray[np.int64]

MOST_DEPTH = 6
ENOUGH_NATS = 30.0
"""Rows of a node times the epsilon of a draw, about, from which on a split is worth drawing."""
SPLIT_SHARE = Fraction(1, 2)
"""What splits take of a tree's share."""
MOST_BRANCHES = 8
"""Branches of a split of ID3: codes beyond these share one with their neighbours."""
MOST_ID3_DEPTH = 3


@dataclass(frozen=True, eq=False)
class GrownTree:
    """The splits of a tree, its leaves' noisy counts of classes, and the standard deviation of their noise."""

    shape: TreeShape
    counts: Floats
    error: float


@dataclass(frozen=True)
class NodeCounts:
    """For each leaf of a growing tree and each feature, rows by code and class. The class is the last column."""

    shape: TreeShape
    leaves: int
    sizes: tuple[int, ...]
    classes: int

    def __call__(self, raw_codes: RawCodes) -> Whole:
        """The counts of some rows, one feature after the other."""
        raw_leaves, raw_classes = self.shape.leaf_of(raw_codes), raw_codes[:, -1].astype(np.int64)
        raw_counts = []
        for place, size in enumerate(self.sizes):
            raw_cells = (raw_leaves * size + raw_codes[:, place]) * self.classes + raw_classes
            raw_counts.append(np.bincount(raw_cells, minlength=self.leaves * size * self.classes))
        return np.concatenate(raw_counts).astype(np.int64)

    def by_leaf(self, sums: Sequence[int]) -> list[list[Whole]]:
        """For each leaf the table of each feature."""
        tables, start = [], 0
        for size in self.sizes:
            end = start + self.leaves * size * self.classes
            tables.append(np.array(sums[start:end], dtype=np.int64).reshape(self.leaves, size, self.classes))
            start = end
        return [[table[leaf] for table in tables] for leaf in range(self.leaves)]


@dataclass(frozen=True)
class LeafCounts:
    """For each leaf of a tree rows by class. The class is the last column."""

    shape: TreeShape
    leaves: int
    classes: int

    def __call__(self, raw_codes: RawCodes) -> Whole:
        """The counts of some rows."""
        raw_cells = self.shape.leaf_of(raw_codes) * self.classes + raw_codes[:, -1]
        return np.bincount(raw_cells, minlength=self.leaves * self.classes).astype(np.int64)


def depth_for(rows: float, budget: Budget, share: Fraction) -> int:
    """How deep a tree is, by a public rule on the released number of rows."""
    depths = range(1, MOST_DEPTH + 1)
    return max([1, *(depth for depth in depths if rows / 2**depth * _draw_size(budget, share, depth) >= ENOUGH_NATS)])


def _draw_size(budget: Budget, share: Fraction, depth: int) -> float:
    """About the epsilon of a draw, by the noise that its share would buy."""
    law = budget.law(share * SPLIT_SHARE / depth)
    return math.sqrt((4.0 if isinstance(budget, ConcentratedTableBudget) else 2.0) / law.variance)


def grown(
    table: CodedTable, found: FoundFeatures, budget: Budget, share: Fraction, rng: RandomSource, *, by_gain: bool = False
) -> GrownTree:
    """Spend a share on a tree: its splits, and for each leaf noisy counts of the classes."""
    sizes, classes = tuple(feature.size for feature in found.features), len(found.classes)
    depth = depth_for(found.rows, budget, share)
    depth = min(depth, MOST_ID3_DEPTH, len(sizes)) if by_gain else depth
    splits = possible_splits(found.features)
    ways = [full_split(place, counts, MOST_BRANCHES) for place, counts in enumerate(found.counts)]
    shape, leaves = TreeShape(TreeNode()), 1
    level_share = share * SPLIT_SHARE / depth
    for _ in range(depth if splits else 0):
        counts = NodeCounts(shape, leaves, sizes, classes)
        raw_sums = table.code_sums(found.codings, counts)
        if by_gain:
            noisy, _ = noisy_sums(raw_sums, len(sizes), budget, level_share, rng)  # a row adds 1 for each feature
            chosen = [_best_gain(tables, ways, used) for tables, used in zip(counts.by_leaf(noisy), _used(shape), strict=True)]
        else:
            epsilon = budget.draw_epsilon(level_share)  # once: a row lies in one of the nodes
            open_splits = [[each for each in splits if divides(each, codes)] for codes in _possible(shape, sizes)]
            chosen = [
                draw_split(raw_tables, possible, epsilon, rng) if possible else None
                for raw_tables, possible in zip(counts.by_leaf(raw_sums), open_splits, strict=True)
            ]
        shape, leaves = _with_splits(shape, chosen)
    raw_leaves = table.code_sums(found.codings, LeafCounts(shape, leaves, classes))
    noisy, variance = noisy_sums(raw_leaves, 1, budget, share * (1 - SPLIT_SHARE), rng)
    return GrownTree(shape, np.array(noisy, dtype=np.float64).reshape(leaves, classes), variance**0.5)


def _with_splits(shape: TreeShape, chosen: Sequence[NodeSplit | None]) -> tuple[TreeShape, int]:
    """The tree whose leaves are split, each by its own split if it has one, and how many leaves it has."""
    numbers = iter(range(1 << 30))

    def rebuilt(node: TreeNode) -> TreeNode:
        if node.split is not None:
            return TreeNode(node.split, tuple(rebuilt(child) for child in node.children))
        split = chosen[node.number]
        if split is None:
            return TreeNode(number=next(numbers))
        return TreeNode(split, tuple(TreeNode(number=next(numbers)) for _ in range(split.ways)))

    root = rebuilt(shape.root)
    return TreeShape(root), sum(1 for _ in root.leaves())


def _possible(shape: TreeShape, sizes: Sequence[int]) -> list[list[set[int]]]:
    """For each leaf and each feature the codes that a row there can have, by the splits above."""

    def below(node: TreeNode, codes: list[set[int]]) -> list[list[set[int]]]:
        if node.split is None:
            return [codes]
        found = []
        for branch, child in enumerate(node.children):
            own = {code for code in codes[node.split.feature] if node.split.branches[code] == branch}
            found += below(child, [own if place == node.split.feature else each for place, each in enumerate(codes)])
        return found

    return below(shape.root, [{*range(size)} for size in sizes])


def _used(shape: TreeShape) -> list[set[int]]:
    """For each leaf the features that its row has been asked about."""

    def below(node: TreeNode, used: set[int]) -> list[set[int]]:
        if node.split is None:
            return [used]
        return [each for child in node.children for each in below(child, {*used, node.split.feature})]

    return below(shape.root, set())


def _best_gain(tables: Sequence[Whole], splits: Sequence[NodeSplit], used: set[int]) -> NodeSplit | None:
    """The split by all codes of the feature that tells most about the class, by noisy counts; None where none is left."""
    left = [split for split in splits if split.feature not in used and split.ways > 1]
    if not left:
        return None
    gains = []
    for split in left:
        branches, table = np.array(split.branches), tables[split.feature]
        counts = np.array([table[branches == branch].sum(axis=0) for branch in range(split.ways)], dtype=np.float64)
        gains.append(_information(np.maximum(counts, 0.0)))
    return left[gains.index(max(gains))]


def _information(counts: Floats) -> float:
    """Minus the conditional entropy of the class given the code, times the rows: the largest is the largest information gain."""
    totals = counts.sum(axis=1)
    cells = counts * log_of(np.where(counts > 0, counts, 1.0))
    rows = totals * log_of(np.where(totals > 0, totals, 1.0))
    share = counts.sum() or 1.0
    return float((cells.sum(axis=1) - rows).sum() / share)
