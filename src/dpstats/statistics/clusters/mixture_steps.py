"""The steps of a mixture: clusters first, then expectation and maximisation with rows divided among components.

Claim      epsilon-DP, or rho-zCDP: what the budget was made from
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added
Why        As steps.py; a step is a purchase of noise on sums by components (component_sums.py), whose means, variances and
           weights were released before
Numerics   Whole numbers and exact noise; what follows sees released numbers only
Source     clusters.proof.md
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.clusters.budget import ClusterBudget
from dpstats.statistics.clusters.cluster_points import NearCenters, whole_centers
from dpstats.statistics.clusters.cluster_sums import ClusterOffsets
from dpstats.statistics.clusters.component_sums import Components, ComponentSums
from dpstats.statistics.clusters.steps import ClusterShares, MeasuredClusters, take_cluster_steps
from dpstats.statistics.regression.points import POINT, Floats

LEAST_VARIANCE = 1e-4
"""Of a component in a column, in squared spreads."""
SHOWN = 1.0
"""A variance is at least so many standard deviations of the noise in it."""


def take_mixture_steps(
    table: Table,
    columns: int,
    components: int,
    shares: ClusterShares,
    soft_steps: int,
    budget: ClusterBudget,
    rng: RandomSource,
    progress: Progress,
) -> MeasuredClusters | None:
    """Spend the budget on a mixture: the sums of its last step; None where numbers are too large."""
    measured = take_cluster_steps(table, columns, components, shares, budget, rng, progress, standardize=True)
    if measured is None:
        return None
    known = _components(measured, None)
    share = shares.later / soft_steps
    radius = measured.radius
    for _ in range(soft_steps):
        offsets = ClusterOffsets(known.near, radius, squares=True)
        sums = ComponentSums(known, offsets)
        raw_parts = np.array(table.row_sums(sums), dtype=np.int64).reshape(components, offsets.coordinates)
        noisy = budget.steps.noisy_parts(raw_parts, sums.units, share)
        measured = replace(
            measured,
            centers=known.near.centers,
            count_units=offsets.count_units,
            noisy=noisy,
            steps=measured.steps + 1,
        )
        known = _components(measured, known)
        progress.step()
    return measured


def _components(measured: MeasuredClusters, before: Components | None) -> Components:
    """The components that sums suggest; one that is not more than noise stays as it was."""
    shown = np.array(measured.shown)[:, None]
    moves = np.where(shown, measured.offsets / measured.counts[:, None], 0.0)
    old = np.ones_like(moves) if before is None else np.array(before.variances)
    variances = np.where(shown, component_variances(measured, moves), old)
    moved = np.array(measured.centers, dtype=np.float64) + np.rint(moves * POINT)
    counts = measured.counts
    weights = tuple((counts / float(np.cumsum(counts)[-1])).tolist())
    near = NearCenters(measured.frame, whole_centers(moved, measured.frame))
    return Components(near, weights, tuple(map(tuple, variances.tolist())))


def component_variances(measured: MeasuredClusters, moves: Floats) -> Floats:
    """The variances within components, column by column, in squared spreads; at least what noise lets one see."""
    counts = measured.counts[:, None]
    least = np.maximum(SHOWN * measured.square_deviation / counts, LEAST_VARIANCE)
    return np.asarray(np.maximum(measured.squares / counts - np.square(moves), np.minimum(least, 1.0)))
