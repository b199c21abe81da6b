"""Octaves: private medians and other quantiles of magnitudes, to within a quarter of an octave.

Claim      epsilon-DP, an exponential mechanism
Neighbors  ADD_REMOVE
Why        Magnitudes of rows are counted in public cells, four to an octave; one draw by rank (universal/draw.py) on the line of
           the cells, whose masses are public: a broad hill around 1, or a narrow one around a magnitude that was released
Numerics   A row's cell is found by exact comparisons with four public floats; masses are integers, the draw is exact
Source     draw.proof.md
"""

from __future__ import annotations

import functools
import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Refusal
from dpstats.foundations.rounding import cumulative
from dpstats.statistics.universal.draw import RankLoss, draw_piece
from dpstats.statistics.universal.line import CutLine, Marks

FINEST_OCTAVE, OCTAVES = -400, 800
"""From 2**-400 to 2**400, so that floats hold the squares of magnitudes and of what is computed from them."""
CELLS = 4 * OCTAVES
LARGEST = 2.0**390
"""About 1e117. A magnitude that was drawn from here on may stand for any larger one, all of which the last cell counts."""
TOO_LARGE = Refusal(
    "A column's numbers lie beyond about 1e117, where this statistic cannot tell their scale.",
    "Divide the column by a power of ten first.",
)
QUARTERS = np.array([0.5 * 2 ** (quarter / 4) for quarter in range(1, 4)])
"""Where the mantissas of a float (from one half to one) pass into the next cell."""
BROAD, NARROW = 33, 7
"""Half widths of the hills, in cells."""
FLAT, HALVED = 4, 2
"""The half width of the top of a steep hill, and how far beyond it masses halve, in cells."""
HEIGHT = 1 << 40
MEDIAN = Fraction(1, 2)
EVENLY = Fraction(1, 2)
OUTWARD, MOST_BEYOND = Fraction(4, 5), Fraction(1, 4)
"""The part of a draw's nats that keeps a reach from going beyond all rows; and which part of the rows may lie beyond it."""
CERTAIN = 19
"""How much more mass than all others a cell gets that is nearly certain."""
STEPS = (1.0, 2.0)
"""Magnitudes of which each gets as much mass as all cells, where rows are likely codes: differences of 1 and 2 and 5 and 7."""


def cells_of(raw_magnitudes: NDArray[np.float64]) -> NDArray[np.int64]:
    """The cell of each magnitude, from 0; those beyond the line count at its ends, zeros must not be among them."""
    mantissas, exponents = np.frexp(np.minimum(raw_magnitudes, np.finfo(np.float64).max))
    quarters = np.sum([mantissas >= quarter for quarter in QUARTERS], axis=0)
    raw_cells: NDArray[np.int64] = 4 * (exponents.astype(np.int64) - 1 - FINEST_OCTAVE) + quarters
    return np.clip(raw_cells, 0, CELLS - 1)


def count_cells(raw_magnitudes: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many magnitudes lie in each cell; zeros are left out."""
    return np.bincount(cells_of(raw_magnitudes[raw_magnitudes > 0]), minlength=CELLS).astype(np.int64, copy=False)


def magnitude_of(cell: int) -> float:
    """The lower end of a cell: 1 exactly for the cell of 1."""
    return math.ldexp(2.0 ** (cell % 4 / 4), cell // 4 + FINEST_OCTAVE)


@functools.lru_cache(maxsize=64)
def hill(top: int, half_width: int, certain: bool, codes: bool = False) -> tuple[int, ...]:
    """Where the cells begin and end on the line: masses fall off as one over the squared distance from the top."""
    masses = [max(1, HEIGHT * half_width**2 // (half_width**2 + (cell - top) ** 2)) for cell in range(CELLS)]
    if certain:
        masses[top] = CERTAIN * sum(masses)
    elif codes:
        whole = sum(masses)
        for cell in cells_of(np.array(STEPS)).tolist():
            masses[cell] += whole
    return (0, *cumulative(masses))


@functools.lru_cache(maxsize=64)
def steep_hill(top: int) -> tuple[int, ...]:
    """The same where masses halve with every half of an octave beyond the first one."""
    halvings = [max(0, abs(cell - top) - FLAT) // HALVED for cell in range(CELLS)]
    return (0, *cumulative([max(1, HEIGHT >> each) for each in halvings]))


def draw_magnitude(
    raw_counts: Sequence[int],
    epsilon: Fraction,
    rng: RandomSource,
    *,
    quantile: Fraction = MEDIAN,
    likely: float | None = None,
    certain: bool = False,
    codes: bool = False,
    known: bool = False,
    under: Fraction = EVENLY,
) -> float:
    """A private quantile of counted magnitudes: the lower end of its cell.

    `likely` is about what to expect, where something released tells, and `known` says that it is hardly ever far from that; 1 is
    all but `certain` where that is said, and 1 and 2 are likely if rows seem to be `codes`. The part `under` of a draw's nats
    keeps it from falling short of the quantile, the rest from going beyond.
    """
    (top,) = cells_of(np.array([1.0 if likely is None else likely])).tolist()
    ends = steep_hill(top) if known else hill(top, BROAD if likely is None else NARROW, certain, codes)
    return magnitude_of(bisect_right(ends, _draw_place(raw_counts, ends, quantile, epsilon, rng, under)) - 1)


def draw_reach(raw_counts: Sequence[int], rows_beyond: int, epsilon: Fraction, rng: RandomSource, *, likely: float) -> float:
    """A private magnitude that about `rows_beyond` of the counted ones exceed, and at most MOST_BEYOND of them: the upper end of
    its cell. `likely` is about what to expect, from something released."""
    ends = steep_hill(int(cells_of(np.array([likely]))[0]))
    raw_rows = sum(raw_counts)
    target = raw_rows - min(Fraction(rows_beyond), raw_rows * MOST_BEYOND)
    loss = RankLoss(target, epsilon * OUTWARD, epsilon * (1 - OUTWARD))
    return magnitude_of(bisect_right(ends, _draw_by(raw_counts, ends, loss, rng)))


def draw_cell(
    raw_counts: Sequence[int], quantile: Fraction, epsilon: Fraction, rng: RandomSource, under: Fraction = EVENLY
) -> int:
    """The cell of a private quantile of rows that were counted in public cells, all of which have the same mass; `under` as in
    `draw_magnitude`."""
    return _draw_place(raw_counts, range(len(raw_counts) + 1), quantile, epsilon, rng, under)


def rank_slopes(quantile: Fraction, epsilon: Fraction, under: Fraction) -> tuple[Fraction, Fraction]:
    """Nats for each rank over the target and under it, in the ratio 1 - `under` to `under`: the steepest that epsilon affords."""
    over = 1 - under
    price = max(under * quantile, over * (1 - quantile)) + max(over * quantile, under * (1 - quantile))
    return epsilon * over / price, epsilon * under / price


def _draw_place(
    raw_counts: Sequence[int],
    ends: Sequence[int],
    quantile: Fraction,
    epsilon: Fraction,
    rng: RandomSource,
    under: Fraction = EVENLY,
) -> int:
    """A place on the line of cells that begin and end at `ends`."""
    loss = RankLoss(quantile * sum(raw_counts), *rank_slopes(quantile, epsilon, under))
    return _draw_by(raw_counts, ends, loss, rng)


def _draw_by(raw_counts: Sequence[int], ends: Sequence[int], loss: RankLoss, rng: RandomSource) -> int:
    """A place on the line of cells that begin and end at `ends`, by the loss of its rank."""
    filled = [cell for cell, count in enumerate(raw_counts) if count]
    marks = Marks.listed([(ends[cell], ends[cell + 1]) for cell in filled], [raw_counts[cell] for cell in filled])
    return draw_piece(CutLine(0, ends[-1], marks, 0), loss, rng)[1]
