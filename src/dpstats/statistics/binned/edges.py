"""Edges of bins: round numbers of equal distance over the bulk of the rows.

Claim      epsilon-DP, where epsilon is what `Edges.spent` says
Neighbors  ADD_REMOVE
Why        Two steps that add up: private limits of the rows (universal/limits.py), and a coarse look at the stretch between them,
           counts with discrete Laplace noise in cells of which a row is in one. Edges are computed from these two and from
           public parameters, and from nothing else
Numerics   Exact; an edge is a decimal of 15 digits, as released values are
Source     histograms.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.mechanisms.discrete_laplace import noisy_counts
from dpstats.statistics.universal.decimals import (
    HIGHEST_ORDINAL,
    decade_and_mantissa,
    float_of,
    fraction_of,
    lowest_value_at,
    ordinal_of,
)
from dpstats.statistics.universal.limits import draw_limits

LIMITS_SHARE = Fraction(7, 10)
"""The part of epsilon out of which the limits are drawn; they leave most of it where there are many rows."""
LOOK_SHARE = Fraction(8, 100)
LOOK_CELLS = 40
FENCE = 6
"""How many times as far as half of a side's rows a bin may lie; rows of a heavy tail beyond that share the outer bin."""
OUTER_PART = 0.02
"""The part of the rows that an outer bin may take at either end..."""
OUTER_DEVIATIONS = 1.5
"""... or the rows that this many standard deviations of the look's noise are worth, if these are more."""
_ROUND = (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(5))


class Edges(NamedTuple):
    """Private edges, and what was spent on them."""

    values: tuple[float, ...]
    spent: Fraction


def draw_edges(column: Column, bins: int, epsilon: Fraction, rng: RandomSource) -> Edges:
    """Edges of about `bins` bins out of the epsilon of a whole histogram, for one row added or removed."""
    limits = draw_limits(column, epsilon * LIMITS_SHARE, rng)
    down, up = (min(side.reach, FENCE * side.scale) for side in (limits.below, limits.above))
    low, high = limits.middle - down, limits.middle + up
    # a median of 0 alone says little, because columns of any kind have many zeros
    scales = [side.scale for side in (limits.below, limits.above) if side.scale]
    whole = limits.middle.denominator == 1 and (limits.middle != 0 or any(scale.denominator == 1 for scale in scales))
    if low == high:
        return Edges(round_edges(low, high, bins, whole=whole), limits.spent)
    look_epsilon = epsilon * LOOK_SHARE
    cells = round_edges(low, high, LOOK_CELLS, whole=whole)
    noisy = noisy_counts_between(column, cells, look_epsilon, rng)
    low, high = bulk_between(cells, noisy, deviation=math.sqrt(2) / float(look_epsilon))
    return Edges(round_edges(low, high, bins, whole=whole), limits.spent + look_epsilon)


def noisy_counts_between(column: Column, edges: Sequence[float], epsilon: Fraction, rng: RandomSource) -> list[int]:
    """The rows below the first edge, from each to the next, and from the last on, with noise: epsilon-DP, and pure."""
    return noisy_counts(raw_counts_between(column, edges), epsilon, rng)


def raw_counts_between(column: Column, edges: Sequence[float]) -> list[int]:
    """The rows below the first edge, from each edge to the next, and from the last one on; every row is counted once.

    A row lies where its 15-digit decimal does.
    """
    assert column.dtype is not None
    raw_below = [0, *column.counts_below([lowest_value_at(ordinal_of(edge), column.dtype) for edge in edges]), column.count()]
    return [after - before for before, after in pairwise(raw_below)]


def bulk_between(edges: Sequence[float], noisy_counts: Sequence[int], deviation: float) -> tuple[Fraction, Fraction]:
    """The first and the last place of the cells that are left when few rows are cut off at either end."""
    few = OUTER_PART * max(sum(noisy_counts), 0)
    first = _cells_of_few(noisy_counts, few, deviation)
    last = len(noisy_counts) - 1 - _cells_of_few(list(reversed(noisy_counts)), few, deviation)
    if last < first:  # no telling rows from noise
        first, last = 0, len(noisy_counts) - 1
    low, high = exact(edges[max(first - 1, 0)]), exact(edges[min(last, len(edges) - 1)])
    inside = high - (high - low) / 10**6  # the last cell ends below its edge
    return low, inside


def exact(edge: float) -> Fraction:
    """The decimal that an edge stands for."""
    return fraction_of(ordinal_of(edge))


def round_edges(low: Fraction, high: Fraction, bins: int, *, whole: bool = False) -> tuple[float, ...]:
    """Equally distant edges that are round numbers, the first at or below `low` and the last above `high`.

    Their distance is 1, 2, 2.5 or 5 times a power of ten, `whole` for whole numbers only, such that there are about `bins` bins
    between them.
    """
    step = min(_steps(low, high, bins, whole), key=lambda step: (abs(math.log(_bins_at(low, high, step) / bins)), -step))
    first = math.floor(low / step)
    edges = [(first + place) * step for place in range(_bins_at(low, high, step) + 1)]
    return tuple(float_of(ordinal) for ordinal in sorted({_nearest(edge) for edge in edges}))


def _cells_of_few(noisy_counts: Iterable[int], few: float, deviation: float) -> int:
    """How many cells, from the first one on, hold few rows together."""
    total = 0
    place = 0
    for place, noisy_count in enumerate(noisy_counts):
        total += noisy_count
        if total > max(few, OUTER_DEVIATIONS * deviation * math.sqrt(place + 1)):
            return place
    return place + 1


def _bins_at(low: Fraction, high: Fraction, step: Fraction) -> int:
    """How many steps it takes from an edge at or below `low` to one above `high`."""
    return math.floor(high / step) + 1 - math.floor(low / step)


def _steps(low: Fraction, high: Fraction, bins: int, whole: bool) -> Iterator[Fraction]:
    """Round distances that may serve; at least one."""
    if low == high:
        yield max(Fraction(1), _digit(low)) if whole else _digit(low, last=True)
        return
    wanted = (high - low) / bins
    decade = len(str(math.floor(wanted))) - 1 if wanted >= 1 else -len(str(math.ceil(1 / wanted)))
    steps = [mantissa * Fraction(10) ** exponent for exponent in range(decade - 1, decade + 3) for mantissa in _ROUND]
    finest = max(_digit(low), _digit(high), Fraction(1 if whole else 0))
    yield from [step for step in steps if step >= finest and (not whole or step.denominator == 1)] or [finest]


def _digit(value: Fraction, *, last: bool = False) -> Fraction:
    """The place value of the 15th digit of a decimal, or of its `last` digit that is not 0; 0 itself has 1."""
    if value == 0:
        return Fraction(1 if last else 0)
    decade, mantissa = decade_and_mantissa(max(abs(_nearest(value)), 1))
    zeros = len(str(mantissa)) - len(str(mantissa).rstrip("0")) if last else 0
    return Fraction(10) ** (decade - 14 + zeros)


def _nearest(value: Fraction) -> int:
    """The ordinal of the decimal nearest to a public rational."""
    limit = fraction_of(HIGHEST_ORDINAL)
    return ordinal_of(float(max(-limit, min(limit, value))))
