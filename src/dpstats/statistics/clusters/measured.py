"""What the sums of the last step say of clusters: sizes, means, errors, and how much of the variance lies between them.

Everything here sees released numbers only. Sums are added up in a fixed order, so that releases are the same on every machine.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dpstats.foundations.portable import ERROR_DIGITS, OWN_DIGITS, rounded, rounded_errors, rounded_values
from dpstats.statistics.clusters.clusters import Clusters
from dpstats.statistics.clusters.mixture_steps import component_variances
from dpstats.statistics.clusters.mixtures import MixtureFit
from dpstats.statistics.clusters.steps import MeasuredClusters
from dpstats.statistics.regression.points import POINT, Floats


class _SumsOfSquares(NamedTuple):
    """Sums of squares within clusters and between them, with the standard deviations of their noise."""

    within: float
    between: float
    within_noise: float
    between_noise: float

    @property
    def explained(self) -> tuple[float, float]:
        """The share between clusters, and at most the standard deviation of the noise in it."""
        total = self.within + self.between
        if not total:
            return 0.0, 1.0
        noise = (self.within / total * self.between_noise + self.between / total * self.within_noise) / total
        return self.between / total, min(noise, 1.0)


class MeasuredGroups(NamedTuple):
    """What clusters and components have in common, the largest first."""

    order: tuple[int, ...]
    """Their places in the sums."""
    centers: tuple[tuple[float, ...], ...]
    errors: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    size_noise: float
    rows: float
    weak: tuple[int, ...]


def groups_of(measured: MeasuredClusters) -> MeasuredGroups:
    """Centres with their errors, and sizes, in the units of the columns."""
    counts, moves = measured.counts, moves_of(measured)
    low, high = np.array([column.units() for column in measured.frame.columns]).T / POINT
    centers = np.clip(np.array(measured.centers, dtype=np.float64) / POINT + moves, low, high)
    variances = np.maximum(measured.squares / counts[:, None] - np.square(moves), 0.0)
    noise = np.square(measured.offset_deviation) + np.square(moves * measured.count_deviation)
    errors = np.sqrt(variances / counts[:, None] + noise / np.square(counts[:, None]))
    scales, middles = measured.frame.scales, measured.frame.middles
    order = sorted(range(len(counts)), key=lambda place: (-counts[place], measured.centers[place]))
    released, sure = [], []
    for place in order:
        own = rounded_errors([error * scale for error, scale in zip(errors[place], scales, strict=True)])
        values = [middle + value * scale for middle, value, scale in zip(middles, centers[place], scales, strict=True)]
        released.append(rounded_values(values, own))
        sure.append(own)
    return MeasuredGroups(
        tuple(order),
        tuple(released),
        tuple(sure),
        rounded_values([counts[place] for place in order], [measured.count_deviation] * len(order)),
        rounded_errors([measured.count_deviation])[0],
        rounded(max(0.0, measured.rows), measured.count_deviation, ERROR_DIGITS),
        tuple(rank for rank, place in enumerate(order) if not measured.shown[place]),
    )


def clusters_of(measured: MeasuredClusters, names: tuple[str, ...]) -> Clusters:
    """The clusters that are released."""
    groups, moves = groups_of(measured), moves_of(measured)
    variance = _variance(measured, np.array(measured.centers, dtype=np.float64) / POINT + moves, moves)
    explained, explained_noise = variance.explained
    return Clusters(
        names,
        groups.centers,
        groups.errors,
        groups.sizes,
        groups.size_noise,
        groups.rows,
        measured.frame.scales,
        rounded(variance.within / math.fsum(measured.counts.tolist()), 1.0, ERROR_DIGITS),
        rounded(explained, explained_noise, ERROR_DIGITS),
        rounded_errors([explained_noise])[0],
        groups.weak,
    )


def mixture_of(measured: MeasuredClusters, names: tuple[str, ...]) -> MixtureFit:
    """The mixture that is released."""
    groups, scales = groups_of(measured), measured.frame.scales
    variances = component_variances(measured, moves_of(measured))
    total = math.fsum(groups.sizes)
    released = [
        tuple(rounded(each * scale**2, 0.0, OWN_DIGITS) for each, scale in zip(variances[place].tolist(), scales, strict=True))
        for place in groups.order
    ]
    weights = [rounded(size / total, 1.0, OWN_DIGITS) for size in groups.sizes]
    return MixtureFit(
        names,
        tuple(weights),
        groups.centers,
        tuple(released),
        groups.errors,
        groups.sizes,
        groups.size_noise,
        groups.rows,
        groups.weak,
    )


def moves_of(measured: MeasuredClusters) -> Floats:
    """How far the mean of each cluster lies from the centre around which it was measured; 0 where it is not more than noise."""
    known = np.array(measured.shown)
    return np.where(known[:, None], measured.offsets / measured.counts[:, None], 0.0)


def _variance(measured: MeasuredClusters, centers: Floats, moves: Floats) -> _SumsOfSquares:
    counts = measured.counts.tolist()
    total = math.fsum(counts)
    columns = range(measured.columns)
    rows = centers.tolist()
    middle = [math.fsum(count * row[place] for count, row in zip(counts, rows, strict=True)) / total for place in columns]
    away = [math.fsum((row[place] - middle[place]) ** 2 for place in columns) for row in rows]
    moved = [math.fsum(each**2 for each in row) for row in moves.tolist()]
    squares = math.fsum(measured.squares.ravel().tolist())
    within = max(0.0, squares - math.fsum(count * move for count, move in zip(counts, moved, strict=True)))
    between = math.fsum(count * square for count, square in zip(counts, away, strict=True))
    offset, count_noise, square = measured.offset_deviation**2, measured.count_deviation**2, measured.square_deviation**2
    within_noise = math.fsum(measured.columns * square + 4 * move * offset + move**2 * count_noise for move in moved)
    between_noise = math.fsum(each**2 * count_noise + 4 * each * offset for each in away)
    return _SumsOfSquares(within, between, math.sqrt(within_noise), math.sqrt(between_noise))
