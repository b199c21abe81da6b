"""A tree of boxes from nothing but an epsilon: a frame of the columns, then the tree within it.

Claim      epsilon-DP
Neighbors  ADD_REMOVE of one row
Why        The frame takes at most FRAME_SHARE of epsilon, and the tree all that is left: the parts add up to epsilon, whatever
           the frame was
Numerics   Exact
Source     growth.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.box_tree.first_box import box_sides
from dpstats.statistics.box_tree.halvings import MOST_HALVINGS, Halvings
from dpstats.statistics.box_tree.tree import BoxTree, measure_tree
from dpstats.statistics.coded.budget import PureTableBudget
from dpstats.statistics.frame.frame import find_frame
from dpstats.statistics.regression.budget_split import PureBudgetSplit

FRAME_SHARE = Fraction(30, 100)
"""What the frame may take of epsilon; of many rows it takes less."""
GROWTH_SHARE, MORE_GROWTH = Fraction(25, 100), Fraction(50, 100)
"""What deciding on halvings takes of the rest; counts get the other part. Where boxes are to be small in several columns, it is
more."""
STRETCH = {1: 3.0, 2: 2.0, 3: 1.5}
"""How many times as far as the limits the first box reaches, by the number of columns; no farther for more."""
DEPTH = {1: 12}
"""How often the first box is halved at most, by the number of columns; MOST_HALVINGS for more."""
HALVED_ANYWAY = 3
"""Halvings whatever the counts are: the first boxes hold many rows at every size of table that gets an answer."""


def framed_tree(
    tables: Sequence[Table], whole: Table, columns: int, epsilon: Fraction, growth: Fraction, rng: RandomSource
) -> BoxTree | None:
    """A tree on the first `columns` columns of the whole table, whose rows come in tables by class; `growth` is what halvings
    take. None where numbers are too large, which the frame tells."""
    frame_budget = PureBudgetSplit(epsilon * FRAME_SHARE, rng)
    frame = find_frame(whole, columns, Fraction(1), frame_budget, rng)
    if frame.is_too_large:
        return None
    budget = PureTableBudget(epsilon * (1 - FRAME_SHARE * (1 - frame_budget.left)), rng)
    halvings = Halvings.of(box_sides(frame, whole, STRETCH.get(columns, 1.0)), DEPTH.get(columns, MOST_HALVINGS))
    return measure_tree(tables, halvings, budget, (growth, 1 - growth), rng, halved_anyway=HALVED_ANYWAY)
