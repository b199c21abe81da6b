"""Spreads: how wide the columns of a frame are in the mean of squares, of rows that are cut off at its limits.

A scale of the frame is a quantile of distances among the rows that are not at the middle. A column in which most rows are equal
and a few far from them is narrow by its squares, and that is the width by which clusters are judged.

Claim      What the share costs, for one row added or removed
Neighbors  ADD_REMOVE
Why        Squares over those of the limits are a vector that is drawn into the unit ball: a row moves the sums by 1 in length
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
from dpstats.statistics.frame.frame import TableFrame
from dpstats.statistics.regression.points import Floats

UNITS = 1 << 12
"""The radius of the ball, in whole units."""
SURE = 2.0
"""A sum of squares counts as at least so many standard deviations of its noise."""


@dataclass(frozen=True)
class SquareParts:
    """A `RowSum`: squares of the columns over those of their limits, drawn into a ball of UNITS."""

    frame: TableFrame

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up."""
        raw_parts = np.square(self.frame.points(raw_rows) / farther_limits(self.frame))
        raw_lengths = np.sqrt(np.square(raw_parts).sum(axis=1))
        raw_parts *= (UNITS / np.maximum(raw_lengths, 1.0))[:, None]
        raw_whole = np.trunc(raw_parts)
        raw_whole[np.square(raw_whole).sum(axis=1) > UNITS**2] = 0.0
        return raw_whole.sum(axis=0).astype(np.int64)


def farther_limits(frame: TableFrame) -> Floats:
    """For each column the limit that is farther from the middle, in whole units of points."""
    return np.array([max(1.0, *map(abs, column.units())) for column in frame.columns])


def spread_frame(table: Table, frame: TableFrame, share: Fraction, budget: ClusterSplit, *, standardize: bool) -> TableFrame:
    """The frame with the spread of each column in place of its scale; without `standardize` with the widest spread in all."""
    noisy, deviation = budget.noisy(table.row_sums(SquareParts(frame)), UNITS, share)
    limits = [max(column.below, column.above) for column in frame.columns]
    means = [max(each, SURE * deviation) / (UNITS * max(1, frame.noisy_rows)) for each in noisy]
    spreads = [limit * math.sqrt(min(1.0, mean)) for limit, mean in zip(limits, means, strict=True)]
    if not standardize:
        spreads = [max(spreads)] * len(spreads)
    pairs = zip(frame.columns, spreads, strict=True)
    return replace(frame, columns=tuple(replace(column, scale=spread) for column, spread in pairs))
