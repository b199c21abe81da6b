"""The cells of one column for a test of its mean, which is cut closer than a mean is.

Epsilon is spent otherwise than for a mean: the limits end at the scales of both sides, because noisy shells around them tell
where to cut, further in as well as further out. So the cells get more of epsilon, and the clip is narrower.

Claim      epsilon-DP
Neighbors  ADD_REMOVE; under CHANGE_ONE the caller gives half of epsilon: one row removed and one added
Why        Middle and scales, looks for zeros and ones, shells, cells: the epsilons of all steps add up to the whole
Numerics   Exact from the rows to the noisy cells; floats after that
Source     t_tests.proof.md
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Column
from dpstats.statistics.clipped.clips import Cut
from dpstats.statistics.clipped.margins import FEWEST_ROWS
from dpstats.statistics.clipped.zeros_and_ones import spent_by_looks
from dpstats.statistics.means import DEGREE, Clipped, clipped_for
from dpstats.statistics.testing.contrasts import Contrast, mean_of
from dpstats.statistics.testing.cuts import FIRST_SCALES, cut_at_scales
from dpstats.statistics.universal.limits import Limits, largest_loss

TEST_LOSS = largest_loss(between=spent_by_looks(), reaches=False)
"""Of a test that is read off limits without reaches, and cells."""
SHELLS = Fraction(12, 100)
"""The part of epsilon for the shells. With 9/100 they tell less, and are believed less: power falls by .03; with 18/100 it does
for want of cells."""
SHIFT, MOST_SHIFT, LENGTH = 0.1, 0.3, 0.15
"""What rows may lose beyond the cut is a high quantile of what shells leave open. SHIFT of it is the likely loss, by which the
mean is moved, but by no more than MOST_SHIFT of its standard errors, because shells may tell of a loss where there is none; the
interval is longer by LENGTH of it on the side where it may lie. Without the shift, power on lognormal rows falls by .05 to .1;
without MOST_SHIFT, 13 and not 8 of 100 columns with a lognormal law (1.2) reject their own mean."""


def read_for_test(column: Column, epsilon: Fraction, rng: RandomSource) -> Clipped:
    """Spend epsilon on the cells of a column, for one row added or removed."""
    return clipped_for(column, epsilon, rng, DEGREE, 0.0, guess_cut=_first_cut, shells=SHELLS, reaches=False)


def _first_cut(limits: Limits, _: float) -> Cut:
    return cut_at_scales(limits, (FIRST_SCALES, FIRST_SCALES))


def contrast_of(clipped: Clipped, epsilon: float) -> Contrast:
    """The mean of a column, moved by what its clip is likely to take."""
    contrast = mean_of(clipped, epsilon)
    if clipped.cells is None:
        return contrast
    rows = max(contrast.spread.rows, FEWEST_ROWS)
    below, above = (nearest_float(lost / rows) for lost in clipped.cut.lost)
    more_below, more_above = (clipped.frame.radius * slack / rows for slack in clipped.cells.slack(1))
    most = nearest_float(MOST_SHIFT * math.sqrt(contrast.spread.variance))
    shift = min(max(SHIFT * (above - below), -most), most)
    moved = replace(contrast.spread, mean=nearest_float(Fraction(contrast.value) + Fraction(shift)))
    return replace(contrast, spread=moved, lost_below=LENGTH * below + more_below, lost_above=LENGTH * above + more_above)
