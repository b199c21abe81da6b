"""Broken twins of the column of a test: each makes one known mistake, and the privacy tests must refute it.

Never use anything from here on data. Each docstring names the mistake.
"""

from __future__ import annotations

from fractions import Fraction

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Column
from dpstats.statistics.clipped.cells import NoisyCells, release_cells
from dpstats.statistics.clipped.shells import widen_cut
from dpstats.statistics.means import DEGREE
from dpstats.statistics.testing.cuts import FIRST_SCALES, cut_at_scales
from dpstats.statistics.testing.one_column import SHELLS
from dpstats.statistics.universal.limits import draw_limits


def cells_after_free_shells(column: Column, epsilon: Fraction, rng: RandomSource) -> NoisyCells:
    """The cells of a column. Mistake: they take all that the limits left, as if shells were free.

    A row lies in one shell, but in the cells as well.
    """
    limits = draw_limits(column, epsilon, rng, reaches=False)
    guess = cut_at_scales(limits, (FIRST_SCALES, FIRST_SCALES))
    cut, *_ = widen_cut(column, guess, epsilon * SHELLS, epsilon - limits.spent, rng)
    assert cut.clip is not None
    return release_cells(column, cut.clip, DEGREE, epsilon - limits.spent, rng)
