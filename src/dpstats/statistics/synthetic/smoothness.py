"""What is expected of a table's factor before it is measured: that neighboring levels of an ordered column are alike.

The logarithm of a factor is taken to be `spread` of independent coefficients: each coefficient counts for its own cell and, the
less the farther, for cells nearby, along every ordered axis. So a fit takes up what many neighboring cells agree on before what
one cell says alone, and noise, in which neighbors do not agree, is taken up last. Tables of one column are left as they are:
single levels may well stand out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpstats.foundations.portable import Floats, exponential
from dpstats.statistics.synthetic.junction_tree import Columns

_ALIKE = 0.9
"""The share of a coefficient that counts for neighbors too."""
_RANGE = 3.0
"""Over how many levels this falls to 1/e."""


class Smoothness:
    """Which columns have neighboring levels: `ordered[column]` is how many of its first levels stand in order."""

    def __init__(self, sizes: Sequence[int], ordered: Mapping[int, int]) -> None:
        self.ordered = dict(ordered)
        self._kernels = {column: _kernel(sizes[column], number) for column, number in ordered.items() if number > 1}

    def spread(self, axes: Columns, coefficients: Floats) -> Floats:
        """The logarithm of a factor over `axes` that has these coefficients."""
        if len(axes) < 2:
            return coefficients
        for place, column in enumerate(axes):
            kernel = self._kernels.get(column)
            if kernel is not None:
                shape = coefficients.shape
                lines = coefficients.reshape(int(np.prod(shape[:place])), shape[place], 1, -1)
                coefficients = np.add.reduce(lines * kernel[:, :, None], axis=1).reshape(shape)
        return coefficients


def _kernel(size: int, ordered: int) -> Floats:
    """How much a level's coefficient counts for each level; levels from the `ordered`-th on count for themselves alone."""
    places = np.arange(size, dtype=np.float64)
    near = _ALIKE * exponential(-np.abs(places[:, None] - places) / _RANGE)
    near[ordered:] = near[:, ordered:] = 0.0
    near[np.arange(size), np.arange(size)] = 1.0
    return near
