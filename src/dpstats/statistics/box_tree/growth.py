"""Growth of a tree of boxes: which boxes are halved, by noisy counts that are lowered with depth.

Claim      Which boxes are halved is epsilon-DP with noise of scale (8/3) / epsilon, and epsilon**2 / 8-zCDP with noise of
           scale (11/3) / epsilon, however deep the tree is
Neighbors  ADD_REMOVE of one row
Why        A row adds 1 to the counts of one box of each depth. A count is lowered by STEP for each depth, and one that lies below
           -STEP counts as -STEP: so all but the last two of the boxes that a row can tell apart have counts so high that they
           are halved almost surely, with and without it, and their losses make a geometric series
Numerics   Counts, steps and noise are whole numbers; scales are rationals, rounded against ourselves
Source     growth.proof.md; Zhang, Xiao & Xie 2016 (PrivTree), here with discrete noise and a whole step
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.mechanisms.discrete_laplace import sample_discrete_laplace
from dpstats.statistics.box_tree.halvings import Whole
from dpstats.statistics.coded.budget import TableBudget

LOG_TWO = Fraction(693_148, 1_000_000)
"""A little more than ln 2."""
PURE_SCALES, RANGE_SCALES = Fraction(8, 3), Fraction(11, 3)
"""One over the scale of the noise, times this, bounds what a row may do: to the probability of a tree, and to the range of what
it does to those of all trees."""


@dataclass(frozen=True)
class GrowthNoise:
    """The scale of the noise, and how much lower a count is for each depth."""

    scale: Fraction
    step: int

    @classmethod
    def bought(cls, budget: TableBudget, share: Fraction) -> GrowthNoise:
        """What a share of a budget buys."""
        scales = RANGE_SCALES if budget.is_concentrated else PURE_SCALES
        return cls.of_scale(scales / budget.draw_epsilon(share))

    @classmethod
    def of_scale(cls, scale: Fraction) -> GrowthNoise:
        """The least step at which the series of losses halves with every depth."""
        return cls(scale, math.ceil(scale * LOG_TWO))


@dataclass(frozen=True, eq=False)
class Boxes:
    """The last boxes of a tree, in the order of their paths: together they hold all paths."""

    depths: Whole
    paths: Whole

    def starts(self, depth: int) -> Whole:
        """The first of all paths of `depth` bits that each box holds."""
        return self.paths << (depth - self.depths)


def grow(raw_counts: Whole, halved_anyway: int, noise: GrowthNoise, rng: RandomSource) -> Boxes:
    """Halve boxes, from those of depth `halved_anyway` on, as long as their noisy counts say that they hold rows to tell apart.

    `raw_counts` has the rows of each path through all halvings.
    """
    deepest = (raw_counts.size - 1).bit_length()
    depth = min(halved_anyway, deepest)
    frontier = np.arange(1 << depth, dtype=np.int64)
    depths, paths = [], []
    while depth < deepest and frontier.size:
        raw_boxes = raw_counts.reshape(1 << depth, -1).sum(axis=1)[frontier]
        lowered = np.maximum(raw_boxes - (depth - halved_anyway) * noise.step, -noise.step)
        drawn = np.asarray(sample_discrete_laplace(noise.scale, frontier.size, rng), dtype=np.int64)
        is_halved = lowered + drawn > 0
        depths.append(np.full(int((~is_halved).sum()), depth, dtype=np.int64))
        paths.append(frontier[~is_halved])
        frontier = (2 * frontier[is_halved, np.newaxis] + np.array([0, 1])).ravel()
        depth += 1
    depths.append(np.full(frontier.size, depth, dtype=np.int64))
    paths.append(frontier)
    boxes = Boxes(np.concatenate(depths), np.concatenate(paths))
    order = np.argsort(boxes.starts(deepest))
    return Boxes(boxes.depths[order], boxes.paths[order])
