"""Seeds: sets of centres that suit few weighted points, from many starts. They see released numbers only.

Everything is done in whole numbers, so that seeds are the same on every machine.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.clusters.box_means import WeightedPoints
from dpstats.statistics.clusters.cluster_points import HELD, WholeCenters, whole_centers
from dpstats.statistics.frame.frame import TableFrame

Whole = NDArray[np.int64]

STARTS = 48
"""How many sets are tried; those that end in the same place count once."""
MOST_ROUNDS = 60
COARSE_BITS = 8
"""Points lose this many of their bits here, so that weighted sums of squares fit 64 bits."""
WEIGHT_BITS = 27
"""All weights together are about two to this power."""
TRIES = 3
"""So many points are looked at for each further centre, of which the best is taken."""
GOLDEN, TURNS = 2654435769, 1 << 32
"""Multiples of the golden ratio of a turn lie evenly on a circle, wherever one stops."""


def find_seeds(points: WeightedPoints, clusters: int, frame: TableFrame) -> list[WholeCenters]:
    """Different sets of centres, the one that suits the points best first."""
    places, weights = _coarse(points)
    if len(places) < clusters:
        places, weights = _filled(places, weights, clusters, frame)
    found: dict[WholeCenters, int] = {}
    for start in range(STARTS):
        centers = _settled(_spread_out(places, weights, clusters, start), places, weights)
        cost = int((weights * _squares(places, centers).min(axis=1)).sum())
        found.setdefault(whole_centers(centers.astype(np.float64) * 2.0**COARSE_BITS, frame), cost)
    return sorted(found, key=lambda each: (found[each], each))


def _coarse(points: WeightedPoints) -> tuple[Whole, Whole]:
    """Points in coarser units, and whole weights."""
    held = np.clip(points.points, -HELD, HELD)
    places = np.rint(held * 2.0**-COARSE_BITS).astype(np.int64)
    total = max(math.fsum(points.weights.tolist()), 1.0)
    weights = np.maximum(np.floor(points.weights * ((1 << WEIGHT_BITS) / total)), 1).astype(np.int64)
    return places, weights


def _filled(places: Whole, weights: Whole, clusters: int, frame: TableFrame) -> tuple[Whole, Whole]:
    """Where there are fewer points than clusters: light ones from limit to limit as well."""
    low, high = np.array([column.units() for column in frame.columns]).T * 2.0**-COARSE_BITS
    parts = np.linspace(0.0, 1.0, clusters)[:, None]
    more = np.rint(np.clip(low + parts * (high - low), -(2.0**14), 2.0**14)).astype(np.int64)
    return np.vstack([places, more]), np.concatenate([weights, np.ones(clusters, dtype=np.int64)])


def _squares(places: Whole, centers: Whole) -> Whole:
    """Squared distances, points by centres."""
    return np.asarray(np.square(places[:, None, :] - centers[None, :, :]).sum(axis=2))


def _spread_out(places: Whole, weights: Whole, clusters: int, start: int) -> Whole:
    """Points far from each other and heavy, as k-means++ has them: of three where the cumulative cost passes a mark, the one that
    leaves the least cost. Marks lie evenly, and differ by the start."""
    nearest = np.ones(len(places), dtype=np.int64)
    chosen: list[int] = []
    for turn in range(clusters):
        costs = np.cumsum(weights * nearest)
        first = (start * clusters + turn) * TRIES + 1
        marks = [int(costs[-1]) * (each * GOLDEN % TURNS) // TURNS for each in range(first, first + (TRIES if turn else 1))]
        tried = sorted({min(int(np.searchsorted(costs, mark, side="right")), len(places) - 1) for mark in marks})
        squares = _squares(places, places[tried])
        left = squares if not turn else np.minimum(nearest[:, None], squares)
        best = int(np.argmin((weights[:, None] * left).sum(axis=0)))
        chosen.append(tried[best])
        nearest = left[:, best]
    return places[chosen]


def _settled(centers: Whole, places: Whole, weights: Whole) -> Whole:
    """Where k-means of the weighted points ends that begins at these centres; a centre without points stays."""
    for _ in range(MOST_ROUNDS):
        nearest = np.argmin(_squares(places, centers), axis=1)
        moved = centers.copy()
        for place in range(len(centers)):
            own = nearest == place
            total = int(weights[own].sum())
            if total:
                moved[place] = (2 * (weights[own, None] * places[own]).sum(axis=0) + total) // (2 * total)
        if np.array_equal(moved, centers):
            break
        centers = moved
    return centers
