"""Measuring a table for a model of it: codes, tables of one column, and tables of two.

Claim      All of it together is epsilon-DP without delta, and else (epsilon, delta)-DP: but for an event of probability delta / 2
           it is rho-zCDP, with rho = zcdp_within(epsilon, delta / 2)
Neighbors  ADD_REMOVE of one row
Why        Every step is paid for out of shares of one budget: values and labels that many rows share
           (mechanisms/gaussian_thresholding.py), private quantiles (universal/many.py), a table of fine codes for each column,
           and rounds of tables of pairs (rounds.py)
Numerics   Exact up to the noisy tables; floats see released numbers only
Source     synthesis.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable, Coding, Column, LabelCoding, label_order
from dpstats.mechanisms.gaussian_thresholding import choose_by_count
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget, TableBudget
from dpstats.statistics.synthetic.columns import MeasuredColumn, orders_of, rows_of
from dpstats.statistics.synthetic.fine_codes import FineColumn, label_column, number_column
from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.looking import first_look, looked_closer
from dpstats.statistics.synthetic.rounds import PairRounds, PairTable
from dpstats.statistics.universal.decimals import fraction_of, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles


@dataclass(frozen=True)
class Shares:
    """What the steps before pairs take of a budget; pairs get the rest."""

    shared: Fraction
    """Finding values and labels that many rows share."""
    cuts: Fraction
    looks: Fraction
    singles: Fraction
    """Tables of one column."""


COUNT_SHARE = Fraction(1, 100)
CHOOSE_SHARE = Fraction(6, 100)
"""What counting rows, and choosing pairs, take of a budget."""
PURE = Shares(Fraction(0), Fraction(3, 100), Fraction(20, 100), Fraction(25, 100))
STRONG = Shares(Fraction(5, 100), Fraction(3, 100), Fraction(9, 100), Fraction(20, 100))
WEAK = Shares(Fraction(12, 100), Fraction(3, 100), Fraction(20, 100), Fraction(25, 100))
FEW_ROWS = 300.0
"""Rows, in standard deviations of the noise of a table of one column that took all of its column's part, below which a budget is
weak."""
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


def measure_table(
    table: CodedTable, wish: Wish, epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> tuple[tuple[MeasuredColumn, ...], tuple[PairTable, ...]]:
    """Measure all columns, and pairs of them, at this price for one row added or removed."""
    budget: PureTableBudget | ConcentratedTableBudget
    budget = ConcentratedTableBudget(zcdp_within(epsilon, delta / 2), rng) if delta else PureTableBudget(epsilon, rng)
    opened = [table.column(place) for place in range(len(wish.names))]
    shares = _shares(table, opened, wish, budget)
    cuts: dict[int, list[Fraction]] = {}
    found = [
        _fine_column(opened[place], place, table.numeric, wish, (budget, shares), delta / 2, rng, cuts)
        for place in range(len(opened))
    ]
    types = [column.dtype if number else None for column, number in zip(opened, table.numeric, strict=True)]
    numbers = [place for place, fine in enumerate(found) if not fine.is_labels]
    for _ in range(LOOKS if numbers else 0):
        raw_looks = table.code_counts(_codings(found, types), [(place,) for place in numbers])
        looks = [budget.noisy(raw_counts, shares.looks / (LOOKS * len(numbers))) for raw_counts in raw_looks]
        rows = rows_of(looks)
        for place, look in zip(numbers, looks, strict=True):
            deviation = math.sqrt(look.law.variance)
            found[place] = looked_closer(found[place], look.noisy_counts, deviation, rows, cuts[place], singles=not delta)
    raw_singles = table.code_counts(_codings(found, types), [(place,) for place in range(len(found))])
    noisy = [budget.noisy(raw_counts, shares.singles / len(found)) for raw_counts in raw_singles]
    rows = rows_of(noisy)
    columns = tuple(MeasuredColumn.of(fine, each, rows) for fine, each in zip(found, noisy, strict=True))
    if len(columns) == 1:
        return columns, ()
    pairs = list(combinations(range(len(columns)), 2))
    coarse = [column.coding(dtype) for column, dtype in zip(columns, types, strict=True)]
    raw_pairs = dict(zip(pairs, table.code_counts(coarse, pairs), strict=True))
    singles = [column.measured(place) for place, column in enumerate(columns)]
    rounds = PairRounds(raw_pairs, [column.size for column in columns], singles, rows, orders_of(columns))
    measure_share = budget.left - CHOOSE_SHARE
    return columns, rounds.run(budget, CHOOSE_SHARE, measure_share, focus_pairs(wish), rng, wish.most_rounds)


def _shares(table: CodedTable, opened: Sequence[Column], wish: Wish, budget: TableBudget) -> Shares:
    """How a budget is divided, by a public rule on a noisy number of rows."""
    first = number_column("", [Fraction(0), Fraction(1)], Fraction(0), whole=False) if table.numeric[0] else label_column("", ())
    codings = [
        first.coding(opened[0].dtype if table.numeric[0] else None),
        *[LabelCoding((), other=0, missing=1)] * (len(opened) - 1),
    ]
    [raw_counts] = table.code_counts(codings, [(0,)])
    rows = float(budget.noisy(raw_counts, COUNT_SHARE).noisy_counts.sum())
    if not budget.is_concentrated:
        return PURE
    return STRONG if rows >= FEW_ROWS * math.sqrt(budget.law(Fraction(1, len(opened))).variance) else WEAK


def _codings(found: Sequence[FineColumn], types: Sequence[np.dtype[Any] | None]) -> list[Coding]:
    return [fine.coding(dtype) for fine, dtype in zip(found, types, strict=True)]


def focus_pairs(wish: Wish) -> list[Columns]:
    """The pairs that are measured whatever they hold."""
    named = [place for place, name in enumerate(wish.names) if name in wish.focus]
    return [pair for pair in combinations(range(len(wish.names)), 2) if pair[0] in named or pair[1] in named]


def _fine_column(
    column: Column,
    place: int,
    numeric: Sequence[bool],
    wish: Wish,
    paid: tuple[PureTableBudget | ConcentratedTableBudget, Shares],
    delta: Fraction,
    rng: RandomSource,
    cuts: dict[int, list[Fraction]],
) -> FineColumn:
    """The fine codes of one column: listed labels, or what even parts of the shares find."""
    name, numbers = wish.names[place], sum(numeric)
    budget, shares = paid
    if name in wish.levels:
        return label_column(name, wish.levels[name])
    if isinstance(budget, PureTableBudget):
        cuts[place] = _cuts(column, budget, shares.cuts / numbers, rng)
        return first_look(name, cuts[place], [], whole=_is_whole(column))
    unlisted = len([each for each in wish.names if each not in wish.levels])
    variance, part = budget.variance_for(shares.shared / unlisted), delta / unlisted
    if not numeric[place]:
        return label_column(name, _shared_labels(column, variance, part, rng))
    shared = _shared_numbers(column, variance, part, rng)
    cuts[place] = _cuts(column, budget, shares.cuts / numbers, rng)
    return first_look(name, cuts[place], shared, whole=_is_whole(column))


def _is_whole(column: Column) -> bool:
    return column.dtype is not None and column.dtype.kind in "iu"


def _cuts(column: Column, budget: TableBudget, share: Fraction, rng: RandomSource) -> list[Fraction]:
    """Private quantiles: one level of halving after the other, each at the same part of the share."""
    levels = CUTS.bit_length()
    epsilon = sum((budget.draw_epsilon(share / levels) for _ in range(levels)), Fraction(0))
    quantiles = [Fraction(place, CUTS + 1) for place in range(1, CUTS + 1)]
    drawn = draw_quantiles(column, quantiles, epsilon, Neighbors.ADD_REMOVE, rng)
    return [fraction_of(ordinal) for ordinal in drawn.values()]


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
