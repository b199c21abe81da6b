"""Candidates: all sets of up to a few items, each item a code of another column, with how many rows have each.

Claim      One row added moves every count by 0 or 1, upward; and among sets of the same columns it moves one at most
Neighbors  ADD_REMOVE of one row
Why        A row has one code in each column, or none where its cell is missing or its label is not listed: it has an item or not,
           whatever other rows hold
Numerics   Exact counts
Source     picking.proof.md
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpstats.foundations.summaries import CodedTable, Coding, CutCoding, LabelCoding

Whole = NDArray[np.int64]
Item = tuple[int, int]
"""A column, by its place, and one of its codes."""
Items = tuple[Item, ...]
"""Items of different columns, in the order of these."""


@dataclass(frozen=True)
class CandidateSets:
    """All sets of `fewest` to `most` items of columns that have some numbers of codes."""

    sizes: tuple[int, ...]
    fewest: int
    most: int

    @cached_property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The sets of columns."""
        every = range(len(self.sizes))
        return tuple(columns for size in range(self.fewest, self.most + 1) for columns in combinations(every, size))

    @cached_property
    def starts(self) -> Whole:
        """The place of the first candidate of each set of columns, and at the end how many candidates there are."""
        cells = [math.prod(self.sizes[column] for column in columns) for columns in self.tables]
        return np.cumsum([0, *cells], dtype=np.int64)

    @property
    def how_many(self) -> int:
        """All candidates."""
        return int(self.starts[-1])

    def items(self, place: int) -> Items:
        """The candidate at a place."""
        number = int(np.searchsorted(self.starts, place, side="right")) - 1
        columns = self.tables[number]
        codes = np.unravel_index(place - int(self.starts[number]), [self.sizes[column] for column in columns])
        return tuple((column, int(code)) for column, code in zip(columns, codes, strict=True))


@dataclass(frozen=True, eq=False)
class RawSetCounts:
    """How many rows have each combination of codes, for some sets of columns."""

    raw_counts: dict[tuple[int, ...], Whole]

    @classmethod
    def of(cls, table: CodedTable, codings: Sequence[Coding], tables: Sequence[tuple[int, ...]]) -> RawSetCounts:
        """Count by one pass; a row without a code in a column counts in tables without that column."""
        open_codings = [with_nothing(coding) for coding in codings]
        raw_counts = table.code_counts(open_codings, tables)
        return cls(dict(zip(tables, (raw[(slice(-1),) * raw.ndim] for raw in raw_counts), strict=True)))

    def flat(self, tables: Sequence[tuple[int, ...]]) -> Whole:
        """The counts of all candidates of some sets of columns."""
        return np.concatenate([self.raw_counts[columns].ravel() for columns in tables])

    def count(self, items: Items) -> int:
        """How many rows have all of some items."""
        raw_table = self.raw_counts[tuple(column for column, _ in items)]
        return int(raw_table[tuple(code for _, code in items)])


def with_nothing(coding: Coding) -> CutCoding | LabelCoding:
    """The coding with one more code, the last one, for cells that are missing or have no listed label."""
    assert isinstance(coding, (CutCoding, LabelCoding))
    if isinstance(coding, CutCoding):
        return replace(coding, missing=len(coding.cuts) + 1)
    return replace(coding, other=len(coding.labels), missing=len(coding.labels))
