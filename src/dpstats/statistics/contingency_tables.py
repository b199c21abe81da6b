"""Contingency tables: rows by several columns at once, all tables of up to so many columns, which agree with each other.

Claim      laplace, fourier: epsilon-DP. gaussian: (epsilon, delta)-DP
Neighbors  ADD_REMOVE (the number of rows is private); CHANGE_ONE as one row removed and one added
Why        Codes of columns that nobody listed are found first, out of a part of the price (coded/finding.py). Then one table is
           measured for each set of columns, of which a row moves one cell by 1 (contingency/residuals.py), out of shares of the
           rest that add up (coded/budget.py). All tables are made of these, and so agree on what they share
Numerics   Whole numbers and exact noise; tables are sums of them in floats. A reach is computed from the law of the noise, which
           is public
No reply   Where labels must be found and a column has none of many rows; costs the same as an answer
Source     coded/tables.proof.md; Barak, Chaudhuri, Dwork, Kale, McSherry & Talwar 2007 (fourier: as printed)
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np

from dpstats.foundations.errors import InvalidParameterError
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Answer, Outcome, Parameter, Question, Reads, Refusal, Statistic, method, register
from dpstats.foundations.summaries import CodedTable
from dpstats.foundations.text_tables import counted
from dpstats.statistics.coded.budget import Floats, NoiseLaw, PureTableBudget, TableBudget, table_budget
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.coded.finding import FINDING_SHARE, NO_LABELS, codes_within, unknown_columns
from dpstats.statistics.coded.parameters import BINS, LEVELS, levels_of, settle_levels
from dpstats.statistics.contingency.reaches import reach_of, variance_of
from dpstats.statistics.contingency.residuals import TWO, Columns, TableResiduals
from dpstats.statistics.contingency.tables import ContingencyTable, ContingencyTables
from dpstats.statistics.contingency.whole_tables import MOST_COMBINATIONS, whole_tables

MOST_WAYS = 4
MOST_TABLES = 2_000
MOST_CELLS = 4_000_000
TOO_MANY_CELLS = Refusal(
    f"The tables have more than {MOST_CELLS:,} cells.",
    "The cost is spent; ask about fewer columns, fewer of them at once (ways=), or fewer bins.",
)
TOO_MANY_COMBINATIONS = Refusal(
    f"whole=True takes columns with at most {MOST_COMBINATIONS:,} combinations of their codes.",
    "The cost is spent; ask about fewer columns or bins, or leave whole out.",
)


def _checked_ways(value: object) -> int:
    if type(value) is not int or not 1 <= value <= MOST_WAYS:
        raise InvalidParameterError(f"ways must be a whole number from 1 to {MOST_WAYS}, got {value!r}.")
    return value


def _checked_whole(value: object) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(f"whole must be True or False, got {value!r}.")
    return bool(value)


CONTINGENCY_TABLE = register(
    Statistic(
        "contingency_table",
        "How many rows have each combination of the values of several columns: all tables of up to `ways` columns",
        (
            Parameter(
                "ways", f"how many columns a table has at most, from 1 to {MOST_WAYS}", _checked_ways, 2, takes=int, by_name=True
            ),
            LEVELS,
            BINS,
            Parameter(
                "whole",
                "True makes all counts whole and none negative, so that some table of rows has them",
                _checked_whole,
                False,
                takes=bool,
                by_name=True,
            ),
        ),
        reads=(Reads.COLUMNS,),
        returns="ContingencyTables: tables['sex', 'region'] has .counts, .low, .high, .shares and .to_pandas()",
        value=ContingencyTables,
        revive=ContingencyTables.from_dict,
        prefer=lambda arguments, delta: "gaussian" if delta else "laplace",
        settle_columns=settle_levels,
        labelled=lambda arguments: dict(arguments["levels"]),
    )
)


def _check_tables(question: Question) -> None:
    """Raise where there are too many tables."""
    ways = min(question.arguments["ways"], len(question.columns))
    tables = sum(math.comb(len(question.columns), size) for size in range(ways + 1))
    if tables > MOST_TABLES:
        raise InvalidParameterError(
            f"{len(question.columns)} columns make {tables:,} tables of up to {ways} columns, and {MOST_TABLES:,} are the most: "
            "ask about fewer columns, or with fewer ways."
        )


def _check_two_levels(question: Question) -> None:
    """Raise unless each column is known to have two levels."""
    _check_tables(question)
    levels = levels_of(question)
    if levels and any(len(levels.get(name, ())) != TWO for name in question.columns):
        raise InvalidParameterError(
            "the method 'fourier' takes columns of two listed levels each; the method 'laplace' takes all."
        )


@method(
    CONTINGENCY_TABLE,
    "laplace",
    claim="pure epsilon-DP: whole-number Laplace noise on what each set of columns adds to the tables of its parts",
    check=_check_tables,
)
def contingency_laplace(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """All tables, with noise whose shares make the sum of variances least."""
    return _answer(table, question, rng)


@method(
    CONTINGENCY_TABLE,
    "gaussian",
    claim="(epsilon, delta)-DP: whole-number Gaussian noise, or Laplace where that is less; labels of many rows are found",
    needs_delta=True,
    check=_check_tables,
)
def contingency_gaussian(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """The same, with the noise that is less at this price."""
    return _answer(table, question, rng)


@method(
    CONTINGENCY_TABLE,
    "fourier",
    claim="pure epsilon-DP: as printed, for columns of two levels: even Laplace noise on all Fourier coefficients needed",
    check=_check_two_levels,
)
def contingency_fourier(table: CodedTable, question: Question, rng: RandomSource) -> Outcome:
    """The printed method: every coefficient has the same noise."""
    return _answer(table, question, rng, evenly=True)


def _answer(table: CodedTable, question: Question, rng: RandomSource, *, evenly: bool = False) -> Outcome:
    numbers, labels = unknown_columns(question, table.numeric)
    finding_epsilon = question.epsilon * FINDING_SHARE if numbers + labels else Fraction(0)
    finding_delta = question.delta / 2 if labels else Fraction(0)
    found = codes_within(table, question, finding_epsilon, finding_delta, rng)
    if found is None:
        return NO_LABELS
    sizes = tuple(column.size for column in found.columns)
    ways = min(question.arguments["ways"], len(sizes))
    wanted = tuple(columns for size in range(ways + 1) for columns in combinations(range(len(sizes)), size))
    if sum(math.prod(sizes[column] for column in columns) for columns in wanted) > MOST_CELLS:
        return TOO_MANY_CELLS
    if question.arguments["whole"] and math.prod(sizes) > MOST_COMBINATIONS:
        return TOO_MANY_COMBINATIONS
    residuals = TableResiduals(sizes, wanted)
    budget, shares = _cheapest(
        residuals, question, question.epsilon - finding_epsilon, question.delta - finding_delta, rng, evenly
    )
    raw_counts = dict(zip(residuals.parts, table.code_counts(found.codings, residuals.parts), strict=True))
    noisy = {
        part: budget.noisy(residuals.measured(part, raw_counts[part]), share)
        for part, share in zip(residuals.parts, shares, strict=True)
    }
    level = None if question.interval is None else float(question.interval)
    measured = [(columns, residuals.table(columns, noisy)) for columns in wanted]
    counts = whole_tables(sizes, measured) if question.arguments["whole"] else [table for _, table in measured]
    noise = {part: noisy[part].law for part in noisy}
    tables = [
        _table(found.columns, columns, shown, measured_table, residuals, noise, level)
        for (columns, measured_table), shown in zip(measured, counts, strict=True)
    ]
    return Answer(
        ContingencyTables(found.columns, tuple(tables), level), notes=_notes(question, noise, numbers, labels, finding_epsilon)
    )


def _cheapest(
    residuals: TableResiduals, question: Question, epsilon: Fraction, delta: Fraction, rng: RandomSource, evenly: bool
) -> tuple[TableBudget, list[Fraction]]:
    """The budget whose noise is less, with or without delta, and the shares of the measured tables."""
    budgets = [table_budget(epsilon, each, question.neighbors, rng) for each in sorted({Fraction(0), delta})]
    options = []
    for budget in budgets:
        weights = np.ones(len(residuals.parts)) if evenly else residuals.weights
        shares = budget.shares_for(weights)
        noise = math.fsum(
            weight * budget.law(share).variance for weight, share in zip(residuals.weights.tolist(), shares, strict=True)
        )
        options.append((noise, isinstance(budget, PureTableBudget), budget, shares))
    return min(options, key=lambda option: option[:2])[2:]


def _table(
    columns: tuple[CodedColumn, ...],
    places: Columns,
    shown: Floats,
    measured: Floats,
    residuals: TableResiduals,
    laws: dict[Columns, NoiseLaw],
    level: float | None,
) -> ContingencyTable:
    noise = residuals.cell_noise(places, laws)
    reach = None if level is None else reach_of(noise, level)
    return ContingencyTable(tuple(columns[place] for place in places), shown, measured, reach, math.sqrt(variance_of(noise)))


def _notes(
    question: Question, noise: dict[Columns, NoiseLaw], numbers: int, labels: int, finding_epsilon: Fraction
) -> tuple[tuple[str, str], ...]:
    """What belongs on the card."""
    found = []
    if numbers + labels:
        what = " and ".join(text for text, count in (("bins", numbers), ("labels", labels)) if count)
        share = f"{float(100 * finding_epsilon / question.epsilon):.0f}% of epsilon"
        found = [
            (
                what,
                f"of {counted(numbers + labels, 'column')} found privately, with {share}{' and half of delta' if labels else ''}",
            )
        ]
    single = noise[max(noise, key=len)]
    return (
        *found,
        ("noise", f"{len(noise):,} measured tables; in those of most columns {single}"),
        ("intervals", "cover the noise in one cell: rows of this table, and nothing beyond it"),
        ("left out", "rows that are missing in one of the columns, or have a label that is not listed or found"),
        ("public", "the parameters, names and types of columns; nothing about the rows"),
        ("numerics", "exact: whole numbers and an exact sampler; tables are sums of these"),
    )
