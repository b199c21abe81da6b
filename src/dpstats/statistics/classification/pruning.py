"""Pruning: leaves of a released tree that tell no more than noise become one. Nothing here sees rows."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.classification.tree import TreeNode, TreeShape

Floats = NDArray[np.float64]

TOLD_APART = 2.0
"""Standard deviations by which the parts of a class in two leaves must differ to be told apart."""


def pruned(shape: TreeShape, counts: Floats, error: float) -> tuple[TreeShape, Floats]:
    """The tree without splits whose leaves cannot be told apart, and the counts of its leaves; `error` is the noise in each."""

    def below(node: TreeNode) -> tuple[TreeNode, list[Floats]]:
        """The node, and the counts of its leaves from left to right."""
        if node.split is None:
            return node, [counts[node.number]]
        parts = [below(child) for child in node.children]
        if all(child.split is None for child, _ in parts):
            leaves = [own[0] for _, own in parts]
            if not _differ(leaves, error):
                return TreeNode(), [np.add.reduce(leaves)]
        return TreeNode(node.split, tuple(child for child, _ in parts)), [leaf for _, own in parts for leaf in own]

    root, kept = below(shape.root)
    numbers = iter(range(len(kept)))

    def numbered(node: TreeNode) -> TreeNode:
        if node.split is None:
            return TreeNode(number=next(numbers))
        return TreeNode(node.split, tuple(numbered(child) for child in node.children))

    return TreeShape(numbered(root)), np.array(kept)


def _differ(leaves: list[Floats], error: float) -> bool:
    """Whether some leaf differs from all of them together by more than its noise, in the part of a class.

    A leaf of no more rows than noise gives is not looked at.
    """
    together = np.maximum(np.add.reduce(leaves), 0.0)
    there = [counts for counts in leaves if counts.sum() > TOLD_APART * error * math.sqrt(counts.size)]
    if len(there) < 2:
        return False
    parts = together / together.sum()
    for counts in there:
        expected = parts * max(float(counts.sum()), 0.0)
        spread = np.sqrt(error**2 + expected * (1.0 - parts))
        if (np.abs(counts - expected) > TOLD_APART * spread).any():
            return True
    return False
