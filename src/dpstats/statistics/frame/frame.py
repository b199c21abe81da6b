"""The frame: a private middle, scale and outer limits of every column, and the row map to whole numbers that they make.

    frame = find_frame(table, columns, share, budget, rng)      # all columns of the table are numbers
    frame.noisy_rows                                            # about how many rows there are
    frame.columns[0].middle, .scale, .low, .high                # in the units of the column; low <= middle <= high
    frame.points(raw_rows)                                      # rows by columns, whole, in units of a POINT-th of a scale
    frame.values(points)                                        # back to the units of the columns

Claim      It takes at most `share` of the budget (a `BudgetSplit`), for one row added or removed; what it does not need is left.
           From a `PureBudgetSplit` of epsilon that is share * epsilon, from a `ConcentratedBudgetSplit` of rho it is share * rho
Neighbors  ADD_REMOVE; whoever makes the budget pays for CHANGE_ONE (`budget_split_for`)
Why        A noisy number of rows, which a row moves by 1. For each column a universal median, a draw of a scale from distances of
           rows that do not lie at it, and, where limits are wanted, one draw on either side: a row lies on one side only, so
           both cost what one does. A pure budget pays for a draw in proportion to its epsilon, a concentrated one in proportion
           to its square, so that there limits of many columns lie nearer to the last rows
Numerics   Draws and noise are exact. `points` is IEEE arithmetic element by element, then whole numbers
Source     frame.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.rounding import nearest_float
from dpstats.foundations.summaries import Column, Table
from dpstats.statistics.frame.sided_distances import SidedDistances, Sides
from dpstats.statistics.regression.budget_split import BudgetSplit
from dpstats.statistics.regression.octaves import LARGEST, MEDIAN, draw_magnitude, draw_reach
from dpstats.statistics.regression.points import FARTHEST, POINT, Floats, Points
from dpstats.statistics.regression.standard import MARKS, MOST, NORMAL
from dpstats.statistics.regression.sums import GRID
from dpstats.statistics.universal.decimals import fraction_of
from dpstats.statistics.universal.single import draw_quantile

ROWS_PART = Fraction(1, 10)
"""What the noisy number of rows takes of the share."""
MIDDLE_NATS, SCALE_NATS, LEAST = 40, 100, Fraction(1, 4)
"""Rows times epsilon that a median and a scale are given, where the share has them, and at least so much of what they might have:
the rest is left for others."""
SPARSE = 4
"""A scale is given so many times more where the middle is 0 or 1: few rows may lie away from it."""
ROWS_BEYOND, SAFE_NATS = 150, 10
"""A limit leaves about this many rows beyond it, or rows worth so many nats of its draw, where these are more."""
PARTS = {"middles": 2, "scales": 4, "limits": 4}
"""How the share is divided at most, where all is wanted."""
LIKELY = 1.5
"""Limits are expected at about so many scales, and are at least one scale away from the middle."""
UNDER = Fraction(2, 5)
"""The part of a scale's nats that keeps it from falling short; fewer rows lie beyond it, so it takes more to stop it there."""
LIKELY_SCALE = 0.25
"""A scale is expected at about this part of the middle's size, unless that is 0 or 1."""


@dataclass(frozen=True)
class FrameColumn:
    """One column: where its middle is, how wide it is, and how far out rows count as they are."""

    middle: float
    scale: float
    below: float = math.inf
    """The distance from the middle to the lower limit; infinite where none was wanted."""
    above: float = math.inf

    @property
    def low(self) -> float:
        """The lower limit."""
        return self.middle - self.below

    @property
    def high(self) -> float:
        """The upper limit."""
        return self.middle + self.above

    def units(self) -> tuple[float, float]:
        """The limits in whole units of points."""
        low, high = (min(FARTHEST, math.ceil(min(side / self.scale, FARTHEST) * POINT)) for side in (self.below, self.above))
        return -low, high


@dataclass(frozen=True)
class TableFrame:
    """All columns, and a noisy number of rows."""

    columns: tuple[FrameColumn, ...]
    noisy_rows: int
    nats: float
    """The noisy number of rows times the epsilon of the least draw of a middle or a scale: below about 25 they may be absurd."""

    @property
    def middles(self) -> tuple[float, ...]:
        """The middle of every column."""
        return tuple(column.middle for column in self.columns)

    @property
    def scales(self) -> tuple[float, ...]:
        """The scale of every column."""
        return tuple(column.scale for column in self.columns)

    @property
    def is_too_large(self) -> bool:
        """Whether a scale is the largest that there is: numbers of its column may lie anywhere beyond."""
        return max(self.scales) >= LARGEST

    def points(self, raw_rows: Floats) -> Floats:
        """Rows as whole numbers of points' units: less the middle, over the scale, cut off at the limits. A row by itself."""
        raw_points = Points(self.middles, self.scales, intercept=False).of(raw_rows)
        low, high = np.array([column.units() for column in self.columns]).T
        return np.asarray(np.clip(raw_points, low, high, out=raw_points))

    def values(self, points: Floats) -> Floats:
        """What points in whole units are in the units of the columns."""
        with np.errstate(over="ignore"):
            return np.asarray(points * (1 / POINT) * self.scales + self.middles)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a limit that is none is left out."""
        columns = [{name: number for name, number in vars(column).items() if not math.isinf(number)} for column in self.columns]
        return {"columns": columns, "noisy_rows": self.noisy_rows, "nats": self.nats}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> TableFrame:
        """The frame that `to_dict` made plain."""
        return cls(tuple(FrameColumn(**column) for column in plain["columns"]), plain["noisy_rows"], plain["nats"])


def find_frame(
    table: Table,
    columns: int,
    share: Fraction,
    budget: BudgetSplit,
    rng: RandomSource,
    *,
    limits: bool = True,
    beyond: tuple[int, int] = (ROWS_BEYOND, SAFE_NATS),
) -> TableFrame:
    """Spend at most `share` of the budget on the frame of the first `columns` columns of a table; without `limits` rows count as
    they are, up to FARTHEST units. Limits leave so many rows `beyond` them, or rows worth so many nats, if these are more."""
    noisy_rows = max(1, budget.noisy([table.column(0).count()], 1, share * ROWS_PART)[0][0])
    wanted = {name: weight for name, weight in PARTS.items() if limits or name != "limits"}
    whole = share * (1 - ROWS_PART) / sum(wanted.values())

    def draws(name: str, epsilon: float, weights: list[int]) -> list[Fraction]:
        most = whole * wanted[name] / sum(weights)
        needed = [max(most * weight * LEAST, budget.share_for_draw(epsilon * weight)) for weight in weights]
        return [budget.draw_epsilon(min(most * weight, need)) for weight, need in zip(weights, needed, strict=True)]

    middle_draws = draws("middles", MIDDLE_NATS / noisy_rows, [1] * columns)
    middles = tuple(_median(table.column(place), epsilon, rng) for place, epsilon in enumerate(middle_draws))
    raw_counts = table.row_sums(SidedDistances(middles))
    raw_sides = [SidedDistances.sides(raw_counts, place) for place in range(columns)]
    scale_draws = draws("scales", SCALE_NATS / noisy_rows, [SPARSE if middle in MARKS else 1 for middle in middles])
    scales = [_scale(*each, rng) for each in zip(raw_sides, middles, scale_draws, strict=True)]
    found = [FrameColumn(middle, scale) for middle, scale in zip(middles, scales, strict=True)]
    if limits:
        limit_draws = draws("limits", beyond[1] / beyond[0], [1] * columns)
        found = [_limited(*each, beyond, rng) for each in zip(found, raw_sides, limit_draws, strict=True)]
    return TableFrame(tuple(found), noisy_rows, float(noisy_rows * min(middle_draws + scale_draws)))


def _median(column: Column, epsilon: Fraction, rng: RandomSource) -> float:
    return nearest_float(fraction_of(draw_quantile(column, MEDIAN, epsilon, Neighbors.ADD_REMOVE, rng)))


def _scale(raw_sides: Sides, middle: float, epsilon: Fraction, rng: RandomSource) -> float:
    """The standard deviation of a normal column with this quantile of distances; the middle's size where that is nothing beside
    15 digits of the middle. Where the middle is 0, few rows may lie away from it, and it is the median of their distances.

    A median would not do for others: the middle may lie in a gap, close to a value that half of the rows have.
    """
    raw_both = [below + above for below, above in zip(*raw_sides, strict=True)]
    if not middle:
        scale = draw_magnitude(raw_both, epsilon, rng)
    else:
        likely = min(abs(middle) * LIKELY_SCALE, LARGEST)
        scale = draw_magnitude(raw_both, epsilon, rng, quantile=MOST, likely=likely, under=UNDER) * NORMAL
    return min(scale if scale > GRID * abs(middle) else abs(middle), LARGEST)


def _limited(column: FrameColumn, raw_sides: Sides, epsilon: Fraction, beyond: tuple[int, int], rng: RandomSource) -> FrameColumn:
    """A column with limits on both sides."""
    rows, likely = max(beyond[0], math.ceil(beyond[1] / epsilon)), LIKELY * column.scale
    below, above = (draw_reach(raw_side, rows, epsilon, rng, likely=likely) for raw_side in raw_sides)
    return replace(column, below=max(below, column.scale), above=max(above, column.scale))
