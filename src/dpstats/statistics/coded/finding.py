"""Finding codes: bins and labels of columns that nobody listed.

Claim      (epsilon, delta)-DP for all columns together, without delta where no labels are found
Neighbors  ADD_REMOVE of one row
Why        Each column is looked at by itself, at an even part of epsilon and delta: private quantiles (universal/many.py) cut
           numbers into bins, and labels of many rows are chosen (mechanisms/thresholding.py). A row's code goes by that row alone
Numerics   Exact. A cut is a decimal of 15 digits, and rows lie on the side of it on which their own decimals do
Source     tables.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpstats.accounting.groups import row_cost, steps_between
from dpstats.foundations.privacy import Neighbors
from dpstats.foundations.randomness import RandomSource
from dpstats.foundations.registry import Question, Refusal
from dpstats.foundations.summaries import CodedTable, Coding, Column, CutCoding, LabelCoding
from dpstats.mechanisms.thresholding import choose_keys
from dpstats.statistics.coded.columns import CodedColumn
from dpstats.statistics.coded.parameters import bins_of, levels_of
from dpstats.statistics.universal.decimals import float_of, lowest_value_at, ordinal_of
from dpstats.statistics.universal.many import draw_quantiles

FINDING_SHARE = Fraction(1, 6)
"""The part of epsilon that finds bins and labels, where some must be found."""
NO_LABELS = Refusal(
    "Too few rows share a label of a column.",
    "The cost is spent; where the labels are public, list them: levels={'region': ['north', 'south']}.",
)
MOST_FOUND = 1_000
"""Labels of a column that are found at most: those of most rows."""
LARGEST_ROUNDED = 1e300
"""Cuts beyond it stay as they were drawn."""
_ALL = 1 << 62
"""More labels than any column has."""


@dataclass(frozen=True)
class FoundCodes:
    """The codes of all columns, and how rows get them."""

    columns: tuple[CodedColumn, ...]
    codings: tuple[Coding, ...]


def unknown_columns(question: Question, numeric: Sequence[bool]) -> tuple[int, int]:
    """How many columns of numbers, and of labels, have codes that must be found."""
    levels, named = levels_of(question), list(zip(question.columns, numeric, strict=True))
    numbers = sum(number and isinstance(bins_of(question, name), int) for name, number in named)
    labels = sum(not number and name not in levels for name, number in named)
    return numbers, labels


def codes_within(
    table: CodedTable, question: Question, epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> FoundCodes | None:
    """The codes of all columns out of a part of a question's price, whatever neighbours it protects; None where one has none."""
    if not epsilon:
        return find_codes(table, question, table.numeric, epsilon, delta, rng)
    price = row_cost(epsilon, delta, steps_between(question.neighbors, 1))
    return find_codes(table, question, table.numeric, price.epsilon, price.delta, rng)


def find_codes(
    table: CodedTable, question: Question, numeric: Sequence[bool], epsilon: Fraction, delta: Fraction, rng: RandomSource
) -> FoundCodes | None:
    """The codes of each column: those that are listed, and others out of `epsilon` and `delta`; None where a column has none."""
    levels = levels_of(question)
    numbers, labels = unknown_columns(question, numeric)
    each = epsilon / max(numbers + labels, 1)
    columns: list[CodedColumn] = []
    codings: list[Coding] = []
    for place, (name, number) in enumerate(zip(question.columns, numeric, strict=True)):
        if number:
            column = table.column(place)
            bins = bins_of(question, name)
            ordinals = draw_cuts(column, bins, each, rng) if isinstance(bins, int) else [ordinal_of(float(edge)) for edge in bins]
            whole = column.dtype is not None and column.dtype.kind in "iu"
            columns.append(CodedColumn(name, edges=tuple(float_of(ordinal) for ordinal in ordinals), whole=whole))
            codings.append(cut_coding(column, ordinals))
            continue
        found = levels[name] if name in levels else _found_labels(table.column(place), each, delta / labels, rng)
        if not found:
            return None
        columns.append(CodedColumn(name, labels=found))
        codings.append(LabelCoding(found))
    return FoundCodes(tuple(columns), tuple(codings))


def draw_cuts(column: Column, bins: int, epsilon: Fraction, rng: RandomSource) -> list[int]:
    """The ordinals at which about `bins` bins of equally many rows meet; a value that is met twice has a bin of its own."""
    quantiles = [Fraction(place, bins) for place in range(1, bins)]
    drawn = list(draw_quantiles(column, quantiles, epsilon, Neighbors.ADD_REMOVE, rng).values())
    dtype = column.dtype
    assert dtype is not None
    if dtype.kind in "iu":  # between two whole numbers there are no rows
        drawn = [ordinal_of(lowest_value_at(ordinal, dtype)) for ordinal in drawn]
    atoms = {ordinal for ordinal in drawn if drawn.count(ordinal) > 1}
    if dtype.kind == "f":
        drawn = [ordinal if ordinal in atoms else _round_cut(ordinal, drawn) for ordinal in drawn]
    after = {ordinal_of(int(float_of(ordinal)) + 1) if dtype.kind in "iu" else ordinal + 1 for ordinal in atoms}
    return sorted({*drawn, *after})


def _round_cut(ordinal: int, drawn: Sequence[int]) -> int:
    """A cut at a round number nearby: a tenth of the way to the next cut, at most, is worth few rows and many digits."""
    cut, others = float_of(ordinal), [float_of(other) for other in drawn if other != ordinal]
    gap = min((abs(cut - other) for other in others), default=abs(cut))
    is_usual = 0 < gap < LARGEST_ROUNDED and abs(cut) < LARGEST_ROUNDED
    return ordinal_of(round(cut, 1 - math.floor(math.log10(gap)))) if is_usual else ordinal


def cut_coding(column: Column, ordinals: Sequence[int]) -> CutCoding:
    """How rows get the codes between cuts: by their own decimals."""
    assert column.dtype is not None
    return CutCoding(tuple(lowest_value_at(ordinal, column.dtype) for ordinal in ordinals))


def _found_labels(column: Column, epsilon: Fraction, delta: Fraction, rng: RandomSource) -> tuple[int | float | str, ...]:
    """The labels of many rows, in their order; of too many those that most rows have."""
    chosen = choose_keys(dict(column.most_common(_ALL)), epsilon, delta, rng)
    most = sorted(chosen, key=lambda label: -chosen[label])[:MOST_FOUND]
    return tuple(label for label in chosen if label in set(most))
