"""Tables in groups: one question about several columns in every group of rows.

Where the rows of all groups lie in memory, or fit into it, they are read once and put in the order of their groups. Otherwise
every group makes passes of its own over the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import Cells, ColumnType, select_cells
from dpstats.engines.groups.answers import SPLIT_ROWS
from dpstats.engines.groups.keys import GroupKeys, Key
from dpstats.engines.passes.columns import is_remote, read_as
from dpstats.engines.stores.store import Batch, LocalStore, Store
from dpstats.engines.tables.table import KeyedStore, StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.summaries import Table

T = TypeVar("T")
Reading = tuple[int, ColumnType]
"""The place of a column, and a type that it is read as."""


def answer_group_tables(
    store: Store,
    view: TableView,
    group_keys: GroupKeys,
    names: Sequence[str],
    numeric: Sequence[bool],
    answer: Callable[[Key, Table], T],
) -> dict[Key, T]:
    """What `answer` says for every key on the list, also for those without rows, from a table of the rows that have this key."""
    kinds = [read_as(view, name, numeric=wanted) for name, wanted in zip(names, numeric, strict=True)]
    columns = view.needs([*group_keys.columns, *names])
    raw_held: list[Sheet] | None = None
    if not is_remote(store):
        limit = None if store.in_memory else SPLIT_ROWS
        raw_held = store.run(SheetJob(view, group_keys, tuple(zip(names, kinds, strict=True)), limit), columns)
    answers = {}
    for number, key in enumerate(group_keys.keys):
        if raw_held is None:
            table = StoreTable(KeyedStore(store, view, group_keys, number), view, names, numeric)
        else:
            own = GroupStore(raw_held, number, kinds)
            table = StoreTable(own, TableView(own.columns), list(own.columns), numeric)
        answers[key] = answer(key, table)
    return answers


@dataclass(frozen=True)
class Sheet:
    """Rows of one batch that belong to groups, in the order of these."""

    raw_cells: Mapping[Reading, Cells]
    raw_ends: NDArray[np.int64]
    """For each group the number of rows up to its end."""

    def rows_of(self, number: int) -> slice:
        """Where the rows of a group lie."""
        return slice(int(self.raw_ends[number - 1]) if number else 0, int(self.raw_ends[number]))


@dataclass(frozen=True)
class SheetJob:
    """A job: the rows of all groups; None where they are more than `limit`."""

    view: TableView
    keys: GroupKeys
    columns: tuple[tuple[str, ColumnType], ...]
    limit: int | None

    def scan(self, batches: Iterable[Batch]) -> list[Sheet] | None:
        """Copy the rows of some batches; it reads no further where they are too many."""
        sheets = []
        held = 0
        for batch in batches:
            sheets.append(self._sheet(batch))
            held += int(sheets[-1].raw_ends[-1]) if self.keys.keys else 0
            if self.limit is not None and held > self.limit:
                return None
        return sheets

    def merge(self, parts: Sequence[list[Sheet] | None]) -> list[Sheet] | None:
        """All rows together; the parts come from one stream, which has kept to the limit."""
        sheets: list[Sheet] = []
        for part in parts:
            if part is None:
                return None
            sheets += part
        return sheets

    def _sheet(self, batch: Batch) -> Sheet:
        viewed = self.view.on(batch)
        codes = self.keys.codes(viewed)
        if viewed.raw_kept is not None:
            codes = codes[viewed.raw_kept]
        order = np.argsort(codes, kind="stable")
        order = order[np.count_nonzero(codes < 0) :]
        raw_cells = {
            (place, reading): select_cells(viewed.cells(name, reading), order)
            for place, (name, kind) in enumerate(self.columns)
            for reading in ((ColumnType.NUMBER, ColumnType.TEXT) if kind is ColumnType.UNDECLARED else (kind,))
        }
        return Sheet(raw_cells, np.cumsum(np.bincount(codes[order], minlength=len(self.keys.keys))))


class GroupStore(LocalStore):
    """The rows of one group in memory; its columns are named by their places."""

    in_memory = True

    def __init__(self, raw_sheets: Sequence[Sheet], number: int, kinds: Sequence[ColumnType]) -> None:
        self._raw_sheets = raw_sheets
        self._number = number
        self.columns = {str(place): kind for place, kind in enumerate(kinds)}

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows; where there are none, a batch without rows, which tells the types."""
        found = False
        for sheet in self._raw_sheets:
            rows = sheet.rows_of(self._number)
            if rows.stop > rows.start:
                found = True
                yield CellBatch(sheet, rows)
        if self._raw_sheets and not found:
            yield CellBatch(self._raw_sheets[0], slice(0, 0))


class CellBatch(Batch):
    """Some rows of a sheet."""

    def __init__(self, sheet: Sheet, rows: slice) -> None:
        super().__init__({}, rows.stop - rows.start)
        self._sheet = sheet
        self._slice = rows

    def cells(self, name: str, kind: ColumnType) -> Cells:
        """One column, as it was read."""
        return select_cells(self._sheet.raw_cells[int(name), kind], self._slice)
