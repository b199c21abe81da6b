"""Sums over rows by the components of a mixture: each row is divided among them in whole shares.

Claim      A `RowSum`; the lengths of what a row adds to the parts of all components add up to at most `units`
Why        Shares are whole numbers that add up to SHARES. A part is a vector as in cluster_sums.py, times the share of its
           component, rounded toward 0
Numerics   Shares are found in floats, a row by itself, by operations that all processors round alike; then whole numbers
Source     clusters.proof.md
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.portable import exponential
from dpstats.statistics.clusters.cluster_points import NearCenters
from dpstats.statistics.clusters.cluster_sums import ClusterOffsets, held_within
from dpstats.statistics.likelihood.logarithms import log_of
from dpstats.statistics.regression.points import POINT, Floats

SHARES = 1 << 10
"""The whole of a row."""


@dataclass(frozen=True)
class Components:
    """Components of a mixture of normal laws with independent columns, in the units of a frame's points."""

    near: NearCenters
    """The means."""
    weights: tuple[float, ...]
    variances: tuple[tuple[float, ...], ...]
    """Of each component, column by column, in squared spreads."""

    def log_densities(self, raw_points: Floats) -> Floats:
        """The log of each weight times density, points by components, but for a constant."""
        means = np.array(self.near.centers, dtype=np.float64) / POINT
        return log_weighted(raw_points / POINT, self.weights, means, np.array(self.variances))

    def shares(self, raw_points: Floats) -> NDArray[np.int64]:
        """Whole shares of each point, points by components: they add up to SHARES, and the likeliest has what rounding leaves."""
        raw_logs = self.log_densities(raw_points)
        raw_best = np.argmax(raw_logs, axis=1)
        raw_places = np.arange(len(raw_points))
        with np.errstate(all="ignore"):
            raw_gaps = np.minimum(raw_logs - raw_logs[raw_places, raw_best][:, None], 0.0)
            raw_odds = exponential(np.nan_to_num(raw_gaps, nan=-np.inf))
            raw_totals = raw_odds[:, 0].copy()
            for place in range(1, raw_odds.shape[1]):
                raw_totals += raw_odds[:, place]
            raw_parts = np.floor(raw_odds / raw_totals[:, None] * SHARES)
        raw_shares: NDArray[np.int64] = np.clip(np.nan_to_num(raw_parts, nan=0.0), 0, SHARES).astype(
            np.int64
        )  # whatever floats may do
        raw_shares[raw_places, raw_best] = 0
        raw_shares[raw_shares.sum(axis=1) > SHARES] = 0
        raw_shares[raw_places, raw_best] = SHARES - raw_shares.sum(axis=1)
        return raw_shares


def log_weighted(points: Floats, weights: tuple[float, ...], means: Floats, variances: Floats) -> Floats:
    """The log of each weight times the density of its component, but for the constant of all densities; column by column."""
    logs = np.repeat(log_of(np.array(weights))[None, :], len(points), axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        for column in range(means.shape[1]):
            logs -= (np.square(points[:, [column]] - means[:, column]) / variances[:, column] + log_of(variances[:, column])) / 2
    return np.asarray(logs)


@dataclass(frozen=True)
class ComponentSums:
    """For each component: sums of offsets of rows from its mean, of rows, and of squared offsets, all by shares."""

    components: Components
    offsets: ClusterOffsets
    """The radius, and what a whole row adds at most."""

    @property
    def units(self) -> int:
        """The lengths of what a row adds to all parts add up to at most this."""
        return self.offsets.units

    def __call__(self, raw_rows: Floats) -> NDArray[np.int64]:
        """Add them up, component after component."""
        near, radius = self.components.near, self.offsets.radius
        raw_points = near.points(raw_rows)
        raw_shares = self.components.shares(raw_points).astype(np.float64)
        raw_squares = near.squares(raw_points)
        sums = []
        for place, center in enumerate(near.centers):
            raw_held = held_within(raw_points - np.array(center, dtype=np.float64), raw_squares[:, place], radius)
            raw_parts = [raw_held, np.full((len(raw_rows), 1), float(self.offsets.count_units))]
            raw_parts.append(np.trunc(np.square(raw_held) / (2 * radius)))
            raw_divided = np.trunc(np.column_stack(raw_parts) * raw_shares[:, [place]] / SHARES)
            sums.append(raw_divided.sum(axis=0).astype(np.int64))
        return np.concatenate(sums)
