"""Rows: jobs that show all columns of a table of numbers, some rows at a time, to what gathers them.

A row counts if it belongs to the view and is missing in none of the columns. Rows are copied into one sheet of float64, a few
thousand at a time, whatever batches they come in: whole numbers become the nearest floats, -0.0 becomes 0.0, and infinities stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.passes.collectors import Gatherer, merged
from dpstats.engines.stores.store import Batch
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import MOST_ROWS_AT_ONCE, CodeSum, RowSum

R = TypeVar("R", bound="RowCollector")
Floats = NDArray[np.float64]

RECENT = 64
"""Sums that are kept as they come, before they are added up: at most 2**6 numbers of 32 bits do not overflow 64."""
HALF_BITS = 32


class RowCollector(Gatherer, Protocol):
    """What a pass gathers of rows. Stores may pickle it."""

    def take(self, raw_rows: Floats) -> None:
        """Take in at most MOST_ROWS_AT_ONCE rows, by columns, none of them missing; the array changes afterwards."""
        ...


class RowList:
    """All rows."""

    def __init__(self) -> None:
        self._raw_pieces: list[Floats] = []

    def fresh(self) -> RowList:
        """An empty list."""
        return RowList()

    def take(self, raw_rows: Floats) -> None:
        """Keep a copy."""
        self._raw_pieces.append(raw_rows.copy())

    def absorb(self, other: RowList) -> None:
        """Put other rows to these."""
        self._raw_pieces += other._raw_pieces

    def matrix(self, columns: int) -> Floats:
        """All rows in one array of `columns` columns; the list is used up, so that its rows are not held twice."""
        end = sum(map(len, self._raw_pieces))
        raw_matrix = np.empty((end, columns))
        while self._raw_pieces:
            raw_rows = self._raw_pieces.pop()
            raw_matrix[end - len(raw_rows) : end] = raw_rows
            end -= len(raw_rows)
        return raw_matrix


class RowTotals:
    """The exact sums of what rows add."""

    def __init__(self, row_sum: RowSum | CodeSum | Callable[[Any], NDArray[np.int64]]) -> None:
        self._row_sum: Callable[[Any], NDArray[np.int64]] = row_sum
        self._raw_totals: list[int] | None = None
        self._raw_recent: list[NDArray[np.int64]] = []

    def fresh(self) -> RowTotals:
        """The same sums, of no rows."""
        return RowTotals(self._row_sum)

    def take(self, raw_rows: NDArray[Any]) -> None:
        """Add rows up; whatever a caller has told numpy, no number of a row raises or warns."""
        with np.errstate(all="ignore"):
            raw_sums = self._row_sum(raw_rows)
        if self._raw_recent and len(self._raw_recent) < RECENT:
            self._raw_recent.append(raw_sums)
            return
        self._settle()
        self._raw_recent = [raw_sums]

    def absorb(self, other: RowTotals) -> None:
        """Add other sums."""
        other._settle()
        if other._raw_totals is not None:
            self._add(other._raw_totals)

    def totals(self, columns: int) -> tuple[int, ...]:
        """The sums over rows of `columns` columns; where no rows came in, the sums over none."""
        self._settle()
        if self._raw_totals is None:
            self.take(_shown(np.empty((0, columns))))
            self._settle()
        return tuple(self._raw_totals or ())

    def _settle(self) -> None:
        """Add up what was taken in last, in whole numbers of any size."""
        if self._raw_recent:
            raw_high, raw_low = (np.sum([part(sums) for sums in self._raw_recent], axis=0) for part in (_high, _low))
            self._raw_recent = []
            self._add([(high << HALF_BITS) + low for high, low in zip(raw_high.tolist(), raw_low.tolist(), strict=True)])

    def _add(self, more: list[int]) -> None:
        self._raw_totals = more if self._raw_totals is None else list(map(int.__add__, self._raw_totals, more))


@dataclass(frozen=True)
class RowScan(Generic[R]):
    """A job: one collector, and the columns of numbers in which the rows of a view are complete."""

    view: TableView
    collector: R

    def scan(self, batches: Iterable[Batch]) -> R:
        """Show all rows to a fresh collector, as few times as they allow."""
        return self.over(complete_rows(self.view, batches))

    def over(self, raw_pieces: Iterable[list[NDArray[Any]]]) -> R:
        """The same for rows that have been read already, piece by piece."""
        filled = self.collector.fresh()
        for raw_rows in _sheets(raw_pieces, len(self.view.complete)):
            filled.take(raw_rows)
        return filled

    def merge(self, parts: Sequence[R]) -> R:
        """All parts in one."""
        return merged(self.collector, parts)


def complete_rows(view: TableView, batches: Iterable[Batch]) -> Iterator[list[NDArray[Any]]]:
    """The columns of the rows that count: of a whole batch where all do, and of some rows at a time where not."""
    for batch in batches:
        raw_columns, raw_taken = view.on(batch).complete_numbers()
        if raw_taken is None:
            yield raw_columns
            continue
        for start in range(0, batch.rows, MOST_ROWS_AT_ONCE):
            rows = slice(start, start + MOST_ROWS_AT_ONCE)
            yield [raw_values[rows][raw_taken[rows]] for raw_values in raw_columns]


def _sheets(raw_pieces: Iterable[list[NDArray[Any]]], width: int) -> Iterator[Floats]:
    """Full sheets of rows and a last one; each is the same memory, filled anew, which nobody else can write to."""
    raw_sheet = np.empty((MOST_ROWS_AT_ONCE, width), order="F")
    held = 0
    for raw_columns in raw_pieces:
        start, rows = 0, raw_columns[0].size
        while start < rows:
            taken = min(rows - start, MOST_ROWS_AT_ONCE - held)
            for place, raw_values in enumerate(raw_columns):
                raw_sheet[held : held + taken, place] = raw_values[start : start + taken]
            start, held = start + taken, held + taken
            if held == MOST_ROWS_AT_ONCE:
                yield _shown(raw_sheet)
                held = 0
    if held:
        yield _shown(raw_sheet[:held])


def _high(raw_sums: NDArray[np.int64]) -> NDArray[np.int64]:
    return raw_sums >> HALF_BITS


def _low(raw_sums: NDArray[np.int64]) -> NDArray[np.int64]:
    return raw_sums & ((1 << HALF_BITS) - 1)


def _shown(raw_sheet: Floats) -> Floats:
    """A sheet as collectors may see it: zeros without a sign, and not to be changed."""
    raw_sheet += 0.0
    raw_rows = raw_sheet.view()
    raw_rows.flags.writeable = False
    return raw_rows
