"""Independence: what a table would be if its columns told nothing about each other, and how far it is believed to be so.

The counts of a released table differ from those of independent columns by its noise and by what columns have to do with each
other. How much the latter is follows from all cells together: it is the variance that noise does not explain. A prior that
expects as much draws a model towards independence where a table shows little but noise, and hardly where it shows a strong
relation.
"""

from __future__ import annotations

import math

import numpy as np

from dpstats.foundations.portable import Floats

_ROUNDS = 20
_DOUBT = 0.5
"""Standard errors of the variance that noise does not explain, which are added to it: a relation may be there and not show."""


def independent_rows(counts: Floats, variance: float, total: float) -> float:
    """How many rows the belief that the columns of a released table are independent is worth; none for a single column.

    A prior of k rows lets a count that is expected to be e differ by a variance of e * total / k. The variance of noise is known;
    the factor of e is estimated with weights that suit it, in some rounds (a variance component, by the method of moments).
    """
    if counts.ndim < 2:
        return 0.0
    counts = np.ascontiguousarray(counts)  # sums go by the order in memory
    expected = independent(counts)
    free = math.prod(size - 1 for size in counts.shape) / counts.size
    squares = np.square(counts - expected) / free
    related = 0.0
    for _ in range(_ROUNDS):
        weights = expected / np.square(variance + related * expected)
        explained = float(np.add.reduce(weights * (squares - variance), axis=None))
        related = max(0.0, explained / (float(np.add.reduce(weights * expected, axis=None)) + 1e-300))
    known = float(np.add.reduce(np.square(expected / (variance + related * expected)), axis=None)) * free
    return total / (related + _DOUBT * math.sqrt(2.0 / (known + 1e-300)))


def independent(counts: Floats) -> Floats:
    """The product of a table's single marginals, none below 0, with the table's total; 0 where that is not positive."""
    total = float(np.add.reduce(counts, axis=None))
    if total <= 0.0:
        return np.zeros_like(counts)
    product = np.full(counts.shape, total)
    for place in range(counts.ndim):
        sums = np.add.reduce(counts, axis=tuple(axis for axis in range(counts.ndim) if axis != place))
        product *= np.maximum(sums / total, 0.0).reshape([-1 if axis == place else 1 for axis in range(counts.ndim)])
    return product
