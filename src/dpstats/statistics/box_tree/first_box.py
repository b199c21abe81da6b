"""The first box of a tree: sides from the private limits of columns.

Claim      Nothing is spent here; the frame has been released
Why        Sides follow from the frame (frame/frame.py) and from the public types of columns
Numerics   Floats of released numbers
"""

from __future__ import annotations

from dpstats.foundations.summaries import Table
from dpstats.statistics.box_tree.halvings import BoxSide, box_side
from dpstats.statistics.frame.frame import FrameColumn, TableFrame


def box_sides(frame: TableFrame, table: Table, stretch: float = 1.0) -> list[BoxSide]:
    """A side for each column of a frame with limits: `stretch` times as far from the middle as these, in units of the scale."""
    dtypes = [table.column(place).dtype for place in range(len(frame.columns))]
    whole = [dtype is not None and dtype.kind in "iu" for dtype in dtypes]
    return [_side(column, stretch, whole=each) for column, each in zip(frame.columns, whole, strict=True)]


def _side(column: FrameColumn, stretch: float, *, whole: bool) -> BoxSide:
    low, high = (column.middle + sign * stretch * side for sign, side in ((-1, column.below), (1, column.above)))
    return box_side(low, high, column.scale, whole=whole)
