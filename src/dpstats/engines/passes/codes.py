"""Codes: jobs that count the rows of a table by the codes of several columns, or add up what rows give by all their codes.

What code a row has in a column depends on that row alone, and counts of two parts of the rows add up.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, Numbers
from dpstats.engines.exact.cuts import edge_at
from dpstats.engines.groups.lookups import Lookup, canonical_label
from dpstats.engines.passes.cut_tables import CutTable
from dpstats.engines.passes.rows import RowTotals
from dpstats.engines.stores.store import Batch
from dpstats.engines.views import CountedCells, TableView, ViewedBatch
from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE, CodeSum, Coding, CutCoding, LabelCoding, MergedCoding

Codes = NDArray[np.int64]
Counts = NDArray[np.int64]

LEFT_OUT = -1
"""The code of a row that is in no count."""
_ROWS_AT_ONCE = 1 << 16
"""Rows whose codes stay in a processor's cache while all pairs of them are counted."""


@dataclass(frozen=True)
class CodedRows:
    """The rows of a view as codes."""

    view: TableView
    columns: tuple[tuple[str, ColumnType], ...]
    """Names, and what each is read as."""
    codings: tuple[Coding, ...]

    def pieces(self, batches: Iterable[Batch], at_once: int) -> Iterator[NDArray[np.signedinteger]]:
        """Codes by columns and rows, of at most `at_once` rows that belong to the view and are left out by no coding."""
        coders = [_Coder(coding) for coding in self.codings]
        for batch in batches:
            raw_codes = self._kept_codes(self.view.on(batch), batch.rows, coders)
            for start in range(0, raw_codes.shape[1], at_once):
                yield raw_codes[:, start : start + at_once]

    def _kept_codes(self, viewed: ViewedBatch, rows: int, coders: Sequence[_Coder]) -> NDArray[np.signedinteger]:
        largest = max((coding.size for coding in self.codings), default=1)
        raw_codes: NDArray[np.signedinteger] = np.empty((len(coders), rows), dtype=np.min_scalar_type(-largest - 1))
        for place, (coder, column) in enumerate(zip(coders, self.columns, strict=True)):
            raw_codes[place] = coder.codes(viewed.parts(*column))
        raw_counted = (raw_codes != LEFT_OUT).all(axis=0)
        if viewed.raw_kept is not None:
            raw_counted &= viewed.raw_kept
        return raw_codes if raw_counted.all() else raw_codes[:, raw_counted]


@dataclass(frozen=True)
class CodeTotals:
    """A job: what rows add by their codes in all columns, added up exactly."""

    rows: CodedRows
    row_sum: CodeSum

    def scan(self, batches: Iterable[Batch]) -> RowTotals:
        """Add up the rows of some batches."""
        return self.over(self.rows.pieces(batches, MOST_ROWS_AT_ONCE))

    def over(self, raw_pieces: Iterable[NDArray[np.signedinteger]]) -> RowTotals:
        """The same for rows that have their codes already, at most MOST_ROWS_AT_ONCE in a piece."""
        totals = self._of_none()
        for raw_codes in raw_pieces:
            raw_shown = raw_codes.T
            raw_shown.flags.writeable = False
            totals.take(raw_shown)
        return totals

    def merge(self, parts: Sequence[RowTotals]) -> RowTotals:
        """Add the sums up."""
        totals = self._of_none()
        for part in parts:
            totals.absorb(part)
        return totals

    def _of_none(self) -> RowTotals:
        """The sums over no rows, which have the length of all others."""
        totals = RowTotals(self.row_sum)
        totals.take(np.empty((0, len(self.rows.columns)), dtype=np.int64))
        return totals


@dataclass(frozen=True)
class CodeCount:
    """A job: rows by their codes, a table of counts for each set of columns."""

    rows: CodedRows
    sets: tuple[tuple[int, ...], ...]

    def scan(self, batches: Iterable[Batch]) -> list[Counts]:
        """Count the rows of some batches."""
        totals = [np.zeros(math.prod(self._shape(places)), dtype=np.int64) for places in self.sets]
        for raw_codes in self.rows.pieces(batches, _ROWS_AT_ONCE):
            self._add(raw_codes, totals)
        return [total.reshape(self._shape(places)) for total, places in zip(totals, self.sets, strict=True)]

    def merge(self, parts: Sequence[list[Counts]]) -> list[Counts]:
        """Add the counts up."""
        return [np.sum(same, axis=0, dtype=np.int64) for same in zip(*parts, strict=True)]

    def _shape(self, places: Sequence[int]) -> tuple[int, ...]:
        return tuple(self.rows.codings[place].size for place in places)

    def _add(self, raw_codes: NDArray[np.signedinteger], totals: Sequence[Counts]) -> None:
        for places, total in zip(self.sets, totals, strict=True):
            raw_cells = np.zeros(raw_codes.shape[1], dtype=np.int64)
            for place in places:
                raw_cells *= self.rows.codings[place].size
                raw_cells += raw_codes[place]
            total += np.bincount(raw_cells, minlength=total.size)


class _Coder:
    """A coding as fast code, translated once into the type of the cells."""

    def __init__(self, given: Coding) -> None:
        self._becomes = np.array([*given.codes, LEFT_OUT]) if isinstance(given, MergedCoding) else None
        self._coding = coding = given.coding if isinstance(given, MergedCoding) else given
        self._lookup = Lookup([canonical_label(label) for label in coding.labels]) if isinstance(coding, LabelCoding) else None
        self._cuts: dict[np.dtype[np.generic], CutTable] = {}

    def codes(self, parts: Sequence[CountedCells]) -> Codes:
        """The code of each row of a batch, from the parts that its cells are in."""
        missing = LEFT_OUT if self._coding.missing is None else self._coding.missing
        raw_codes: Codes | None = None
        for cells, raw_taken in parts:
            raw_found = self._cell_codes(cells)
            if raw_codes is None:
                raw_codes = raw_found if raw_taken is None else np.where(raw_taken, raw_found, missing)
            else:  # a row counts in one part only
                raw_codes = np.where(np.ones(len(cells), np.bool_) if raw_taken is None else raw_taken, raw_found, raw_codes)
        assert raw_codes is not None
        return raw_codes if self._becomes is None else self._becomes[raw_codes]  # the code -1 is the last of these

    def _cell_codes(self, cells: Cells) -> Codes:
        """The codes of cells, whatever stands for those that are missing."""
        if isinstance(self._coding, CutCoding):
            assert isinstance(cells, Numbers)
            return self._cuts_for(cells.raw_values.dtype).codes(cells.raw_values)
        assert self._lookup is not None
        places = self._lookup.places(cells)
        other = self._coding.other
        return places if other is None else np.where(places < 0, other, places)

    def _cuts_for(self, dtype: np.dtype[np.generic]) -> CutTable:
        """The cuts in the type of the cells; those that lie above all its values are left out, so that no code reaches them."""
        if dtype not in self._cuts:
            assert isinstance(self._coding, CutCoding)
            edges = [edge_at(cut, dtype) for cut in self._coding.cuts]
            self._cuts[dtype] = CutTable(np.array([edge for edge in edges if edge is not None], dtype=dtype))
        return self._cuts[dtype]


def may_leave_out(coding: Coding) -> bool:
    """Whether a coding has rows that it leaves out."""
    inner = coding.coding if isinstance(coding, MergedCoding) else coding
    return inner.missing is None or (isinstance(inner, LabelCoding) and inner.other is None)
