"""Rows apart: rows far out in one of two columns alone, counted beside all that the other rows are asked.

Where columns reach no further than normal ones, no row should lie far beyond their reaches. A few rows that do in one column, as
numbers in a wrong unit would, add to that column's variance, and a correlation is nearer to 0 for them; scores that are cut off
hardly tell. So they are left out of what is asked of scores, and counted instead, with all of the epsilon that the other rows
get: a row is in one of both parts, whatever the other rows are.

Claim      epsilon-DP together with what is asked of the other rows, where that is epsilon-DP by itself
Neighbors  ADD_REMOVE
Why        Parallel composition: what decides to which part a row belongs was released before
Numerics   One quotient, comparisons and whole numbers; floats after the noise
Source     scores.proof.md
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpstats.statistics.paired.tails import Tails
from dpstats.statistics.paired.walk import Floats, PairUnits, RowScores

LIGHT_REACH, EDGE, DEVIATIONS = 3.7, 1.25, 4.0
"""Rows are apart from EDGE reaches and DEVIATIONS rough deviations on, where columns reach no more than LIGHT_REACH scales: 2.9
to 3.6 for normal columns and for those with 1% of rows 6 to 10 times as large, 4.4 and more for exponential and lognormal ones,
whose far rows are of their kind. Counts of Poisson's law reach little for their deviations: without DEVIATIONS a few per cent of
their rows were apart, and errors four times the usual ones."""
LOPSIDED = 0.2
"""Nor are rows apart where a rough mean lies further from the middle than this part of a deviation, as that of small counts does,
which reach little and yet have rows beyond: that of Poisson's law of mean .5 lies .7 from it."""
PLACE = 8.0
"""The place of the octaves of rows apart, over where they begin, so that the first octave begins there."""
SEEN, FURTHER = 3.5, 1.0
"""An octave shows rows apart where its noisy number is more than SEEN scales of its noise, and FURTHER for each further octave:
for about one normal pair in 50 by noise alone. The value does not move for them: where it did, by half of the room where twice as
many rows showed, its root mean squared error over that without privacy was 1.9 for prices and sizes of memory, where it is 1.1;
for 1% of rows six times as large it was 2.2, and is 2.9 (1.9 where no rows are apart)."""
TYPICAL = 2.2
"""Where the rows of an octave are taken to lie, over its beginning. That is the octave's end, because the next one may have rows
that do not show: with 1.5, 50% of intervals held for 1% of rows 6 times as large at 10,000 rows and epsilon .5, and 81% with
it."""


@dataclass(frozen=True)
class RowsApart:
    """How far rows lie out in one column alone, in units of where rows begin to be apart: below 0 in the second column."""

    edges: PairUnits

    def of(self, raw_rows: Floats) -> Floats:
        """Sizes from 1 on; 0 for all rows that are not apart."""
        raw_x, raw_y = np.abs(self.edges.of(raw_rows)).T
        return np.asarray(np.where((raw_x > 1) & (raw_y <= 1), raw_x, np.where((raw_y > 1) & (raw_x <= 1), -raw_y, 0.0)))

    def squares(self, counted: Tails, scales: tuple[float, float]) -> float:
        """About by how much rows apart make one column's sum of squares larger than the other's, in units of `scales`."""
        second, first = (
            math.fsum(
                count * (TYPICAL * 2.0**octave) ** 2
                for octave, count in enumerate(noisy)
                if count > (SEEN + FURTHER * octave) * counted.scale
            )
            for noisy in counted.noisy
        )
        x, y = (edge / scale for edge, scale in zip(self.edges.scales, scales, strict=True))
        return abs(first * x**2 - second * y**2)


@dataclass(frozen=True)
class OtherScores:
    """The scores of all other rows; rows apart have none."""

    scores: RowScores
    apart: RowsApart

    def of(self, raw_rows: Floats) -> Floats:
        """The scores of rows."""
        return np.asarray(np.where(self.apart.of(raw_rows) == 0, self.scores.of(raw_rows), 0.0))
