"""Broken twins of the cell tests: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpstats.mechanisms.distance_tests import LaplaceTest
from dpstats.statistics.regression.cell_tests import SIDE, raw_steps
from dpstats.statistics.regression.ratios import UNIT, RawRatios, Wholes


def outer_slope(rows: RawRatios, corner: Wholes) -> Fraction:
    """The slope out of a cell of one coefficient. Mistake: rows on the boundary count with the slope outside, and not inside.

    A minimiser may then lie on the boundary, from which one row takes it out.
    """
    slopes = []
    for end in (0, SIDE):
        outward = 1 if end else -1
        raw_signs = np.sign(rows.distances(corner + end)) * np.sign(rows.normals[:, 0]) * outward
        slopes.append(Fraction(int((np.where(raw_signs, raw_signs, 1.0) * np.abs(rows.normals[:, 0])).sum()), UNIT))
    return max(min(slopes), Fraction(0))


def steps_at_estimate(rows: RawRatios, estimate: Wholes) -> int:
    """The steps of the cell in which an estimate of the minimiser lies. Mistake: the estimate may be off, here or in a neighbour.

    Then a table with many steps has a neighbour with none.
    """
    return raw_steps(rows, estimate // SIDE * SIDE)


def single_row_test(epsilon: Fraction, delta: Fraction) -> LaplaceTest:
    """The test of a changed row. Mistake: noise as if it moved the distance by 1; it is one row removed and one added."""
    return LaplaceTest(epsilon, delta, unstable_at=1, sensitivity=1)


def misprinted_threshold(rows: int) -> float:
    """What distance and noise are compared with. Mistake: ln n**2, which is twice ln n, for the square of ln n."""
    return math.log(rows**2) + 2
