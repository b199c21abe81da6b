"""Decoding: from coarse codes of a model to values, by way of noisy counts of fine codes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource, random_words
from dpstats.statistics.synthetic.fine_codes import FineColumn, decimal_of
from dpstats.statistics.synthetic.measuring import MeasuredColumn
from dpstats.statistics.synthetic.rows import rounded_counts, shuffled

Integers = NDArray[np.int64]
OTHER = "other"
"""What stands for labels that were neither listed nor found."""


def fine_codes(column: MeasuredColumn, coarse: NDArray[np.unsignedinteger], rng: RandomSource) -> Integers:
    """A fine code for each row, in proportion to noisy counts within its coarse code."""
    shares = np.where(column.merged[None, :] == np.arange(column.size)[:, None], column.counts[None, :], 0.0)
    empty = ~(shares > 0).any(axis=1)
    shares[empty] = (column.merged[None, :] == np.arange(column.size)[empty, None]).astype(np.float64)
    members = np.bincount(coarse, minlength=column.size)
    order = shuffled(coarse.size, rng)
    order = order[np.argsort(coarse[order], kind="stable")]
    counts = rounded_counts(shares, members, rng)
    codes = np.empty(coarse.size, dtype=np.int64)
    codes[order] = np.repeat(np.tile(np.arange(counts.shape[1]), counts.shape[0]), counts.ravel())
    return codes


def decoded(column: FineColumn, codes: Integers, rng: RandomSource) -> NDArray[Any]:
    """Values of a column: labels as objects, numbers as floats; None or NaN where missing."""
    if column.is_labels:
        values = np.empty(column.size, dtype=object)
        values[:] = [*column.labels, OTHER, None]
        return np.asarray(values[codes])
    numbers = np.full(codes.size, np.nan)
    spans = column.spans()
    uniform = np.ldexp((random_words(rng, codes.size) >> np.uint64(11)).astype(np.float64), -53)
    for code, (low, high) in enumerate(spans):
        rows = np.flatnonzero(codes == code)
        if rows.size:
            numbers[rows] = _within(low, high, column.grain, uniform[rows])
    return numbers


def _within(low: Fraction, high: Fraction, grain: Fraction, uniform: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers spread evenly over a stretch, on the grain where there is one."""
    if not grain:
        return float(low) + (float(high) - float(low)) * uniform
    steps = max(1, int((high - low) / grain))
    places = np.minimum(np.floor(uniform * steps).astype(np.int64), steps - 1)
    if steps <= 1 << 16:
        values = np.array([decimal_of(low + grain * place) for place in np.unique(places).tolist()])
        return np.asarray(values[np.searchsorted(np.unique(places), places)])
    return float(low) + float(grain) * places
