"""Broken twins of trees of boxes: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import numpy as np

from dpstats.statistics.box_tree.halvings import BoxSide, Floats, box_side
from tests.laws.box_trees import Lowered


def lowered_without_floor(step: int) -> Lowered:
    """What a decision goes by. Mistake: counts are lowered with depth, but not floored, so that a row tells on every depth."""
    return lambda count, depth: count - depth * step


def plain_count(step: int) -> Lowered:
    """What a decision goes by. Mistake: every depth decides by the count itself with the noise of one decision."""
    return lambda count, depth: count - step


def raw_sides(raw_rows: Floats) -> list[BoxSide]:
    """The sides of the first box. Mistake: they are the least and the largest value of the rows."""
    return [box_side(float(column.min()), float(column.max()), float(np.ptp(column))) for column in raw_rows.T]
