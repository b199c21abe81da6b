"""Standardisation: a private middle of every column and a private scale of every feature.

Claim      What it takes from the budget, for one row added or removed
Neighbors  ADD_REMOVE
Why        One universal median for every column; then, for every feature, one quantile of distances from its middle (octaves.py),
           over the rows that do not lie at it: most rows of a column of marks such as 0 and 1 do
Numerics   Exact, as the draws
Source     draw.proof.md, steps.proof.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Table
from dpstats.statistics.regression.budget_split import BudgetSplit
from dpstats.statistics.regression.octaves import CELLS, cells_of, draw_magnitude
from dpstats.statistics.regression.sums import GRID, Distances
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.single import draw_quantile

MOST, NEARLY_ALL = Fraction(3, 4), Fraction(9, 10)
"""The scale is the distance from the middle that MOST of the rows do not exceed. A median would not do: where half of the rows
have one value and half another, the middle may lie close to either. Farther out it is what NEARLY_ALL do not exceed."""
NORMAL, NEARLY_NORMAL, NORMAL_FROM_MEDIAN = 1 / 1.1503, 1 / 1.6449, 1 / 0.6745
"""The standard deviation of a normal column over these distances, and over the median one."""
NO_MARKS = 2.0
"""A feature has no marks if other distances than 1 outnumber it by more than so many deviations of the noise of that count."""
AMOUNT_NATS = 12.0
"""And if they are worth so many nats to the draw of a scale that nothing is known of beforehand. With fewer such a draw goes far
off in one table in ten or more, and intervals of that feature hold in fewer than 93 of 100 (amounts in one row of twenty)."""
FIRST_LOOK = Fraction(1, 2)
"""What finding MOST takes of the share where NEARLY_ALL are wanted."""
UNDER = Fraction(1, 5)
"""Few rows lie beyond a scale, so what a draw can tell apart goes mostly to these: beyond them all, a feature would vanish."""
_CELL_OF_ONE = int(cells_of(np.ones(1))[0])
MARKS = (0.0, 1.0)
"""A column with its middle here is likely one of marks, whose scale is 1."""


@dataclass(frozen=True)
class Standard:
    """The middle and the scale of every feature, and the middle of the outcome. A scale that is nothing beside 15 digits of the
    middle is none: the middle stands in for it, as for a feature that does not vary."""

    middles: tuple[float, ...]
    scales: tuple[float, ...]
    outcome: float


def standardise(
    table: Table,
    features: int,
    intercept: bool,
    shares: tuple[Fraction, Fraction],
    budget: BudgetSplit,
    rng: RandomSource,
    *,
    outcome: bool = True,
    farther: bool = False,
) -> Standard:
    """Spend a share on each middle and one on each scale. Without an intercept all middles are 0 and cost nothing; so is the
    outcome's where it is not wanted. Scales are found `farther` out where rows far out are to count."""
    found = (features + outcome) * intercept
    middles = [_median(table, place, budget.draw_epsilon(shares[0]), rng) for place in range(found)]
    middles += [0.0] * (features + 1 - found)
    raw_counts = table.row_sums(Distances(tuple(middles[:features])))
    scales = []
    for place, middle in enumerate(middles[:features]):
        raw_own = raw_counts[place * CELLS : (place + 1) * CELLS]
        scale = _scale(raw_own, shares[1], budget, rng, marks=intercept and middle in MARKS, farther=farther)
        scales.append(scale if scale > GRID * abs(middle) else abs(middle))
    return Standard(tuple(middles[:features]), tuple(scales), middles[features])


def _scale(
    raw_counts: Sequence[int], share: Fraction, budget: BudgetSplit, rng: RandomSource, *, marks: bool, farther: bool
) -> float:
    """A scale of a feature whose distances from its middle were counted."""
    if not farther:
        near = draw_magnitude(raw_counts, budget.draw_epsilon(share), rng, quantile=MOST, certain=marks)
        return near if marks else near * NORMAL
    if marks:
        return _scale_beside_mark(raw_counts, share, budget, rng)
    near = draw_magnitude(raw_counts, budget.draw_epsilon(share * FIRST_LOOK), rng, quantile=MOST, under=1 - MOST)
    likely, epsilon = near * NORMAL / NEARLY_NORMAL, budget.draw_epsilon(share * (1 - FIRST_LOOK))
    return draw_magnitude(raw_counts, epsilon, rng, quantile=NEARLY_ALL, likely=likely, known=True, under=UNDER) * NEARLY_NORMAL


def _scale_beside_mark(raw_counts: Sequence[int], share: Fraction, budget: BudgetSplit, rng: RandomSource) -> float:
    """A scale of a feature whose middle is 0 or 1: that of marks, unless most distances are clearly another one than 1.

    Amounts that are mostly 0 have their middle there, too. Of the rows away from it there are few, too few for a draw to leave a
    scale that is all but certain beforehand; a noisy count tells them from marks.
    """
    raw_more = sum(raw_counts) - 2 * raw_counts[_CELL_OF_ONE]
    (more,), deviation = budget.noisy([raw_more], 1, share * FIRST_LOOK)
    epsilon = budget.draw_epsilon(share * (1 - FIRST_LOOK))
    if more > max(NO_MARKS * deviation, AMOUNT_NATS / float(epsilon)):
        return draw_magnitude(raw_counts, epsilon, rng) * NORMAL_FROM_MEDIAN
    near = draw_magnitude(raw_counts, epsilon, rng, quantile=MOST, certain=True, under=1 - MOST)
    return near if near == 1.0 else near * NORMAL


def _median(table: Table, place: int, epsilon: Fraction, rng: RandomSource) -> float:
    return nearest_float(fraction_of(draw_quantile(table.column(place), Fraction(1, 2), epsilon, Neighbors.ADD_REMOVE, rng)))
