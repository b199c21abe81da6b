"""Tables: several columns of the same rows, for questions about all of them together.

A row in which one of the columns is missing counts as missing in each. Whatever store the rows lie in, the code is the same.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from dpstats.engines.cells import ColumnType
from dpstats.engines.exact.tallies import label_text
from dpstats.engines.exact.thinned import IN_MEMORY, REMOTE
from dpstats.engines.groups.answers import SPLIT_ROWS, RowsRun, SplitJob
from dpstats.engines.groups.keys import GroupKeys, count_keys
from dpstats.engines.groups.lookups import canonical_label
from dpstats.engines.groups.splits import Split
from dpstats.engines.passes.codes import CodeCount, CodedRows, CodeTotals, may_leave_out
from dpstats.engines.passes.columns import PassColumn, column_by, empty_type, is_remote, open_column, read_as, room_for
from dpstats.engines.passes.pairs import P, PairList, PairScan, ProductSums
from dpstats.engines.passes.rows import R, RowList, RowScan, RowTotals
from dpstats.engines.passes.scans import ColumnRun
from dpstats.engines.stores.store import Batch, Job, Store, Summary
from dpstats.engines.tables.kept import DecodedRows, KeptRun, PairPieces, RowPieces, keep_rows
from dpstats.engines.tables.kept_codes import KeptCodes
from dpstats.engines.units.contributions import BoundedBatch
from dpstats.engines.units.sums import ColumnUnits, UnitSteps
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.registry import Statistic
from dpstats.foundations.summaries import Clip, CodedTable, CodeSum, Coding, Column, RowSum, Table


def open_columns(
    store: Store, view: TableView, names: Sequence[str], numeric: Sequence[bool], statistic: Statistic
) -> Column | Table | CodedTable:
    """What a statistic reads: one column of a store as a view has it, or a table of several; nothing is read before it is asked.

    `numeric` says for each column whether it is read as numbers.
    """
    if statistic.reads_codes:
        return StoreCodes(store, view, names, numeric)
    if len(names) == 1 and not statistic.takes_features:
        return open_column(store, view, names[0], numeric[0])
    return StoreTable(store, view, names, numeric)


class StoreTable:
    """Some columns of a store, as a view has them; nothing is read before it is asked for."""

    def __init__(self, store: Store, view: TableView, names: Sequence[str], numeric: Sequence[bool]) -> None:
        """`numeric` says for each column whether it is read as numbers; an error where it has none."""
        view.needs(names)  # complains about names
        self._store = store
        self._units: UnitSteps | None = None
        self._numeric = tuple(numeric)
        self._columns = tuple((name, read_as(view, name, numeric=wanted)) for name, wanted in zip(names, numeric, strict=True))
        self._view = replace(view, complete=self._columns)
        self._raw_kept: DecodedRows | None = None
        self._may_keep = all(numeric)

    def take_units(self, steps: UnitSteps) -> None:
        """Know from now on whose rows they are, and what may be asked by unit."""
        self._units = steps

    @property
    def rows_per_unit(self) -> int:
        """The most rows of a unit, which is public."""
        return 1 if self._units is None else self._units.bound.rows

    def column(self, place: int) -> Column:
        """One column; of its rows that are stored, those count as missing that are missing in any of the columns."""
        name, kind = self._columns[place]
        raw_kept = self._kept()
        if raw_kept is not None:
            room = REMOTE if is_remote(self._store) else IN_MEMORY
            return self._of_units(column_by(KeptRun(raw_kept, place), kind, room, numeric=True), place, self._store)
        run = ColumnRun(self._store, self._view, name, kind)
        column = column_by(run, kind, room_for(self._store), numeric=self._numeric[place])
        return self._of_units(column, place, self._store)

    def columns_by_label(self, place: int, by: int, labels: Sequence[Any]) -> list[Column]:
        """For each label the column at `place`, of the rows that have this label in the column at `by`.

        Labels compare as keys of groups do: texts, numbers, booleans as 0 and 1, dates as such or in ISO form. Rows are read
        once where those of all labels fit into memory.
        """
        name, kind = self._columns[place]
        wanted, keys, numbers = self._keyed(by, labels)
        stores = [KeyedStore(self._store, self._view, keys, numbers[key]) for key in wanted]
        split = self._split(keys, name, kind)
        if split is not None:
            runs = [RowsRun(rows) for rows in split.by_group(all_groups=True)]
            columns = [column_by(runs[numbers[key]], kind, IN_MEMORY, numeric=self._numeric[place]) for key in wanted]
        else:
            passes = [ColumnRun(store, self._view, name, kind) for store in stores]
            columns = [column_by(each, kind, room_for(self._store), numeric=self._numeric[place]) for each in passes]
        return [self._of_units(column, place, store) for column, store in zip(columns, stores, strict=True)]

    def without(self, place: int) -> Table:
        """The other columns; a row counts that is missing in none of them."""
        return self._of_others(place, self._store)

    def tables_by_label(self, by: int, labels: Sequence[Any]) -> list[Table]:
        """For each label the other columns, of the rows that have it; they compare as in `columns_by_label`."""
        wanted, keys, numbers = self._keyed(by, labels)
        return [self._of_others(by, KeyedStore(self._store, self._view, keys, numbers[key])) for key in wanted]

    def product_sums(self, clips: tuple[Clip, Clip], degree: int) -> tuple[tuple[int, ...], ...]:
        """The exact sums of products of powers of where two numbers lie in their clips, by one pass."""
        return self._paired(ProductSums(clips, degree)).totals

    def pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Two columns of numbers, row by row in some order, in memory."""
        return self._paired(PairList()).arrays([empty_type(kind) for _, kind in self._columns])

    def label_pairs(self) -> dict[tuple[Any, Any], int]:
        """Every pair of labels of two columns, with the number of rows that have it."""
        names, kinds = zip(*self._columns, strict=True)
        return {(first, second): count for (first, second), count in count_keys(self._store, self._view, names, kinds).items()}

    def matrix(self) -> NDArray[np.float64]:
        """All columns of numbers, rows by columns, in memory: in the order that they were handed over in, or ascending.

        Stores may deliver rows in another order each time, and then one that depends on what other rows hold.
        """
        raw_rows = self._by_rows(RowList()).matrix(len(self._columns))
        return raw_rows if getattr(self._store, "keeps_order", False) else raw_rows[np.lexsort(raw_rows.T)]

    def row_sums(self, row_sum: RowSum) -> tuple[int, ...]:
        """The exact sums over all rows of what they add, by one pass in little memory."""
        return self._by_rows(RowTotals(row_sum)).totals(len(self._columns))

    def _by_rows(self, collector: R) -> R:
        if not all(self._numeric):
            raise DataTypeError("rows of numbers need columns that are all read as numbers.")
        scan, raw_kept = RowScan(self._view, collector), self._kept()
        return self._store.run(scan, self._needed()) if raw_kept is None else raw_kept.run(RowPieces(scan))

    def _paired(self, collector: P) -> P:
        if self._numeric != (True, True):
            raise DataTypeError("pairs of numbers need two columns that are read as numbers.")
        if self._raw_kept is None:
            return self._store.run(PairScan(self._view, collector), self._needed())
        return self._raw_kept.run(PairPieces(collector))

    def _kept(self) -> DecodedRows | None:
        """The rows, decoded, which the first call reads; None where they are too many to be kept."""
        if self._may_keep and self._raw_kept is None:
            self._raw_kept = keep_rows(self._store, self._view, self._needed())
            self._may_keep = self._raw_kept is not None
        return self._raw_kept

    def _needed(self) -> list[str]:
        return self._view.needs(name for name, _ in self._columns)

    def _of_units(self, column: Column, place: int, store: Store) -> Column:
        """The column at `place` of a store with some of the rows, told whose rows they are where that is known."""
        if self._units is not None and isinstance(column, PassColumn):
            column.units = ColumnUnits(store, self._view, *self._columns[place], self._units)
        return column

    def _of_others(self, place: int, store: Store) -> Table:
        others = [each for each in range(len(self._columns)) if each != place]
        view = replace(self._view, complete=())
        table = StoreTable(store, view, [self._columns[each][0] for each in others], [self._numeric[each] for each in others])
        table._units = self._units
        return table

    def _keyed(self, by: int, labels: Sequence[Any]) -> tuple[list[tuple[Any]], GroupKeys, dict[tuple[Any, ...], int]]:
        """Labels as keys, in their order; the keys of rows; and the number of each."""
        name, kind = self._columns[by]
        wanted = [(_label(label),) for label in labels]
        keys = GroupKeys((name,), (kind,), tuple(wanted))
        return wanted, keys, {key: number for number, key in enumerate(keys.keys)}

    def _split(self, keys: GroupKeys, name: str, kind: ColumnType) -> Split | None:
        """The rows of all labels in memory, split by label; None where they are too many, or must stay where they are."""
        if is_remote(self._store):
            return None
        job = SplitJob(self._view, keys, name, kind, None if self._store.in_memory else SPLIT_ROWS)
        return self._store.run(job, self._view.needs([name]))


@dataclass(frozen=True)
class KeyedStore:
    """The rows of a store that have one of some keys, wherever they lie."""

    store: Store
    view: TableView
    keys: GroupKeys
    number: int

    in_memory = False

    @property
    def columns(self) -> Mapping[str, ColumnType]:
        """The columns of the store."""
        return self.store.columns

    @property
    def remote(self) -> bool:
        """Whether rows must stay where they are."""
        return is_remote(self.store)

    def run(self, job: Job[Summary], columns: Sequence[str]) -> Summary:
        """Run a job over the rows with the key."""
        wanted = {*columns, *self.view.needs(self.keys.columns)}
        names = [name for name in self.store.columns if name in wanted]
        return self.store.run(KeyedJob(job, self.view, self.keys, self.number), names)


@dataclass(frozen=True)
class KeyedJob(Generic[Summary]):
    """A job that is shown only the rows that have a key."""

    job: Job[Summary]
    view: TableView
    keys: GroupKeys
    number: int

    def scan(self, batches: Iterable[Batch]) -> Summary:
        """Show it those rows."""
        return self.job.scan(BoundedBatch(batch, self.keys.codes(self.view.on(batch)) == self.number) for batch in batches)

    def merge(self, parts: Sequence[Summary]) -> Summary:
        """As the job itself does."""
        return self.job.merge(parts)


class StoreCodes:
    """Some columns of a store, as a view has them, whose rows are counted by codes; nothing is read before it is asked for."""

    def __init__(self, store: Store, view: TableView, names: Sequence[str], numeric: Sequence[bool]) -> None:
        """`numeric` says for each column whether it is read as numbers; an error where it has none."""
        view.needs(names)  # complains about names
        self._store = store
        self._view = view
        self.numeric = tuple(numeric)
        self._columns = tuple((name, read_as(view, name, numeric=wanted)) for name, wanted in zip(names, numeric, strict=True))
        self._kept = KeptCodes(store)

    def column(self, place: int) -> Column:
        """One column."""
        name, kind = self._columns[place]
        return column_by(ColumnRun(self._store, self._view, name, kind), kind, room_for(self._store), numeric=self.numeric[place])

    def code_counts(self, codings: Sequence[Coding], sets: Sequence[tuple[int, ...]]) -> list[NDArray[np.int64]]:
        """The rows by their codes, a table of counts for each set of columns, all by one pass over the columns that matter."""
        counted = {place for places in sets for place in places}
        read = [place for place, coding in enumerate(codings) if place in counted or may_leave_out(coding)]
        rows = self._coded(codings, read)
        placed = tuple(tuple(read.index(place) for place in places) for places in sets)
        return self._store.run(CodeCount(rows, placed), self._view.needs(name for name, _ in rows.columns))

    def code_sums(self, codings: Sequence[Coding], row_sum: CodeSum) -> tuple[int, ...]:
        """The exact sums over all rows of what they add by their codes; sums by the same codes read the rows once."""
        rows = self._coded(codings, range(len(codings)))
        return self._kept.totals(CodeTotals(rows, row_sum), self._view.needs(name for name, _ in rows.columns))

    def _coded(self, codings: Sequence[Coding], read: Sequence[int]) -> CodedRows:
        return CodedRows(self._view, tuple(self._columns[place] for place in read), tuple(codings[place] for place in read))


def _label(label: Any) -> Any:
    """A label as cells have it."""
    return label_text(label) if isinstance(label, datetime.date) else canonical_label(label)
