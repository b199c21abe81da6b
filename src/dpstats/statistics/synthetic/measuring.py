"""Measuring a table for a model of it: codes, tables of one column, and tables of two.

Claim      All of it together is epsilon-DP without delta, and else (epsilon, delta)-DP: but for an event of probability delta / 2 it
           is rho-zCDP, with rho = zcdp_within(epsilon, delta / 2)
Neighbors  ADD_REMOVE of one row
Why        Every step is paid for out of shares of one budget: values and labels that many rows share
           (mechanisms/gaussian_thresholding.py), private quantiles (universal/many.py), a table of fine codes for each column, and
           rounds of tables of pairs (rounds.py)
Numerics   Exact up to the noisy tables; floats see released numbers only
Source     synthesis.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable, Column, CutCoding, LabelCoding, MergedCoding, label_order
from dpstats.mechanisms.gaussian_thresholding import choose_by_count
from dpstats.statistics.coded.budget import ConcentratedTableBudget, NoisyTable, PureTableBudget, TableBudget
from dpstats.statistics.synthetic.fine_codes import FineColumn, label_column, merge_labels, merge_numbers, number_column, settled_counts
from dpstats.statistics.synthetic.graphical_model import Measured
from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.rounds import PairRounds, Synthesis
from dpstats.statistics.universal.decimals import fraction_of, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SHARED_SHARE = Fraction(5, 100)
CUTS_SHARE = Fraction(8, 100)
SINGLE_SHARE = Fraction(22, 100)
CHOOSE_SHARE = Fraction(9, 100)
"""What finding shared values, cuts, tables of one column and the choice of pairs take of a budget; pairs get the rest."""
CUTS = 15
MOST_CODES = 20
"""About how many coarse codes a column of numbers gets."""
_ALL = 1 << 62


@dataclass(frozen=True)
class Wish:
    """What is asked for, and known before anything is read."""

    names: tuple[str, ...]
    levels: dict[str, tuple[Any, ...]]
    """Labels of columns that are public."""
    focus: tuple[str, ...] = ()
    """Columns whose tables with every other column are measured whatever they hold."""


@dataclass(frozen=True)
class MeasuredColumn:
    """A column in fine codes with their noisy counts, and the coarse code of each."""

    fine: FineColumn
    coding: CutCoding | LabelCoding
    noisy: NoisyTable
    counts: Floats
    """Noisy counts, made non-negative so that they add up to about as many rows as there are."""
    merged: Integers

    @property
    def size(self) -> int:
        """How many coarse codes there are."""
        return int(self.merged.max()) + 1

    def coarse(self) -> MergedCoding:
        """How rows get their coarse codes."""
        return MergedCoding(self.coding, tuple(self.merged.tolist()))

    def measured(self, place: int) -> Measured:
        """The table of coarse codes, from that of fine ones."""
        counts = np.bincount(self.merged, weights=self.noisy.noisy_counts, minlength=self.size)
        return Measured((place,), counts, self.noisy.law.variance * len(self.merged) / self.size)


@dataclass(frozen=True)
class MeasuredTable:
    """What was measured of a table: each column by itself, and a model of all of them."""

    columns: tuple[MeasuredColumn, ...]
    synthesis: Synthesis


def measure_table(table: CodedTable, wish: Wish, epsilon: Fraction, delta: Fraction, rng: RandomSource) -> MeasuredTable:
    """Measure all columns, and pairs of them, at this price for one row added or removed."""
    budget: PureTableBudget | ConcentratedTableBudget
    budget = ConcentratedTableBudget(zcdp_within(epsilon, delta / 2), rng) if delta else PureTableBudget(epsilon, rng)
    found = _find_codes(table, wish, budget, delta / 2, rng)
    codings, places = [coding for _, coding in found], range(len(found))
    raw_singles = table.code_counts(codings, [(place,) for place in places])
    share = SINGLE_SHARE / len(found)
    noisy = [budget.noisy(raw_counts, share) for raw_counts in raw_singles]
    rows = _rows_of(noisy)
    columns = [_measured_column(fine, coding, each, rows) for (fine, coding), each in zip(found, noisy, strict=True)]
    pairs = list(combinations(places, 2))
    raw_pairs = table.code_counts([column.coarse() for column in columns], pairs)
    singles = [column.measured(place) for place, column in enumerate(columns)]
    sizes = [column.size for column in columns]
    rounds = PairRounds(dict(zip(pairs, raw_pairs, strict=True)), sizes, singles, rows, pure=not delta)
    synthesis = rounds.run(budget, CHOOSE_SHARE, budget.left - CHOOSE_SHARE, focus_pairs(wish), rng)
    return MeasuredTable(tuple(columns), synthesis)


def focus_pairs(wish: Wish) -> list[Columns]:
    """The pairs that are measured whatever they hold."""
    named = [place for place, name in enumerate(wish.names) if name in wish.focus]
    return [pair for pair in combinations(range(len(wish.names)), 2) if pair[0] in named or pair[1] in named]


def _find_codes(
    table: CodedTable, wish: Wish, budget: PureTableBudget | ConcentratedTableBudget, delta: Fraction, rng: RandomSource
) -> list[tuple[FineColumn, CutCoding | LabelCoding]]:
    """The fine codes of each column, and how rows get them."""
    numbers = sum(table.numeric)
    unlisted = len([name for name in wish.names if name not in wish.levels])
    found = []
    for place, (name, number) in enumerate(zip(wish.names, table.numeric, strict=True)):
        column = table.column(place)
        if name in wish.levels:
            fine = label_column(name, wish.levels[name])
        elif isinstance(budget, PureTableBudget):
            fine = number_column(name, column, _cuts(column, budget, (CUTS_SHARE + SHARED_SHARE / 2) / numbers, rng), [])
        elif number:
            shared = _shared_numbers(column, budget.variance_for(SHARED_SHARE / unlisted), delta / unlisted, rng)
            fine = number_column(name, column, _cuts(column, budget, CUTS_SHARE / numbers, rng), shared)
        else:
            fine = label_column(name, _shared_labels(column, budget.variance_for(SHARED_SHARE / unlisted), delta / unlisted, rng))
        found.append((fine, fine.coding(column.dtype if number else None)))
    return found


def _cuts(column: Column, budget: TableBudget, share: Fraction, rng: RandomSource) -> list[int]:
    """Private quantiles: one level of halving after the other, each at the same part of the share."""
    levels = CUTS.bit_length()
    epsilon = sum((budget.draw_epsilon(share / levels) for _ in range(levels)), Fraction(0))
    quantiles = [Fraction(place, CUTS + 1) for place in range(1, CUTS + 1)]
    return list(draw_quantiles(column, quantiles, epsilon, Neighbors.ADD_REMOVE, rng).values())


def _shared_numbers(column: Column, variance: Fraction, delta: Fraction, rng: RandomSource) -> list[Fraction]:
    """The numbers that many rows have, as decimals."""
    raw_runs = column.tally()
    places, _ = choose_by_count(raw_runs.raw_counts, variance, delta, rng)
    values = [float(raw_runs.raw_values[place]) for place in places]
    return [fraction_of(ordinal_of(value)) for value in values if math.isfinite(value)]


def _shared_labels(column: Column, variance: Fraction, delta: Fraction, rng: RandomSource) -> list[Any]:
    """The labels that many rows have, in their order."""
    raw_labels = sorted(column.most_common(_ALL), key=lambda pair: label_order(pair[0]))
    raw_counts = np.array([count for _, count in raw_labels], dtype=np.int64)
    places, _ = choose_by_count(raw_counts, variance, delta, rng)
    return [raw_labels[place][0] for place in places]


def _measured_column(fine: FineColumn, coding: CutCoding | LabelCoding, noisy: NoisyTable, rows: float) -> MeasuredColumn:
    deviation, counts = math.sqrt(noisy.law.variance), settled_counts(noisy.noisy_counts, rows)
    if fine.is_labels:
        return MeasuredColumn(fine, coding, noisy, counts, merge_labels(fine, counts, deviation))
    merged, counts = merge_numbers(fine, counts, deviation, MOST_CODES)
    return MeasuredColumn(fine, coding, noisy, counts, merged)


def _rows_of(noisy: Sequence[NoisyTable]) -> float:
    """About how many rows there are, at least 1: the totals of all columns, weighted by their precision."""
    weights = [1 / (each.law.variance * each.noisy_counts.size) for each in noisy]
    totals = [float(each.noisy_counts.sum()) for each in noisy]
    return max(1.0, sum(weight * total for weight, total in zip(weights, totals, strict=True)) / sum(weights))
