"""Measuring a table for a model of it: codes, tables of one column, and tables of two.

Claim      All of it together is epsilon-DP without delta, and else (epsilon, delta)-DP: but for an event of probability delta / 2
           it is rho-zCDP, with rho = zcdp_within(epsilon, delta / 2)
Neighbors  ADD_REMOVE of one row
Why        Every step is paid for out of shares of one budget: codes that are found (finding.py), a table of fine codes for each
           column, and rounds of tables of pairs (rounds.py)
Numerics   Exact up to the noisy tables; floats see released numbers only
Source     synthesis.proof.md
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

from dpstats.accounting.concentration import zcdp_within
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.summaries import CodedTable
from dpstats.statistics.coded.budget import ConcentratedTableBudget, PureTableBudget
from dpstats.statistics.synthetic.columns import MeasuredColumn, orders_of, rows_of
from dpstats.statistics.synthetic.finding import CodeFinding, Wish
from dpstats.statistics.synthetic.junction_tree import Columns
from dpstats.statistics.synthetic.rounds import MeasuredPair, PairRounds

CHOOSE_SHARE = Fraction(6, 100)
"""What choosing pairs takes of a budget; their tables get what is left."""


def measure_table(
    table: CodedTable, wish: Wish, epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> tuple[tuple[MeasuredColumn, ...], tuple[MeasuredPair, ...]]:
    """Measure all columns, and pairs of them, at this price for one row added or removed."""
    budget: PureTableBudget | ConcentratedTableBudget
    budget = ConcentratedTableBudget(zcdp_within(epsilon, delta / 2), rng) if delta else PureTableBudget(epsilon, rng)
    finding = CodeFinding(table, wish, budget, delta / 2, rng)
    counted = finding.counted_where_rows_are(finding.fine_columns())
    rows = rows_of([noisy for _, noisy in counted])
    columns = tuple(MeasuredColumn.of(fine, noisy, rows) for fine, noisy in counted)
    if len(columns) == 1 or finding.shares.are_all:
        return columns, ()
    pairs: list[Columns] = list(combinations(range(len(columns)), 2))
    coarse = [column.coding(dtype) for column, dtype in zip(columns, finding.types, strict=True)]
    raw_pairs = dict(zip(pairs, table.code_counts(coarse, pairs), strict=True))
    singles = [column.measured(place) for place, column in enumerate(columns)]
    rounds = PairRounds(raw_pairs, [column.size for column in columns], singles, rows, orders_of(columns))
    measure_share = budget.left - CHOOSE_SHARE
    return columns, rounds.run(budget, CHOOSE_SHARE, measure_share, focus_pairs(wish), rng, wish.most_rounds)


def focus_pairs(wish: Wish) -> list[Columns]:
    """The pairs that are measured whatever they hold."""
    named = [place for place, name in enumerate(wish.names) if name in wish.focus]
    return [pair for pair in combinations(range(len(wish.names)), 2) if pair[0] in named or pair[1] in named]
