"""The steps of k-means: a frame, seeds, a choice among them, and means of rows around their nearest centres.

Claim      epsilon-DP, or rho-zCDP: what the budget was made from
Neighbors  ADD_REMOVE; CHANGE_ONE as one row removed and one added
Why        All steps are bought from one budget (budget.py), each chosen by what earlier ones released. Which seeds are taken is
           one exponential mechanism: a row adds to the cost of each set, at most STEPS. Offsets of rows are cut off one by one
           at a radius that was drawn before; a row is in one cluster
Numerics   Whole numbers and exact noise; centres follow from noisy sums, and are rounded to whole units before rows meet them
Source     clusters.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from dpstats.foundations.progress import Progress
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.mechanisms.exponential import choose, score_weights
from dpstats.statistics.clusters.box_means import find_points
from dpstats.statistics.clusters.budget import ClusterBudget, ClusterSplit, NoisyParts
from dpstats.statistics.clusters.cluster_points import NearCenters, WholeCenters, whole_centers
from dpstats.statistics.clusters.cluster_sums import STEPS, CappedCosts, ClusterOffsets, DistanceCells
from dpstats.statistics.clusters.column_spreads import spread_frame
from dpstats.statistics.clusters.seeds import find_seeds
from dpstats.statistics.frame.frame import TableFrame, find_frame
from dpstats.statistics.regression.octaves import draw_magnitude
from dpstats.statistics.regression.points import BALL, BALL_BITS, POINT, POINT_BITS, Floats

BEYOND = (60, 4)
"""Limits of columns leave so many rows beyond them, or rows worth so many nats: a small cluster far out may be all there is."""
INNER, OUTER = Fraction(93, 100), Fraction(98, 100)
"""Rows that lie within the radius of a step, and within that of the last one, which measures how far rows lie from centres."""
STRETCH = 1.2
"""Radii are lower ends of quarters of an octave; they are stretched by this."""
LEAST_RADIUS, MOST_RADIUS = 1 << 4, 1 << 20
"""In units of offsets."""
MOVING = 4.0
"""A centre moves where its noisy count is more than so many standard deviations of the noise in it."""
FARTHER = 1.5
"""The radius of a step is expected at so many times the mean distance that boxes suggest."""
WIDEST = 2.0
"""No radius is more than so many times what was expected; that of the last step is not less."""
TREE_SHARES = (Fraction(3, 5), Fraction(2, 5))
"""Of the budget of boxes: for which there are, and for counts."""
LAST_PART = Fraction(2, 1)
"""The last step takes so many times the share of others."""
CAP = 1.5
"""Costs are cut off at this many radii, squared."""


class ClusterShares(NamedTuple):
    """What the parts of a fit spend: `boxes` of the whole, the others of what that leaves."""

    boxes: Fraction
    frame: Fraction
    spreads: Fraction
    means: Fraction
    radius: Fraction
    """For each of two radii."""
    choice: Fraction
    steps: int
    later: Fraction = Fraction(0)
    """For whoever goes on from there."""

    @property
    def all_steps(self) -> Fraction:
        """What is left for steps of k-means."""
        return 1 - self.frame - self.spreads - self.means - 2 * self.radius - self.choice - self.later


@dataclass(frozen=True)
class MeasuredClusters:
    """The last step: noisy sums around centres that were released before."""

    frame: TableFrame
    centers: WholeCenters
    radius: int
    count_units: int
    noisy: NoisyParts
    steps: int

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.frame.columns)

    @property
    def counts(self) -> Floats:
        """Rows of each cluster, with noise; at least 1."""
        return np.maximum(self.noisy.noisy_sums[:, self.columns] / self.count_units, 1.0)

    @property
    def rows(self) -> float:
        """About how many rows there are, from all counts together."""
        return int(self.noisy.noisy_sums[:, self.columns].sum()) / self.count_units

    @property
    def count_deviation(self) -> float:
        """The standard deviation of the noise in a count."""
        return self.noisy.deviation / self.count_units

    @property
    def offsets(self) -> Floats:
        """Sums of offsets from the centres, in spreads."""
        return np.asarray(self.noisy.noisy_sums[:, : self.columns] / BALL)

    @property
    def offset_deviation(self) -> float:
        """The standard deviation of the noise in a sum of offsets."""
        return self.noisy.deviation / BALL

    @property
    def squares(self) -> Floats:
        """Sums of squared offsets from the centres, in squared spreads."""
        return np.asarray(self.noisy.noisy_sums[:, self.columns + 1 :] * (2 * self.radius / BALL**2))

    @property
    def square_deviation(self) -> float:
        """The standard deviation of the noise in a sum of squares."""
        return self.noisy.deviation * 2 * self.radius / BALL**2

    @property
    def shown(self) -> tuple[bool, ...]:
        """For each cluster whether its count is more than noise."""
        return tuple(bool(each > MOVING * self.count_deviation) for each in self.counts)


def take_cluster_steps(
    table: Table,
    columns: int,
    clusters: int,
    shares: ClusterShares,
    budget: ClusterBudget,
    rng: RandomSource,
    progress: Progress,
    *,
    standardize: bool,
) -> MeasuredClusters | None:
    """Spend the budget on clusters of the rows of a table; None where numbers are too large, which the frame tells."""
    steps = budget.steps
    frame = find_frame(table, columns, shares.frame, steps, rng, beyond=BEYOND)
    progress.step()
    if frame.is_too_large:
        return None
    frame = spread_frame(table, frame, shares.spreads, steps, standardize=standardize)
    points = find_points(table, frame, budget, TREE_SHARES, shares.means, rng)
    if points is None:
        return None
    seeds = find_seeds(points, clusters, frame)
    progress.step()
    raw_cells = table.row_sums(DistanceCells(NearCenters(frame, seeds[0])))
    expected = FARTHER * points.distance_from(seeds[0])
    likely = min(draw_radius(raw_cells, INNER, steps.draw_epsilon(shares.radius), rng, expected), WIDEST * expected)
    centers = _choice(table, frame, seeds, likely, shares.choice, steps, rng)
    progress.step()
    share = shares.all_steps / (shares.steps - 1 + LAST_PART)
    for _ in range(1, shares.steps):
        offsets = ClusterOffsets(NearCenters(frame, centers), whole_radius(likely))
        raw_parts, raw_cells = offsets.split(table.row_sums(offsets))
        noisy = steps.noisy_parts(raw_parts, offsets.units, share)
        centers = moved_centers(centers, noisy, offsets.count_units, frame)
        progress.step()
    outer = draw_radius(raw_cells, OUTER, steps.draw_epsilon(shares.radius), rng, likely)
    radius = whole_radius(min(max(outer, likely), WIDEST * likely))
    offsets = ClusterOffsets(NearCenters(frame, centers), radius, squares=True)
    raw_parts, _ = offsets.split(table.row_sums(offsets))
    noisy = steps.noisy_parts(raw_parts, offsets.units, share * LAST_PART)
    return MeasuredClusters(frame, centers, radius, offsets.count_units, noisy, shares.steps)


def draw_radius(raw_cells: Sequence[int], quantile: Fraction, epsilon: Fraction, rng: RandomSource, likely: float) -> float:
    """A private quantile of distances, in spreads, which is expected at about `likely`."""
    return draw_magnitude(raw_cells, epsilon, rng, quantile=quantile, likely=max(likely, LEAST_RADIUS / BALL), known=True)


def whole_radius(distance: float) -> int:
    """A radius in whole units."""
    return int(min(max(round(distance * STRETCH * BALL), LEAST_RADIUS), MOST_RADIUS))


def _choice(
    table: Table,
    frame: TableFrame,
    seeds: Sequence[WholeCenters],
    radius: float,
    share: Fraction,
    budget: ClusterSplit,
    rng: RandomSource,
) -> WholeCenters:
    """One of several sets of centres, a better one more likely."""
    if len(seeds) == 1:
        return seeds[0]
    cap = (whole_radius(radius * CAP) * 2.0 ** (POINT_BITS - BALL_BITS)) ** 2
    raw_costs = table.row_sums(CappedCosts(frame, tuple(seeds), cap))
    rate = budget.draw_epsilon(share) / STEPS
    return seeds[choose(score_weights([Fraction(-cost) for cost in raw_costs], rate), rng)]


def moved_centers(centers: WholeCenters, noisy: NoisyParts, count_units: int, frame: TableFrame) -> WholeCenters:
    """Each centre at the mean of its rows, where its count is more than noise."""
    sums = noisy.noisy_sums
    columns = len(centers[0])
    counts = sums[:, columns] / count_units
    known = counts > MOVING * noisy.deviation / count_units
    moves = sums[:, :columns] / BALL / np.where(known, counts, math.inf)[:, None]
    return whole_centers(np.array(centers, dtype=np.float64) + np.rint(moves * POINT), frame)
