"""The search for stable cells: among all cells of some public grids, those in which f keeps its minimisers.

Claim      `find_stable` finds every cell whose `raw_steps` is 1 or more, whatever the rows are; so their largest number moves as
           each of them does. Neighbouring tables share a cell that has more steps in one of them than a row can take away
Neighbors  As cell_tests.py
Why        A cell is looked at, or it is struck off because of a gradient of f at a place outside it: a cell with 1 step or more
           has a slope of 1 at least there, on the way out from its centre. No estimate of the minimiser is asked: a solver that
           is wrong now and then would let the result jump between neighbours
Numerics   Places and gradients are whole numbers; a cell is struck off with a margin for the comparison in floats
Source     cell_tests.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.regression.cell_tests import SIDE, raw_steps
from dpstats.statistics.regression.ratios import UNIT, RawRatios, Wholes

HALF_BITS = 26
_MARGIN = 1 - 2.0**-40


@dataclass(frozen=True)
class GridCells:
    """The cells of one or more public grids, as far as they are looked at."""

    corners: Wholes
    """The lowest corner of each cell, in steps."""
    grids: Wholes
    """The grid that it belongs to."""

    @property
    def centres(self) -> Wholes:
        """The middle of each cell."""
        return self.corners + SIDE // 2


@dataclass(frozen=True)
class StableCell:
    """A cell in which f has all its minimisers."""

    corner: Wholes
    raw_steps: int


def cells_around(dimensions: int, reach: int, shifts: Sequence[Wholes]) -> GridCells:
    """For each shift the grid of cells whose places along each axis are shift + SIDE * k, |k| <= reach."""
    along = [np.arange(-reach, reach + 1) * SIDE] * dimensions
    places = np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, dimensions)
    corners = np.concatenate([places + shift - SIDE // 2 for shift in shifts])
    return GridCells(corners, np.repeat(np.arange(len(shifts)), len(places)))


def find_stable(rows: RawRatios, cells: GridCells) -> list[StableCell]:
    """Every cell with 1 step or more; at most one of each grid, and they all overlap."""
    found, centres, left = [], cells.centres, np.arange(len(cells.corners))
    while len(left):
        pick = left[np.abs(centres[left] - centres[left].mean(axis=0)).sum(axis=1).argmin()]
        stays = may_be_stable(rows, centres[pick], centres[left])
        if not stays.all():
            left = left[stays]
            continue
        left = left[left != pick]
        steps = raw_steps(rows, cells.corners[pick])
        if steps:
            found.append(StableCell(cells.corners[pick], steps))
            overlaps = np.abs(centres[left] - centres[pick]).max(axis=1) < SIDE
            left = left[overlaps & (cells.grids[left] != cells.grids[pick])]
    return found


def may_be_stable(rows: RawRatios, place: Wholes, centres: Wholes) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which cells, by their centres, a gradient at a place does not strike off; never one with 1 step or more."""
    raw_pull = rows.pull(np.sign(rows.distances(place)))
    gaps = place - centres
    inside = np.abs(gaps).max(axis=1) < SIDE // 2
    lengths = np.sqrt((gaps**2).sum(axis=1))
    raw_high, raw_low = raw_pull >> HALF_BITS, raw_pull & ((1 << HALF_BITS) - 1)  # with many rows, one product would overflow
    raw_rises = (gaps @ raw_high).astype(np.float64) * (1 << HALF_BITS) + (gaps @ raw_low)
    return np.asarray(inside | (raw_rises >= UNIT * lengths * _MARGIN))


def shared_box(stable: Sequence[StableCell]) -> tuple[Wholes, Wholes]:
    """The lowest and highest corner of what all these cells have in common."""
    corners = np.stack([cell.corner for cell in stable])
    return corners.max(axis=0), corners.min(axis=0) + SIDE
