"""Estimates of blocks: how many blocks there are, and what each of them votes for.

Claim      ROWS_SHARE of epsilon where the number of blocks is left to us. Given that number, the votes of two neighbours can be
           drawn together so that they differ in one place at most: to whatever is made of them, one row is one changed vote
Neighbors  ADD_REMOVE or CHANGE_ONE, alike
Why        One row touches one block (aggregation/row_blocks.py), and the estimate of a block depends on its own rows alone
           (family.py). A row that changes, or becomes missing, keeps its coin
Numerics   Noise on the number of rows is exact
Source     maximum_likelihood.proof.md; Smith 2008; Dwork & Smith 2009, Algorithm 1
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import Table
from dpstats.statistics.aggregation.row_blocks import Floats, toss_blocks
from dpstats.statistics.likelihood.block_groups import without_halves
from dpstats.statistics.likelihood.family import Family

ROWS_SHARE = Fraction(1, 100)
MOST_BLOCKS = 1 << 20
LOST_ROWS = 3.0
"""An average of estimates of blocks is about as good as if every block had this many rows fewer."""
RANGE, SKEWED_ROWS = 10.0, 6.0
"""A range that was found for votes is about RANGE of their standard deviations wide. What it cuts off of skewed votes counts as
well: as if every block had SKEWED_ROWS rows fewer."""
FEWEST, FEWEST_WITHIN, FEWEST_BARE = 14, 10, 8
"""Blocks have at least FEWEST rows on average, and two more for each parameter, so that hardly any has too few: coins decide.
They may be smaller where noise is worse, within bounds; and where they would be too few for an answer."""
MANY = 100
"""The bias that a family's own fewest rows leave in a block counts beside the error of a mean of this many blocks. That error
falls with the root of their number, and the bias with about the power 3/2 of their rows beside it: so fewer blocks do with fewer
rows each, as the third root of their number."""
WIDE, MOST_LARGER = 8.0, 4
"""Blocks are so large that bounds are WIDE standard deviations of their estimates wide, as projections shift averages; but
no more than MOST_LARGER times as large as otherwise."""
KEPT = 0.8
"""About so much of epsilon is left for the mean when that range has been found."""


def least_rows(family: Family, fewest: int) -> int:
    """The fewest rows that a block should have, on average: what the family says, or `fewest` and two more for each parameter."""
    return int(getattr(family, "least_rows", fewest + 2 * len(family.parameters)))


def bare_rows(family: Family, blocks: int) -> int:
    """The fewest rows that each of so many blocks can do with, on average, where there would be no answer otherwise."""
    least, bare = least_rows(family, FEWEST_BARE), FEWEST_BARE + 2 * len(family.parameters)
    return min(least, max(bare, math.ceil(least * (blocks / MANY) ** (1 / 3)))) if blocks < MANY else least


def blocks_without_bounds(family: Family, noisy_rows: int, epsilon: Fraction, least: int) -> int:
    """Where the loss by small blocks, about SKEWED_ROWS for each, and that by noise on a mean of so few votes are equal; or the
    least that gives an answer, if rows allow that."""
    noise = _noise_of_one(family) * RANGE**2 / (KEPT * float(epsilon)) ** 2
    blocks = _within(math.sqrt(noise * noisy_rows / SKEWED_ROWS), noisy_rows // least_rows(family, FEWEST))
    return blocks if noisy_rows < least * bare_rows(family, least) else min(max(blocks, least), MOST_BLOCKS)


def blocks_within(family: Family, bounds: tuple[tuple[float, float], ...], noisy_rows: int, epsilon: Fraction) -> int:
    """The number that errs least for T*, whose noise goes with the width of the parameter space over the number of blocks."""
    widths = np.array([high - low for low, high in bounds])
    ratios = widths / _deviations(family, bounds)
    noise = _noise_of_one(family) * float(np.mean(ratios**2)) / float(epsilon) ** 2
    wanted = (2 * noise * noisy_rows**2 / LOST_ROWS) ** (1 / 3)
    least = least_rows(family, FEWEST_WITHIN)
    rows = math.ceil(min(max(least, (WIDE / float(ratios.min())) ** 2), MOST_LARGER * least))
    return _within(wanted, noisy_rows // rows)


def votes_of(family: Family, table: Table, blocks: int, rng: RandomSource) -> Floats:
    """What each of `blocks` blocks votes for: blocks by parameters, NaN where one has no estimate."""
    return without_halves(family.fit_blocks(toss_blocks(table.matrix(), blocks, rng)))


def _noise_of_one(family: Family) -> float:
    """The variance of one coordinate of a noise that hides a move of all of them by 1, at epsilon 1."""
    size = len(family.parameters)
    return (size + 1) * (size + 2) / 3


def _within(wanted: float, most: int) -> int:
    return max(1, min(math.ceil(min(wanted, float(MOST_BLOCKS))), most, MOST_BLOCKS))


def middle_of(bounds: Sequence[tuple[float, float]]) -> tuple[float, ...]:
    """The middle of a space; that of the logarithms where all of it is positive."""
    return tuple(math.sqrt(low * high) if low > 0 else (low + high) / 2 for low, high in bounds)


def _deviations(family: Family, bounds: tuple[tuple[float, float], ...]) -> Floats:
    """About how far off each parameter is from one row, in the middle of the space; a guess where the family does not tell."""
    middle = np.array(middle_of(bounds))
    guess = np.array([(high - low) / 6 for low, high in bounds])
    information = getattr(family, "information", None)
    if information is None:
        return guess
    try:
        with np.errstate(all="ignore"):
            spread = np.sqrt(np.diag(np.linalg.inv(information(middle))))
    except (np.linalg.LinAlgError, ValueError, FloatingPointError):
        return guess
    return np.where(np.isfinite(spread) & (spread > 0), spread, guess)
