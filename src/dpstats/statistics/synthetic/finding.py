"""Finding and counting the fine codes of all columns of a table, out of shares of a budget.

Claim      Paid for by shares of a budget (coded/budget.py) and, with delta, but for an event of probability delta
Neighbors  ADD_REMOVE of one row
Why        Values and labels that many rows share (gaussian_thresholding.py), private quantiles (universal/many.py), the
           number of rows, and looks: tables of one column each. How a budget is divided, and which codes a look has, goes by
           what was released before; so do pooled counts of fine codes (pooling.py)
Numerics   Exact; codes follow from released numbers
Source     synthesis.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.allowance import parts_of_one
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable, Coding, label_order
from dpstats.mechanisms.gaussian_thresholding import LEAST_ROWS, choose_by_count
from dpstats.statistics.coded.budget import ConcentratedTableBudget, NoisyTable, PureTableBudget
from dpstats.statistics.synthetic.columns import rows_of
from dpstats.statistics.synthetic.fine_codes import FineColumn, label_column, next_value, number_column
from dpstats.statistics.synthetic.looking import first_look, looked_closer
from dpstats.statistics.synthetic.pooling import (
    CountedStretch,
    pooled,
    stretches_of_labels,
    stretches_of_look,
    stretches_of_values,
)
from dpstats.statistics.synthetic.support import supported
from dpstats.statistics.universal.decimals import fraction_of, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles, levels_of


@dataclass(frozen=True)
class CodeShares:
    """What single columns take of a budget, and what finding codes takes of each column's part; pairs get the rest."""

    columns: Fraction
    """All single columns together: finding their codes, and tables of one column."""
    shared: Fraction
    """Finding values and labels that many rows share."""
    cuts: Fraction
    """Private quantiles; none where rows are so few that they would be drawn at random."""
    looks: Fraction

    @property
    def are_all(self) -> bool:
        """Whether nothing is left for pairs of columns: then these are taken to be independent."""
        return self.columns + COUNT_SHARE == 1


COUNT_SHARE = Fraction(1, 100)
"""What counting rows takes of a budget."""
PURE_STRONG = CodeShares(Fraction(30, 100), Fraction(0), Fraction(10, 100), Fraction(50, 100))
PURE_WEAK = CodeShares(Fraction(60, 100), Fraction(0), Fraction(0), Fraction(60, 100))
PURE_ALONE = CodeShares(1 - COUNT_SHARE, Fraction(0), Fraction(0), Fraction(45, 100))
"""Where columns take all, looks need less of it than beside pairs: distances were the same from 30 to 50%, 4% larger at 60% and
15% larger at 20% (the tables of PURE_TOO_FEW_ROWS, 132 and 31 releases of them)."""
STRONG = CodeShares(Fraction(30, 100), Fraction(20, 100), Fraction(5, 100), Fraction(45, 100))
MIDDLING = CodeShares(Fraction(35, 100), Fraction(20, 100), Fraction(0), Fraction(45, 100))
WEAK = CodeShares(Fraction(60, 100), Fraction(20, 100), Fraction(0), Fraction(50, 100))
MANY_ROWS, FEW_ROWS, PURE_FEW_ROWS = 800.0, 300.0, 1000.0
"""Rows, in standard deviations of the noise of a table that took all of an even part of the budget, from which on a budget is
strong, and below which it is weak; the last one without delta, where single values are to be found by looks alone."""
PURE_TOO_FEW_ROWS = 160.0
"""The same below which, without delta, pairs of columns cost more than they tell. Chosen on 249 samples of rows and columns of
Wages, OFP, Star, rwm5yr, diamonds, Computers, SLID and Hdma: without pairs tables of two columns were 12 to 15% nearer at
strengths of 106 to 160, 4% (one standard error) at 160 to 180, as near at 200 to 240 and 10% farther at 240 to 300. On other
tables this and the share of looks below made them 14% nearer below a strength of 120, and 19% from there to 160. A larger number
costs the relations of tables that have strong ones. With delta the same was tried (295 releases): no pairs, or three quarters of
the budget for columns, gained nothing that other tables confirmed."""
POWER = 2 / 3
"""A column's part goes by this power of its levels: so the sum of all columns' errors is least with Gaussian noise."""
NUMBER_LEVELS = 30
"""How many levels a column is taken to have where they are not listed."""
CUTS = 3
LOOKS = 2
_ALL = 1 << 62
"""More labels than any column has."""
_Earlier = Callable[[FineColumn], list[CountedStretch]]
"""What was counted before of stretches of fine codes."""


@dataclass(frozen=True)
class Wish:
    """What is asked for, and known before anything is read."""

    names: tuple[str, ...]
    levels: Mapping[str, tuple[Any, ...]]
    """Labels of columns that are public."""
    focus: tuple[str, ...] = ()
    """Columns whose tables with every other column are measured whatever they hold."""
    most_rounds: int = 6
    small: tuple[Fraction, ...] = ()
    """Numbers that have codes of their own from the beginning."""
    may_be_alone: bool = False
    """Whether single columns may take all of the budget where rows are few."""


class CodeFinding:
    """Finds the fine codes of all columns, listed labels or what a column's part of a budget finds, and counts them."""

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
        self._earlier: dict[int, list[_Earlier]] = {place: [] for place in range(len(self._columns))}
        self.shares = self._divided()
        sizes = [len(wish.levels[name]) if name in wish.levels else NUMBER_LEVELS for name in wish.names]
        parts = parts_of_one([max(size, 1) ** POWER for size in sizes])
        self._parts = [self.shares.columns * part for part in parts]

    def fine_columns(self) -> list[FineColumn]:
        """The fine codes of each column."""
        found = [self._labels(place) for place in range(len(self._columns))]
        cuts = {place: self._cuts(place) for place in self._numbers}
        for place in self._numbers:
            shared = self._shared_numbers(place)
            found[place] = first_look(
                self._wish.names[place], cuts[place], shared, whole=self._is_whole(place), small=self._wish.small
            )
        for _ in range(LOOKS if self._numbers else 0):
            raw_looks = self._table.code_counts(self.codings(found), [(place,) for place in self._numbers])
            shares = [self._parts[place] * self.shares.looks / LOOKS for place in self._numbers]
            looks = [self._budget.noisy(raw_counts, share) for raw_counts, share in zip(raw_looks, shares, strict=True)]
            rows = rows_of(looks)
            for place, look in zip(self._numbers, looks, strict=True):
                self._earlier[place].append(partial(stretches_of_look, looked=found[place], look=look))
                found[place] = looked_closer(
                    found[place], look, rows, cuts[place], singles=not self._delta, small=self._wish.small
                )
        return found

    def counted(self, found: Sequence[FineColumn]) -> list[NoisyTable]:
        """Noisy counts of all fine codes, for what is left of each column's part, pooled with what looks found before."""
        return [together for _, together in self._counted(found)]

    def counted_where_rows_are(self, found: Sequence[FineColumn]) -> list[tuple[FineColumn, NoisyTable]]:
        """The same counts, of columns that are held to where counts which had no say in their codes show rows (see `support`)."""
        both = self._counted(found)
        rows = rows_of([together for _, together in both])
        return [
            (fine, together) if fine.is_labels else supported(fine, fresh, together, rows)
            for fine, (fresh, together) in zip(found, both, strict=True)
        ]

    def _counted(self, found: Sequence[FineColumn]) -> list[tuple[NoisyTable, NoisyTable]]:
        """Noisy counts of all fine codes, by themselves and pooled with earlier ones."""
        raw_singles = self._table.code_counts(self.codings(found), [(place,) for place in range(len(found))])
        noisy = [self._budget.noisy(raw_counts, self._left_for(place)) for place, raw_counts in enumerate(raw_singles)]
        return [
            (each, pooled(each, [stretch for earlier in self._earlier[place] for stretch in earlier(fine)]))
            for place, (fine, each) in enumerate(zip(found, noisy, strict=True))
        ]

    def _left_for(self, place: int) -> Fraction:
        """What of a column's part is left for its table."""
        found = self.shares.shared if place in self._unlisted else Fraction(0)
        looked = self.shares.cuts + self.shares.looks if place in self._numbers else Fraction(0)
        return self._parts[place] * (1 - found - looked)

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
        is_pure = isinstance(self._budget, PureTableBudget)
        if is_pure and strength < PURE_TOO_FEW_ROWS and self._wish.may_be_alone:
            return PURE_ALONE
        if is_pure:
            return PURE_STRONG if strength >= PURE_FEW_ROWS else PURE_WEAK
        return STRONG if strength >= MANY_ROWS else MIDDLING if strength >= FEW_ROWS else WEAK

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
        places, noisy_counts, variance = self._shared(place, raw_counts)
        labels = [raw_labels[each][0] for each in places]
        self._earlier[place].append(lambda fine: stretches_of_labels(labels, noisy_counts, variance))
        return label_column(name, labels)

    def _shared_numbers(self, place: int) -> list[Fraction]:
        """The numbers that many rows have, as decimals; none without delta."""
        if isinstance(self._budget, PureTableBudget):
            return []
        raw_runs = self._columns[place].tally(LEAST_ROWS)
        places, noisy_counts, variance = self._shared(place, raw_runs.raw_counts)
        counted = [(float(raw_runs.raw_values[each]), count) for each, count in zip(places, noisy_counts, strict=True)]
        finite = {fraction_of(ordinal_of(value)): count for value, count in counted if math.isfinite(value)}
        spans = [(value, next_value(value, Fraction(int(self._is_whole(place))))) for value in finite]
        self._earlier[place].append(lambda fine: stretches_of_values(fine, spans, finite.values(), variance))
        return list(finite)

    def _shared(self, place: int, raw_counts: NDArray[np.int64]) -> tuple[list[int], list[int], float]:
        """Which of some values many rows have, at a column's part of the budget and of delta; noisy counts and their variance."""
        assert isinstance(self._budget, ConcentratedTableBudget)
        variance = self._budget.variance_for(self._parts[place] * self.shares.shared)
        places, noisy_counts = choose_by_count(raw_counts, variance, self._delta / len(self._unlisted), self._rng)
        return places.tolist(), noisy_counts.tolist(), float(variance)

    def _cuts(self, place: int) -> list[Fraction]:
        """Private quantiles, if any: one level of halving after the other, each at the same part of the share."""
        if not self.shares.cuts:
            return []
        quantiles = tuple(Fraction(each, CUTS + 1) for each in range(1, CUTS + 1))
        levels = levels_of(quantiles)
        share = self._parts[place] * self.shares.cuts / levels
        epsilon = sum((self._budget.draw_epsilon(share) for _ in range(levels)), Fraction(0))
        drawn = draw_quantiles(self._columns[place], quantiles, epsilon, Neighbors.ADD_REMOVE, self._rng)
        return [fraction_of(ordinal) for ordinal in drawn.values()]
