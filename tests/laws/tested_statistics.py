"""Exact output laws of whole tested statistics on one small table, for fixed proposals and apart from every sampler.

A law is put together from the statistic's distances, the chances of its tests (ptr_laws.py) and the noise of its release on
the very grid that the statistic uses. A noisy release is seen through public `cuts`: the outcome is the number of cuts at or
below it, so that 0 and len(cuts) are the two tails; a value that leaves as it is is ("exact", value). What is cut is what the
noise is added to: cells of a `LogGrid` for a range, plain numbers for a quantile or a mean. Whatever a method does to it later
looks at the release alone.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

from dpstats.engines.tables.given import as_column
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.rounding import exact_rational
from dpstats.foundations.summaries import LabelCounts, label_order
from dpstats.mechanisms.discrete_laplace import l1_units
from dpstats.mechanisms.distance_tests import BestTest, LaplaceTest, steps_within
from dpstats.mechanisms.grid import grid_for
from dpstats.mechanisms.pipelines.pipeline import Allocation
from dpstats.mechanisms.propose_test_release import Exact
from dpstats.statistics.propose_test_release.distances import steps_to_another_mode, steps_to_jump, steps_to_sensitive_mean
from dpstats.statistics.propose_test_release.locations import QuantileStatistic
from dpstats.statistics.propose_test_release.log_grid import CELLS, LogGrid
from dpstats.statistics.propose_test_release.ranks import RankedRows, decimal_of, window_request
from dpstats.statistics.propose_test_release.scales import RangeStatistic
from dpstats.statistics.propose_test_release.setting import TestedRows
from dpstats.statistics.propose_test_release.trimmed_means import Kept
from dpstats.statistics.universal.decimals import Number
from tests.laws.mechanisms import exponential_of_minus
from tests.laws.propose_test_release import REFUSED, best_test_law, cascade_law, laplace_test_law

Cuts = tuple[Fraction, ...]
StatisticLaw = dict[Hashable, Fraction]

MOST_NATS = 500
HALF = Fraction(1, 2)
"""The test's part of epsilon in every method with a single test and a noisy release."""


def rows_of_table(
    values: Any, quantiles: Sequence[Fraction], cap: int, row_map: Callable[[Number], Fraction] = decimal_of
) -> TestedRows:
    """The rows of a small table as a tested statistic gets them."""
    windows = as_column(values).order_windows([window_request(quantile, cap) for quantile in quantiles])
    return TestedRows(RankedRows(windows, row_map), cap, tuple(windows))


def pass_chance(test: BestTest | LaplaceTest, distance: int) -> Fraction:
    """The chance of a pass at a distance."""
    return laplace_test_law(test, distance) if isinstance(test, LaplaceTest) else best_test_law(test, distance)


@functools.lru_cache(maxsize=4096)
def noisy_law(value: Hashable, bound: Fraction, epsilon: Fraction, cuts: Cuts) -> StatisticLaw:
    """A release with noise for the bound; of an `Exact` value, and of any value where the bound is 0, the value itself."""
    if isinstance(value, Exact):
        return {("exact", value.value): Fraction(1)}
    if not bound:
        return {("exact", value): Fraction(1)}
    grid = grid_for(bound / epsilon, None, False)
    scale = l1_units(bound, grid, 1) / epsilon
    needed = [math.ceil(cut / grid.spacing) - grid.units(value) for cut in cuts]
    at_least = [Fraction(1), *(noise_tail(least, scale) for least in needed), Fraction(0)]
    return {place: above - beyond for place, (above, beyond) in enumerate(itertools.pairwise(at_least))}


def noise_tail(least: int, scale: Fraction) -> Fraction:
    """P(Z >= least) for discrete Laplace noise Z; below exp(-MOST_NATS) it is taken as 0, above 1 - exp(-MOST_NATS) as 1."""
    nats = (least if least > 0 else 1 - least) / scale
    tail = exponential_of_minus(nats) / (1 + exponential_of_minus(1 / scale)) if nats < MOST_NATS else Fraction(0)
    return tail if least > 0 else 1 - tail


def one_test_law(
    test: BestTest | LaplaceTest, distance: int, value: Hashable, bound: Fraction, release_epsilon: Fraction, cuts: Cuts
) -> StatisticLaw:
    """One test of a distance and, if it passes, a release with noise for the bound."""
    return cascade_law([pass_chance(test, distance)], [noisy_law(value, bound, release_epsilon, cuts)])


def cascade_of_steps_law(allocation: Allocation, rows: TestedRows, proposal: object, cuts: Cuts) -> StatisticLaw:
    """A cascade's steps in order, all proposing from `proposal`: Algorithms S and 12, the second level of M, bins' centres."""
    chances, releases = [], []
    for step in allocation.pipeline.steps():
        bound = exact_rational(step.propose(proposal), "the bound")
        test, budget = allocation.test(step), allocation.budget(step)
        chances.append(pass_chance(test, steps_within(step.distance(rows, bound), test.cap)))
        releases.append(noisy_law(step.value(rows, bound), bound, budget.release_epsilon, cuts))
    return cascade_law(chances, releases)


def range_jumps_law(
    measured: RangeStatistic, grid: LogGrid, rows: TestedRows, epsilon: Fraction, delta: Fraction, cuts: Cuts
) -> StatisticLaw:
    """The range by one test of the distance to a jump."""
    ranks = measured.ranks(rows.raw)
    distance = steps_to_jump(rows.raw.at, *ranks, grid.base, rows.cap) if rows.raw.raw_rows else 0
    test = BestTest(epsilon * HALF, delta)
    return one_test_law(test, distance, cell_or_zero(measured, grid, rows), Fraction(CELLS + 1), epsilon * HALF, cuts)


def cell_or_zero(measured: RangeStatistic, grid: LogGrid, rows: TestedRows) -> Hashable:
    """What a range releases: its cell with noise, or 0 as it is."""
    cell = measured.raw_cell(rows.raw, grid)
    return Exact(0.0) if cell is None else cell


def bound_law(
    place: QuantileStatistic, bound: Fraction, rows: TestedRows, epsilon: Fraction, delta: Fraction, cuts: Cuts
) -> StatisticLaw:
    """A quantile by one test of the distance to a table whose local sensitivity exceeds the bound."""
    test = BestTest(epsilon * HALF, delta)
    distance = place.distance_to_sensitive(rows, bound)
    return one_test_law(test, distance, place.raw_value(rows.raw), bound, epsilon * HALF, cuts)


def stable_law(place: QuantileStatistic, rows: TestedRows, epsilon: Fraction, delta: Fraction) -> StatisticLaw:
    """A quantile as it is, if no row can move it."""
    distance = place.distance_to_sensitive(rows, Fraction(0))
    return one_test_law(BestTest(epsilon, delta), distance, place.raw_value(rows.raw), Fraction(0), epsilon, ())


def trimmed_mean_law(
    kept: Kept, bound: Fraction, rows: TestedRows, epsilon: Fraction, delta: Fraction, cuts: Cuts
) -> StatisticLaw:
    """The trimmed mean by one test, for rows that `trimmed.exact_row` read and windows that hold all of them."""
    first, last = kept.ranks(rows.raw.raw_rows)
    distance = 0
    if last > first:
        steps = steps_to_sensitive_mean(rows.raw.at, first, last, bound / rows.raw.unit, rows.cap)
        distance = min(last - first, steps)
    test = BestTest(epsilon * HALF, delta)
    return one_test_law(test, distance, mean_of_ranks(rows, first, last), bound, epsilon * HALF, cuts)


def mean_of_ranks(rows: TestedRows, first: int, last: int) -> Fraction:
    """The mean of the rows of some ranks, one by one; 0 where there are none."""
    kept = [rows.raw.value(rank) for rank in range(first, last + 1)]
    return sum(kept, Fraction(0)) / len(kept) if kept else Fraction(0)


def mode_law(leaders: LabelCounts, epsilon: Fraction, delta: Fraction, neighbors: Neighbors) -> StatisticLaw:
    """The mode, from the two most common labels with their counts."""
    if not leaders:
        return {REFUSED: Fraction(1)}
    label, first = leaders[0]
    rival, second = leaders[1] if len(leaders) > 1 else (label, 0)
    distance = steps_to_another_mode(first, second, label_order(rival) > label_order(label), neighbors)
    return one_test_law(BestTest(epsilon, delta, unstable_at=1), distance, label, Fraction(0), epsilon, ())
