"""Cell tests: how steeply f rises everywhere on the boundary of a cell, on the way out from its centre.

Claim      `raw_steps` is a whole number from 0 on that moves by at most 1 where a row is added or removed. Where it is 1 or more,
           f has all its minimisers inside the cell, and only cells that overlap have 1 or more in the same table
Neighbors  ADD_REMOVE; a changed row is one removed and one added, and moves it by at most 2
Why        The boundary is cut into public pieces. For a corner v of a piece and the centre c, a row adds its slope on the way
           from c to v where its hyperplane misses the piece, and takes the size of that slope off where the hyperplane meets
           it: at most 1 either way, by that row alone. The result is the least of these sums over all corners of all pieces,
           rounded down. It is not above the one-sided derivative of f from inside, anywhere on the boundary
Numerics   Whole numbers, exactly. Near ties need no tolerance: a row that meets a piece counts against it wherever it does so
Source     cell_tests.proof.md; Dwork & Lei 2009, section 4.2, for cells
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.ratios import UNIT, Floats, RawRatios, Wholes

SIDE = 64
"""The side of a cell, in steps; its corners lie on whole steps, and so does its centre."""
PIECES = {1: 1, 2: 64, 3: 16}
"""Pieces along each axis of a facet, by the number of coefficients."""
MOST_COEFFICIENTS = max(PIECES)
_NUMBERS_AT_ONCE = 1 << 21
_NEAR = 1 + 2.0**-40


def raw_steps(rows: RawRatios, corner: Wholes) -> int:
    """How many rows f stays away from a minimiser outside the cell whose lowest corner is given; 0 where it may have one."""
    raw_at_centre = rows.distances(corner + SIDE // 2)
    meets = np.abs(raw_at_centre) <= rows.widths * (SIDE // 2)
    raw_pull = rows.pull(np.where(meets, 0.0, np.sign(raw_at_centre)))
    near = np.flatnonzero(meets & (rows.widths > 0))
    raw_slopes, squares = [], []
    for points in facets(rows.dimensions):
        raw_rises = raw_pieces(rows.normals[near], raw_at_centre[near], points)
        for spot, corners in zip(_spots(points.ndim - 1), raw_rises, strict=True):
            raw_slopes.append((corners + points[spot] @ raw_pull).ravel())
            squares.append((points[spot] ** 2).sum(axis=-1).ravel())
    return least_slope(np.concatenate(raw_slopes), np.concatenate(squares))


def raw_pieces(normals: Floats, raw_at_centre: Floats, points: Wholes) -> list[Wholes]:
    """For each corner that pieces of a facet have, and each piece, what rows add there, times the distance to the centre.

    `points` are the corners of all pieces, from the centre: an axis for each of the facet's, and one for coordinates.
    """
    shape, spots = points.shape[:-1], _spots(points.ndim - 1)
    flat = points.reshape(-1, points.shape[-1]).T.astype(np.float64)
    totals = [np.zeros(points[spot].shape[:-1], dtype=np.int64) for spot in spots]
    block = max(1, _NUMBERS_AT_ONCE // flat.shape[1])
    for start in range(0, len(normals), block):
        raw_rises = (normals[start : start + block] @ flat).reshape(-1, *shape)
        raw_places = raw_rises + raw_at_centre[start : start + block].reshape(-1, *(1,) * len(shape))
        above, below = _all_corners(raw_places > 0, spots), _all_corners(raw_places < 0, spots)
        for total, spot in zip(totals, spots, strict=True):
            raw_here = raw_rises[:, *spot]
            raw_terms = np.where(above, raw_here, np.where(below, -raw_here, -np.abs(raw_here)))
            total += raw_terms.sum(axis=0).astype(np.int64)
    return totals


def least_slope(raw_slopes: Wholes, squares: Wholes) -> int:
    """The least slope / sqrt(square) / UNIT, rounded down, and 0 where one is negative."""
    raw_ratios = raw_slopes / np.sqrt(squares)
    if not raw_ratios.min() > 0:
        return 0
    near = np.flatnonzero(raw_ratios <= raw_ratios.min() * _NEAR)
    return min(math.isqrt(int(raw_slopes[place]) ** 2 // (UNIT**2 * int(squares[place]))) for place in near.tolist())


@lru_cache(maxsize=8)
def facets(dimensions: int) -> tuple[Wholes, ...]:
    """The corners of all pieces of each facet, from the cell's centre: arrays with an axis for each of the facet's own."""
    pieces = PIECES[dimensions]
    marks = np.arange(pieces + 1) * (SIDE // pieces) - SIDE // 2
    found = []
    for axis, end in itertools.product(range(dimensions), (-SIDE // 2, SIDE // 2)):
        along = [np.array([end]) if other == axis else marks for other in range(dimensions)]
        grid = np.stack(np.meshgrid(*along, indexing="ij"), axis=-1)
        found.append(grid.squeeze(axis=axis))
    return tuple(found)


def _spots(axes: int) -> list[tuple[slice, ...]]:
    """Where to find one corner of every piece: the first or the last along each axis."""
    return list(itertools.product((slice(None, -1), slice(1, None)), repeat=axes))


def _all_corners(marked: NDArray[np.bool_], spots: list[tuple[slice, ...]]) -> NDArray[np.bool_]:
    """For each row and piece whether all corners are marked."""
    return np.asarray(np.logical_and.reduce([marked[:, *spot] for spot in spots]))
