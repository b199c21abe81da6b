"""Exact output laws of noisy votes and product cells on one small table, apart from every sampler.

Every coordinate is seen through public cuts of its own: its outcome is the number of cuts at or below it. A law is that of all
coordinates together, whose noises are independent.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.summaries import Clip
from dpstats.mechanisms.discrete_laplace import l1_units
from dpstats.mechanisms.grid import grid_for
from dpstats.statistics.paired.products import raw_product_cells
from dpstats.statistics.paired.votes import Count, RawOrders
from tests.laws.tested_statistics import noise_tail

Rows = Sequence[tuple[float, float]]
Cuts = Sequence[Sequence[Fraction]]
JointLaw = dict[tuple[int, ...], Fraction]


def raw_classes_of(count: Count, rows: Rows) -> list[Fraction]:
    """The five classes of a small table."""
    table = np.array(rows, dtype=float).reshape(-1, 2)
    return count.raw_classes(RawOrders.of(table[:, 0], table[:, 1]))


def votes_law(count: Count, rows: Rows, epsilon: Fraction, neighbors: Neighbors, cuts: Cuts) -> JointLaw:
    """The noisy classes."""
    sensitivity = count.l1_sensitivity[neighbors]
    grid = grid_for(sensitivity / epsilon, None, False)
    units = [grid.units(weight) for weight in raw_classes_of(count, rows)]
    scale = l1_units(sensitivity, grid, len(units)) / epsilon
    return joint_law(units, scale, [[math.ceil(cut / grid.spacing) for cut in each] for each in cuts])


def raw_cells_by_hand(rows: Rows, clips: tuple[Clip, Clip], degree: int) -> list[int]:
    """The product cells of a small table, from sums of its rows' places."""
    places = [(clips[0].place(x), clips[1].place(y)) for x, y in rows]
    return cells_at(places, clips, degree)


def cells_at(places: Sequence[tuple[int, int]], clips: tuple[Clip, Clip], degree: int) -> list[int]:
    """The product cells of rows at some places."""
    powers = range(degree + 1)
    sums = [[sum(a**i * b**j for a, b in places) for j in powers] for i in powers]
    return raw_product_cells(sums, clips[0].steps, clips[1].steps)


def cells_law(cells: Sequence[int], clips: tuple[Clip, Clip], degree: int, epsilon: Fraction, cuts: Cuts) -> JointLaw:
    """Noisy product cells; cuts are in rows."""
    whole = (clips[0].steps * clips[1].steps) ** degree
    return joint_law(cells, whole / epsilon, [[math.ceil(cut * whole) for cut in each] for each in cuts])


def joint_law(units: Sequence[int], scale: Fraction, cuts: Sequence[Sequence[int]]) -> JointLaw:
    """Whole numbers with independent discrete Laplace noise of one scale."""
    singles = [single_law(value, scale, each) for value, each in zip(units, cuts, strict=True)]
    places = itertools.product(*(range(len(single)) for single in singles))
    return {
        outcome: math.prod((single[at] for single, at in zip(singles, outcome, strict=True)), start=Fraction(1))
        for outcome in places
    }


def single_law(value: int, scale: Fraction, cuts: Sequence[int]) -> list[Fraction]:
    """The chance of each outcome of one whole number with noise."""
    at_least = [Fraction(1), *(noise_tail(cut - value, scale) for cut in cuts), Fraction(0)]
    return [above - beyond for above, beyond in itertools.pairwise(at_least)]
