"""How alike neighboring levels of ordered columns are: estimated from released tables, and used to tell their content from noise.

The logarithm of a table's factor is taken to be `spread` of independent coefficients: each coefficient counts for its own cell
and, the less the farther, for cells nearby, along every axis whose levels are alike. So a fit takes up what neighboring cells
agree on before what one cell says alone, and noise, in which neighbors do not agree, is taken up last. Tables of one column are
left as they are: single levels may well stand out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpstats.foundations.portable import Floats, exponential
from dpstats.statistics.synthetic.independence import independent
from dpstats.statistics.synthetic.junction_tree import Columns

_MOST_ALIKE = 0.9
"""The largest share of a coefficient that counts for neighbors too."""
_RANGE = 3.0
"""Over how many levels this falls to 1/e."""
_NOT_ALIKE, _QUITE_ALIKE = 0.1, 0.4
"""Correlations of neighbors below which they count as not alike, and above which as alike as can be."""


class Smoothness:
    """How far coefficients of some columns count for neighbors: `kernels[column]` has a line and a row for each level."""

    def __init__(self, kernels: Mapping[int, Floats]) -> None:
        self._kernels = dict(kernels)
        self._inverses = {column: _inverse(kernel) for column, kernel in kernels.items()}

    @classmethod
    def estimated(
        cls, sizes: Sequence[int], ordered: Mapping[int, int], tables: Mapping[Columns, tuple[Floats, float]]
    ) -> Smoothness:
        """What released tables (noisy counts, and the variance of their noise) show of columns with levels in order.

        `ordered[column]` is how many of the column's first levels stand in order; the others have no neighbors.
        """
        shares = {column: alike_share(column, number, tables) for column, number in ordered.items() if number > 1}
        return cls({column: kernel(sizes[column], ordered[column], share) for column, share in shares.items() if share > 0.0})

    def spread(self, axes: Columns, coefficients: Floats) -> Floats:
        """The logarithm of a factor over `axes` that has these coefficients."""
        return _along_axes(self._kernels, axes, coefficients)

    def gathered(self, axes: Columns, logarithm: Floats) -> Floats:
        """The coefficients of which `spread` makes this logarithm of a factor."""
        return _along_axes(self._inverses, axes, logarithm)


def alike_share(column: int, ordered: int, tables: Mapping[Columns, tuple[Floats, float]]) -> float:
    """The share of coefficients that counts for neighbors along a column, by the correlation of neighbors in released tables.

    What is correlated are differences from what the table would be if its columns were independent. The noise of neighbors is
    not correlated, and what it adds to squares is known and taken off; where it hides the rest, a middling share is taken.
    """
    products = squares = doubt = 0.0
    for axes, (counts, variance) in tables.items():
        if len(axes) < 2 or column not in axes:
            continue
        place = axes.index(column)
        expected = independent(counts)
        scales = np.sqrt(expected + math.sqrt(variance))
        lines = _by_level((counts - expected) / scales, place)[:, :ordered]
        noise = _by_level(variance / (scales * scales), place)[:, :ordered]
        inner = np.ones(ordered)
        inner[0] = inner[-1] = 0.5
        products += float(np.add.reduce(lines[:, 1:] * lines[:, :-1], axis=None))
        squares += float(np.add.reduce((lines * lines - noise) * inner[:, None], axis=None))
        doubt += 2.0 * float(np.add.reduce(np.square(noise * inner[:, None]), axis=None))
    unknown = 2.0 * math.sqrt(doubt) + 1e-300
    middling = (_NOT_ALIKE + _QUITE_ALIKE) / 2
    correlation = (products + middling * unknown) / (max(squares, 0.0) + unknown)
    return _MOST_ALIKE * min(1.0, max(0.0, (correlation - _NOT_ALIKE) / (_QUITE_ALIKE - _NOT_ALIKE)))


def kernel(size: int, ordered: int, share: float) -> Floats:
    """How much a level's coefficient counts for each level; levels from the `ordered`-th on count for themselves alone."""
    places = np.arange(size, dtype=np.float64)
    near = share * exponential(-np.abs(places[:, None] - places) / _RANGE)
    near[ordered:] = near[:, ordered:] = 0.0
    near[np.arange(size), np.arange(size)] = 1.0
    return near


def _along_axes(matrices: Mapping[int, Floats], axes: Columns, values: Floats) -> Floats:
    """The values multiplied by the matrix of each axis that has one; those of a single axis stay as they are."""
    if len(axes) < 2:
        return values
    for place, column in enumerate(axes):
        if column in matrices:
            lines = _by_level(values, place)
            values = np.add.reduce(lines[:, :, None] * matrices[column][:, :, None], axis=1).reshape(values.shape)
    return values


def _by_level(values: Floats, place: int) -> Floats:
    """A view with three axes, of which the middle one is the axis at `place`."""
    return values.reshape(math.prod(values.shape[:place]), values.shape[place], -1)


def _inverse(matrix: Floats) -> Floats:
    """The inverse of a positive definite matrix, by elimination in a fixed order."""
    size = len(matrix)
    rows = np.concatenate([matrix, np.eye(size)], axis=1)
    for place in range(size):
        rows[place] /= rows[place, place]
        others = rows[:, place].copy()
        others[place] = 0.0
        rows -= others[:, None] * rows[place]
    return np.ascontiguousarray(rows[:, size:])
