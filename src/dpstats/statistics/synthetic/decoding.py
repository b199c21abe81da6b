"""Decoding: from coarse codes of a model to values, by way of fine codes.

Rows of one coarse code are spread over its fine codes. A model says nothing about how columns are related within a code. But
where two neighbouring codes differ in how they go with another column, the values between them change over from one to the other.
So a fine code is drawn in proportion to its count, and to how often the codes around it go with the fine code of one other
column: the one, of those drawn before, that tells most about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.synthetic.columns import MeasuredColumn
from dpstats.statistics.synthetic.fine_codes import FineColumn, decimal_of
from dpstats.statistics.synthetic.graphical_model import GraphicalModel
from dpstats.statistics.synthetic.rows import draw_rows, rounded_counts, shuffled, sorting_order

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
OTHER = "other"
"""What stands for labels that were neither listed nor found."""
_MOST_STEPS = 1 << 16


def draw_values(
    columns: Sequence[MeasuredColumn], model: GraphicalModel, blocks: Iterable[int], rng: RandomSource
) -> Iterator[dict[str, NDArray[Any]]]:
    """Blocks of so many rows: values column by column, labels as objects, numbers as floats; None or NaN where missing."""
    order: list[tuple[int, int | None, Floats | None]] = []
    for place, partner in _by_what_tells_most(model):
        ratios = None
        if partner is not None:
            ratios = _smooth(model.marginal((place, partner)), columns[place], columns[partner])
        order.append((place, partner, ratios))
    for rows in blocks:
        coarse = draw_rows(model, rows, rng)
        fine: dict[int, Integers] = {}
        for place, partner, ratios in order:
            beside = None if partner is None or ratios is None else (ratios, fine[partner])
            fine[place] = _fine_codes(columns[place], coarse[:, place].astype(np.int64), beside, rng)
        yield {column.fine.name: decoded(column.fine, fine[place], rng) for place, column in enumerate(columns)}


def decoded(column: FineColumn, codes: Integers, rng: RandomSource) -> NDArray[Any]:
    """Values of a column that has these fine codes."""
    if column.is_labels:
        values = np.empty(column.size, dtype=object)
        values[:] = [*column.labels, OTHER, None]
        return np.asarray(values[codes])
    numbers = np.full(codes.size, np.nan)
    uniform = np.ldexp((random_words(rng, codes.size) >> np.uint64(11)).astype(np.float64), -53)
    for code, (low, high) in enumerate(column.spans()):
        rows = np.flatnonzero(codes == code)
        if rows.size:
            numbers[rows] = decimal_of(low) if column.is_single(low, high) else _within(low, high, column.grain, uniform[rows])
    return numbers


def _by_what_tells_most(model: GraphicalModel) -> list[tuple[int, int | None]]:
    """Columns in an order in which each comes after the one that tells most about it, of those before it; the first has none."""
    told = {pair: _information(shares) for pair, shares in model.pair_marginals().items()}
    order: list[tuple[int, int | None]] = [(0, None)]
    left = set(range(1, len(model.sizes)))
    while left:
        drawn = [place for place, _ in order]
        place, partner = max(
            ((place, other) for place in sorted(left) for other in drawn),
            key=lambda pair: told[min(pair), max(pair)],
        )
        order.append((place, partner))
        left.remove(place)
    return order


def _information(shares: Floats) -> float:
    """How far two columns are from telling nothing about each other: the l1 distance, which every machine adds up alike."""
    first, second = np.add.reduce(shares, axis=1), np.add.reduce(shares, axis=0)
    return float(np.add.reduce(np.abs(shares - first[:, None] * second[None, :]), axis=None))


def _fine_codes(column: MeasuredColumn, coarse: Integers, beside: tuple[Floats, Integers] | None, rng: RandomSource) -> Integers:
    """A fine code for each row of coarse codes; `beside` is how often each goes with fine codes of another column, and these."""
    weights, groups, width = column.counts[:, None], coarse, 1
    if beside is not None:
        ratios, others = beside
        weights, width = weights * ratios, ratios.shape[1]
        groups = coarse * width + others
    members = np.bincount(groups, minlength=column.size * width)
    present = np.flatnonzero(members)
    inside = column.merged[None, :] == (present // width)[:, None]
    shares = np.where(inside, weights.T[present % width], 0.0)
    for allowed in (column.counts > 0, column.fine.may_hold, True):
        empty = ~(shares > 0).any(axis=1)
        shares[empty] = inside[empty] & allowed
    order = shuffled(coarse.size, rng)
    order = order[sorting_order(groups[order].astype(np.uint64))]
    counts = rounded_counts(shares, members[present], rng)
    codes = np.empty(coarse.size, dtype=np.int64)
    codes[order] = np.repeat(np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.ravel())
    return codes


def _smooth(shares: Floats, column: MeasuredColumn, beside: MeasuredColumn) -> Floats:
    """How much more often two fine codes go together than if columns told nothing about each other, by interpolation."""
    first, second = np.add.reduce(shares, axis=1), np.add.reduce(shares, axis=0)
    even = first[:, None] * second[None, :]
    ratios = np.divide(shares, even, out=np.zeros_like(shares), where=even > 0)
    return _interpolated(_interpolated(ratios, column).T, beside).T


def _interpolated(ratios: Floats, column: MeasuredColumn) -> Floats:
    """Rows for coarse codes of a column made into rows for its fine ones, linear in the ranks between middles of coarse codes."""
    low, high, part = _between(column)
    return ratios[low] * (1 - part)[:, None] + ratios[high] * part[:, None]


def _between(column: MeasuredColumn) -> tuple[Integers, Integers, Floats]:
    """For each fine code the coarse codes whose middles it lies between, and how far it is on the way."""
    merged = column.merged
    low, high, part = merged.copy(), merged.copy(), np.zeros(merged.size)
    if column.fine.is_labels:
        return low, high, part
    counts = column.counts[:-1]
    after = np.add.accumulate(counts)
    ranks = after - counts / 2
    sums = np.bincount(merged[:-1], weights=counts, minlength=column.size)
    ends = np.bincount(merged[:-1], weights=counts * ranks, minlength=column.size)
    middles = np.divide(ends, sums, out=np.zeros_like(ends), where=sums > 0)
    several = np.bincount(merged[:-1], weights=counts > 0, minlength=column.size) > 1
    for fine, rank in enumerate(ranks.tolist()):
        code = int(merged[fine])
        other = code + (1 if rank > middles[code] else -1)
        if several[code] and 0 <= other < column.size and sums[other] > 0:
            high[fine], part[fine] = other, min(1.0, (rank - middles[code]) / (middles[other] - middles[code]))
    return low, high, part


def _within(low: Fraction, high: Fraction, grain: Fraction, uniform: Floats) -> Floats:
    """Numbers spread evenly over a stretch, on the grain where there is one."""
    first = math.ceil(low / grain) * grain if grain else low
    steps = math.ceil((high - first) / grain) if grain else 0
    if steps < 1:
        return float(low) + (float(high) - float(low)) * uniform
    if steps > _MOST_STEPS:
        return np.rint((float(first) + (float(high) - float(first)) * uniform) / float(grain)) * float(grain)
    places, drawn = np.unique(np.floor(uniform * steps).astype(np.int64), return_inverse=True)
    values = np.array([decimal_of(first + grain * place) for place in places.tolist()])
    return np.asarray(values[drawn])
