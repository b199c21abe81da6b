"""The first box of a tree: sides from private limits of columns.

Claim      What the share of the budget costs, for one row added or removed
Neighbors  ADD_REMOVE of one row
Why        Limits of each column (universal/limits.py), an even part of epsilon each
Numerics   Exact; sides follow from released numbers
Source     limits.proof.md
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Table
from dpstats.statistics.box_tree.halvings import BoxSide, box_side
from dpstats.statistics.coded.budget import TableBudget
from dpstats.statistics.universal.limits import Limits, draw_limits


def draw_sides(
    table: Table, columns: int, budget: TableBudget, share: Fraction, stretch: int, rng: RandomSource
) -> tuple[list[BoxSide], int]:
    """The sides of the first box, `stretch` times as far from the middle as all rows but a few reach; and about how many rows
    there are."""
    epsilon = budget.draw_epsilon(share)
    if budget.is_concentrated:  # limits are more than draws: epsilon-DP costs epsilon**2 / 2
        epsilon /= 2
    opened = [table.column(place) for place in range(columns)]
    found = [draw_limits(column, epsilon / columns, rng) for column in opened]
    whole = [column.dtype is not None and column.dtype.kind in "iu" for column in opened]
    sides = [_side(limits, stretch, whole=each) for limits, each in zip(found, whole, strict=True)]
    return sides, max(limits.noisy_rows for limits in found)


def _side(limits: Limits, stretch: int, *, whole: bool) -> BoxSide:
    low, high = limits.middle - stretch * limits.below.reach, limits.middle + stretch * limits.above.reach
    unit = max(limits.below.scale, limits.above.scale)
    return box_side(nearest_float(low), nearest_float(high), nearest_float(unit), whole=whole)
