"""The minimiser of sum |normal.b - offset|, in floats.

Nothing rests on it but how good a release is: what is released is cut off at a box of stable cells, in which the solver has no
part.

Why        With one coefficient it is a weighted median. With more, weighted least squares come near; then the solver goes from
           vertex to vertex, places where as many hyperplanes meet as there are coefficients, each time along the steepest edge.
           Offsets are first moved by next to nothing, so that no more than these meet at once, and each move goes down. Axes
           through the first guess that weigh next to nothing are added, so that there is a vertex whatever the rows are
Source     Edges and medians: Bloomfield & Steiger 1980
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpstats.statistics.regression.ratios import Floats

REWEIGHTED, MOST_MOVES = 12, 400
_APART = 2.0**-34
"""How far offsets are moved, as a part of the distances that rows have."""
_FLAT, _INDEPENDENT = 1e-12, 1e-6
_GOLDEN = 0.6180339887498949


def minimiser(normals: Floats, offsets: Floats, start: Floats) -> Floats:
    """Where the sum is least; of many such places one that is near a first guess."""
    with np.errstate(all="ignore"):
        if normals.shape[1] == 1:
            used = np.flatnonzero(normals[:, 0])
            ratios = offsets[used] / normals[used, 0]
            return np.array([ratios[weighted_median(ratios, np.abs(normals[used, 0]))]]) if len(used) else start
        axes = np.eye(len(start)) * (_APART * float(np.abs(normals).max(initial=0.0)) or 1.0)
        normals, offsets = np.concatenate([normals, axes]), np.concatenate([offsets, axes @ start])
        near = _reweighted(normals, offsets, start)
        distances = np.abs(normals @ near - offsets)
        jitter = (np.arange(len(offsets)) * _GOLDEN % 1 - 0.5) * (_APART * float(distances.mean()))
        return _descended(normals, offsets + jitter, distances)


def weighted_median(values: Floats, weights: Floats) -> int:
    """The place of a lowest value up to which half of all weight lies."""
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[order])
    return int(order[min(np.searchsorted(running, running[-1] / 2), len(order) - 1)])


def _reweighted(normals: Floats, offsets: Floats, start: Floats) -> Floats:
    """A place near the minimiser, by least squares with weights 1 / distance."""
    best, least = start, float(np.abs(normals @ start - offsets).sum())
    place = start
    for _ in range(REWEIGHTED):
        distances = np.abs(normals @ place - offsets)
        weights = 1 / np.maximum(distances, max(1e-6 * float(distances.mean()), 1e-300))
        place = _solved((normals * weights[:, None]).T @ normals, (normals * weights[:, None]).T @ offsets, place)
        total = float(np.abs(normals @ place - offsets).sum())
        if not total < least:
            break
        best, least = place, total
    return best


def _descended(normals: Floats, offsets: Floats, distances: Floats) -> Floats:
    """The lowest vertex, from one where rows of small distances meet."""
    basis = _basis(normals, np.argsort(distances, kind="stable"))
    for _ in range(MOST_MOVES):
        edges = np.linalg.inv(normals[basis])
        place = np.asarray(edges @ offsets[basis])
        gaps = normals @ place - offsets
        gaps[basis] = 0.0
        slopes = np.sign(gaps) @ normals @ edges
        leaving = int(np.abs(slopes).argmax())
        if not abs(slopes[leaving]) > 1 + _FLAT:  # along an edge the row that is left adds 1
            break
        edge = -np.sign(slopes[leaving]) * edges[:, leaving]
        rates = normals @ edge
        rates[[row for spot, row in enumerate(basis) if spot != leaving]] = 0.0
        moving = np.flatnonzero(np.abs(rates) > _FLAT * np.abs(edge).max())
        steps = -gaps[moving] / rates[moving]
        entering = int(moving[weighted_median(steps, np.abs(rates[moving]))])
        if entering == basis[leaving]:
            break
        basis[leaving] = entering
    return place


def _basis(normals: Floats, order: NDArray[np.int64]) -> list[int]:
    """The first rows in an order whose normals are independent."""
    chosen: list[int] = []
    left, lengths = normals.copy(), np.sqrt((normals * normals).sum(axis=1))
    for _ in range(normals.shape[1]):
        parts = np.sqrt((left * left).sum(axis=1))
        row = int(order[(parts > _INDEPENDENT * lengths)[order].argmax()])
        chosen.append(row)
        direction = left[row] / parts[row]
        left = left - np.outer(left @ direction, direction)
    return chosen


def _solved(matrix: Floats, right: Floats, otherwise: Floats) -> Floats:
    """The least-squares solution; another place where there is none in floats."""
    if not (np.isfinite(matrix).all() and np.isfinite(right).all()):
        return otherwise
    solution = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.asarray(solution) if np.isfinite(solution).all() else otherwise
