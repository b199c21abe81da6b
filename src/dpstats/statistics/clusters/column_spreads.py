"""Spreads: how wide the columns of a frame are in the mean of squares, of rows that are cut off at its limits.

A scale of the frame is a quantile of distances among the rows that are not at the middle. A column in which most rows are equal
and a few far from them is narrow by its squares, and that is the width by which clusters are judged.

Claim      What the share costs, for one row added or removed
Neighbors  ADD_REMOVE
Why        Squares over those of public ends are a vector that is drawn into the unit ball: a row moves the sums by 1 in length
Numerics   A row by itself, then whole numbers, whose length is checked as such
Source     clusters.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import Table
from dpstats.statistics.clusters.budget import ClusterSplit
from dpstats.statistics.clusters.cluster_points import row_totals
from dpstats.statistics.frame.frame import FrameColumn, TableFrame
from dpstats.statistics.regression.points import POINT, Floats
from dpstats.statistics.regression.standard import MARKS

UNITS = 1 << 12
"""The radius of the ball, in whole units."""
SURE = 2.0
"""A sum of squares counts as that of rows where it is more than so many standard deviations of its noise."""
FAR, NEAR = 8.0, 2.0
"""Squares are cut off at so many scales, or where the middle is 0 or 1 and the scale is that of the rows away from it, at fewer:
a limit that was drawn too far out would leave nothing of them but noise. A side without rows that show ends there, too."""


AWAY, SHOWN = 0.25, 4.0
"""Where the middle is 0 or 1, rows that lie more than this part of a scale away from it are counted. If that is not more than so
many standard deviations of its noise, the scale may be anything: the column is left out, and all of it counts as the middle."""


@dataclass(frozen=True)
class SquareParts:
    """A `RowSum`: squares of the columns over those of their ends, of each column first those of rows below the middle, then
    those above; and for each of `sparse_places` whether the row lies away from the middle. All is drawn into a ball of UNITS."""

    frame: TableFrame

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_points = self.frame.points(raw_rows)
        ends = square_ends(self.frame)
        raw_sides = np.stack([np.maximum(-raw_points / ends[:, 0], 0.0), np.maximum(raw_points / ends[:, 1], 0.0)], axis=2)
        raw_squares = np.square(np.minimum(raw_sides, 1.0)).reshape(len(raw_rows), ends.size)
        raw_away = np.abs(raw_points[:, sparse_places(self.frame)]) > AWAY * POINT
        raw_parts = np.column_stack([raw_squares, raw_away])
        raw_lengths = np.sqrt(row_totals(np.square(raw_parts)))
        raw_whole = np.trunc(raw_parts * (UNITS / np.maximum(raw_lengths, 1.0))[:, None])
        raw_whole[np.square(raw_whole).sum(axis=1) > UNITS**2] = 0.0
        return np.asarray(raw_whole.sum(axis=0), dtype=np.int64)


def sparse_places(frame: TableFrame) -> list[int]:
    """The columns with the middle 0 or 1, from which few rows may lie away."""
    return [place for place, column in enumerate(frame.columns) if column.middle in MARKS]


def square_ends(frame: TableFrame) -> Floats:
    """Where squares are cut off below and above the middle of each column, in whole units of points: columns by sides."""
    most = [(NEAR if column.middle in MARKS else FAR) * POINT for column in frame.columns]
    limits = [[max(1.0, min(abs(end), each)) for end in column.units()] for column, each in zip(frame.columns, most, strict=True)]
    return np.array(limits)


def spread_frame(table: Table, frame: TableFrame, share: Fraction, budget: ClusterSplit, *, standardize: bool) -> TableFrame:
    """The frame with the spread of each column in place of its scale; without `standardize` with the widest spread in all."""
    noisy, deviation = budget.noisy(table.row_sums(SquareParts(frame)), UNITS, share)
    squares, away = noisy[: 2 * len(frame.columns)], noisy[2 * len(frame.columns) :]
    sides = zip(squares[::2], squares[1::2], strict=True)
    columns = zip(frame.columns, square_ends(frame).tolist(), sides, strict=True)
    found = [_spread(column, ends, sums, UNITS * max(1, frame.noisy_rows), SURE * deviation) for column, ends, sums in columns]
    for place, count in zip(sparse_places(frame), away, strict=True):
        if count <= SHOWN * deviation:
            found[place] = replace(frame.columns[place], below=0.0, above=0.0)
    kept = [column.scale for column in found if column.below or column.above]
    widest = max(kept, default=found[0].scale)
    return replace(frame, columns=tuple(found if standardize else (replace(column, scale=widest) for column in found)))


def _spread(column: FrameColumn, ends: list[float], sums: tuple[int, int], rows: int, sure: float) -> FrameColumn:
    """A column with its spread; a side whose squares are not more than noise ends where they do."""
    squares = [end**2 * each for end, each in zip(ends, sums, strict=True) if each > sure] or [min(ends) ** 2 * sure]
    spread = column.scale * math.sqrt(min(math.fsum(squares) / rows, max(ends) ** 2)) / POINT
    below, above = (
        limit if each > sure else min(limit, column.scale * end / POINT)
        for limit, each, end in zip((column.below, column.above), sums, ends, strict=True)
    )
    return replace(column, scale=spread, below=max(below, spread), above=max(above, spread))
