"""Frames and moments for tests, and how far a row moves the latter."""

from __future__ import annotations

import numpy as np

from dpstats.statistics.frame.frame import FrameColumn, TableFrame
from dpstats.statistics.principal.moments import HeldMoments
from dpstats.statistics.regression.points import Floats

BOUNDS = (2.0**-6, 0.7, 1.0, 12.3, 45.25, 1000.0, 2.0**20)


def some_frame(generator: np.random.Generator, columns: int) -> TableFrame:
    """Middles and scales from ordinary to absurd."""
    middles = generator.choice([0.0, 1.0, -3.25, 1e6, 1e308, -1e-300], columns).tolist()
    scales = generator.choice([1.0, 1.4826, 0.37, 2.0**-390, 2.0**390, 1e6], columns).tolist()
    return TableFrame(tuple(map(FrameColumn, middles, scales)), 1000, 50.0)


def plain_frame(columns: int) -> TableFrame:
    """Columns that are standard already."""
    return TableFrame((FrameColumn(0.0, 1.0),) * columns, 1000, 50.0)


def norm_of(moments: HeldMoments, raw_move: list[int]) -> int:
    """The norm that noise is for: the L1 norm, or the square of the Euclidean one, in Python's whole numbers."""
    return sum(map(abs, raw_move)) if moments.absolute else sum(moved**2 for moved in raw_move)


def allows(moments: HeldMoments, raw_move: list[int]) -> bool:
    """Whether a move is within what is claimed."""
    return norm_of(moments, raw_move) <= moments.sensitivity ** (1 if moments.absolute else 2)


def added_by(moments: HeldMoments, raw_rows: Floats) -> list[list[int]]:
    """What each row adds by itself."""
    return [moments(raw_rows[place : place + 1]).tolist() for place in range(len(raw_rows))]
