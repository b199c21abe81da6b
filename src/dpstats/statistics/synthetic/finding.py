"""Finding the fine codes of all columns of a table, out of shares of a budget.

Claim      Paid for by shares of a budget (coded/budget.py) and, with delta, but for an event of probability delta
Neighbors  ADD_REMOVE of one row
Why        Values and labels that many rows share (gaussian_thresholding.py), private quantiles (universal/many.py), the
           number of rows, and looks: tables of one column each. How a budget is divided, and which codes a look has, goes by
           what was released before
Numerics   Exact; codes follow from released numbers
Source     synthesis.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable, Coding, label_order
from dpstats.mechanisms.gaussian_thresholding import LEAST_ROWS, choose_by_count
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget
from dpstats.statistics.synthetic.columns import rows_of
from dpstats.statistics.synthetic.fine_codes import FineColumn, label_column, number_column
from dpstats.statistics.synthetic.looking import first_look, looked_closer
from dpstats.statistics.universal.decimals import fraction_of, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles


@dataclass(frozen=True)
class CodeShares:
    """What the steps before pairs take of a budget; pairs get the rest."""

    shared: Fraction
    """Finding values and labels that many rows share."""
    cuts: Fraction
    looks: Fraction
    singles: Fraction
    """Tables of one column."""


COUNT_SHARE = Fraction(1, 100)
"""What counting rows takes of a budget."""
PURE_STRONG = CodeShares(Fraction(0), Fraction(2, 100), Fraction(8, 100), Fraction(15, 100))
PURE_WEAK = CodeShares(Fraction(0), Fraction(3, 100), Fraction(25, 100), Fraction(25, 100))
STRONG = CodeShares(Fraction(5, 100), Fraction(3, 100), Fraction(7, 100), Fraction(15, 100))
WEAK = CodeShares(Fraction(12, 100), Fraction(3, 100), Fraction(20, 100), Fraction(25, 100))
FEW_ROWS, PURE_FEW_ROWS = 300.0, 1000.0
"""Rows, in standard deviations of the noise of a table that took all of its column's part, below which a budget is weak; with
delta and without, where single values are to be found by looks alone."""
CUTS = 3
LOOKS = 2
_ALL = 1 << 62
"""More labels than any column has."""


@dataclass(frozen=True)
class Wish:
    """What is asked for, and known before anything is read."""

    names: tuple[str, ...]
    levels: Mapping[str, tuple[Any, ...]]
    """Labels of columns that are public."""
    focus: tuple[str, ...] = ()
    """Columns whose tables with every other column are measured whatever they hold."""
    most_rounds: int = 6


class CodeFinding:
    """Finds the fine codes of all columns: listed labels, or what even parts of shares of a budget find."""

    def __init__(
        self,
        table: CodedTable,
        wish: Wish,
        budget: PureTableBudget | ConcentratedTableBudget,
        delta: Fraction,
        rng: RandomSource,
    ) -> None:
        self._table, self._wish, self._budget, self._delta, self._rng = table, wish, budget, delta, rng
        self._columns = [table.column(place) for place in range(len(wish.names))]
        self.types = [column.dtype if number else None for column, number in zip(self._columns, table.numeric, strict=True)]
        self._unlisted = [place for place, name in enumerate(wish.names) if name not in wish.levels]
        self._numbers = [place for place in self._unlisted if table.numeric[place]]
        self.shares = self._divided()

    def fine_columns(self) -> list[FineColumn]:
        """The fine codes of each column."""
        found = [self._labels(place) for place in range(len(self._columns))]
        cuts = {place: self._cuts(place) for place in self._numbers}
        for place in self._numbers:
            shared = self._shared_numbers(place)
            found[place] = first_look(self._wish.names[place], cuts[place], shared, whole=self._is_whole(place))
        for _ in range(LOOKS if self._numbers else 0):
            raw_looks = self._table.code_counts(self.codings(found), [(place,) for place in self._numbers])
            share = self.shares.looks / (LOOKS * len(self._numbers))
            looks = [self._budget.noisy(raw_counts, share) for raw_counts in raw_looks]
            rows = rows_of(looks)
            for place, look in zip(self._numbers, looks, strict=True):
                found[place] = looked_closer(found[place], look, rows, cuts[place], singles=not self._delta)
        return found

    def codings(self, found: Sequence[FineColumn]) -> list[Coding]:
        """How rows get these codes."""
        return [fine.coding(None if fine.is_labels else dtype) for fine, dtype in zip(found, self.types, strict=True)]

    def _divided(self) -> CodeShares:
        """How a budget is divided, by a public rule on a noisy number of rows."""
        halves = number_column("", [Fraction(0), Fraction(1)], Fraction(0), whole=False)
        codings = self.codings([label_column("", ()) if dtype is None else halves for dtype in self.types])
        [raw_counts] = self._table.code_counts(codings, [(0,)])
        noisy_rows = int(self._budget.noisy(raw_counts, COUNT_SHARE).noisy_counts.sum())
        strength = noisy_rows / math.sqrt(self._budget.law(Fraction(1, len(self._columns))).variance)
        if isinstance(self._budget, PureTableBudget):
            return PURE_STRONG if strength >= PURE_FEW_ROWS else PURE_WEAK
        return STRONG if strength >= FEW_ROWS else WEAK

    def _is_whole(self, place: int) -> bool:
        dtype = self.types[place]
        return dtype is not None and dtype.kind in "iu"

    def _labels(self, place: int) -> FineColumn:
        """A column of labels, which are listed or found; none yet of numbers."""
        name = self._wish.names[place]
        if name in self._wish.levels:
            return label_column(name, self._wish.levels[name])
        if self._table.numeric[place] or isinstance(self._budget, PureTableBudget):
            return label_column(name, ())
        raw_labels = sorted(self._columns[place].most_common(_ALL), key=lambda pair: label_order(pair[0]))
        raw_counts = np.array([count for _, count in raw_labels], dtype=np.int64)
        return label_column(name, [raw_labels[each][0] for each in self._shared(raw_counts)])

    def _shared_numbers(self, place: int) -> list[Fraction]:
        """The numbers that many rows have, as decimals; none without delta."""
        if isinstance(self._budget, PureTableBudget):
            return []
        raw_runs = self._columns[place].tally(LEAST_ROWS)
        values = [float(raw_runs.raw_values[each]) for each in self._shared(raw_runs.raw_counts)]
        return [fraction_of(ordinal_of(value)) for value in values if math.isfinite(value)]

    def _shared(self, raw_counts: NDArray[np.int64]) -> list[int]:
        """Which of some values many rows have, at one column's part of the share and of delta."""
        assert isinstance(self._budget, ConcentratedTableBudget)
        unlisted = len(self._unlisted)
        variance = self._budget.variance_for(self.shares.shared / unlisted)
        places, _ = choose_by_count(raw_counts, variance, self._delta / unlisted, self._rng)
        return [int(place) for place in places]

    def _cuts(self, place: int) -> list[Fraction]:
        """Private quantiles: one level of halving after the other, each at the same part of the share."""
        levels = CUTS.bit_length()
        share = self.shares.cuts / (levels * len(self._numbers))
        epsilon = sum((self._budget.draw_epsilon(share) for _ in range(levels)), Fraction(0))
        quantiles = [Fraction(each, CUTS + 1) for each in range(1, CUTS + 1)]
        drawn = draw_quantiles(self._columns[place], quantiles, epsilon, Neighbors.ADD_REMOVE, self._rng)
        return [fraction_of(ordinal) for ordinal in drawn.values()]
