"""Columns as somebody hands them over: containers of the same rows, which are read where they lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpstats.engines.cells import ColumnType
from dpstats.engines.kinds import Kind, no_feature, no_outcome, not_labels, not_numbers
from dpstats.engines.passes.columns import LabelColumn, open_column
from dpstats.engines.passes.scans import ColumnRun
from dpstats.engines.reading import held_column, native_column
from dpstats.engines.stores.memory import MemoryStore
from dpstats.engines.tables.table import StoreCodes, StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.summaries import CodedTable, Column, Table

_PERHAPS_NUMBERS = (ColumnType.NUMBER, ColumnType.INTEGER, ColumnType.BOOLEAN, ColumnType.UNDECLARED)


class GivenStore(MemoryStore):
    """Containers of the same rows. They are named by their places, from "0", and their rows stay in their order."""

    keeps_order = True

    def __init__(self, containers: Sequence[object]) -> None:
        """Complains where one is no column, or where they differ in their number of rows."""
        super().__init__({str(place): held_column(each) for place, each in enumerate(containers)})

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in their order."""
        return tuple(self.columns)

    def holds(self, place: int) -> Kind:
        """What a column holds by its declared type, in words."""
        return native_column(self._raw_columns[str(place)]).holds

    def check(self, numeric: Sequence[bool], called: Sequence[str] = (), *, has_outcome: bool = False) -> None:
        """Raise where a column that is to be read as numbers has none by its declared type, or where it has no labels.

        `called` are the names of features and, last, of their outcome where they have one, for the complaint.
        """
        for place, (kind, wanted) in enumerate(zip(self.columns.values(), numeric, strict=True)):
            if wanted and kind not in _PERHAPS_NUMBERS:
                raise _complaint(place, self.holds(place), called, has_outcome=has_outcome)
            if not wanted and kind is ColumnType.OTHER:
                raise not_labels(self.holds(place))


def as_column(data: object, *, numeric: bool = True) -> Column:
    """One container as a column of numbers, or for its count and its labels; an error where it has none by its declared type."""
    store = GivenStore([data])
    name, view = store.names[0], TableView(store.columns)
    if numeric:
        store.check([True])
        return open_column(store, view, name, True)
    return LabelColumn(ColumnRun(store, view, name, store.columns[name]), store.columns[name], store.holds(0))


def as_table(containers: Sequence[Any], numeric: Sequence[bool] | None = None) -> Table:
    """Containers of the same rows as a table; without `numeric` all of them as numbers."""
    store = GivenStore(containers)
    wanted = [True] * len(containers) if numeric is None else numeric
    store.check(wanted)
    return StoreTable(store, TableView(store.columns), store.names, wanted)


def as_codes(containers: Sequence[Any], numeric: Sequence[bool]) -> CodedTable:
    """Containers of the same rows as a table whose rows are counted by codes."""
    store = GivenStore(containers)
    store.check(numeric)
    return StoreCodes(store, TableView(store.columns), store.names, numeric)


def _complaint(place: int, holds: Kind, called: Sequence[str], *, has_outcome: bool) -> DataTypeError:
    """What is said about a column that has no numbers."""
    if not called or (len(called) == 1 and not called[0]):
        return not_numbers(holds)
    name = repr(called[place]) if called[place] else f"number {place + 1}"
    if not has_outcome:
        return DataTypeError(f"column {name}: {not_numbers(holds)}")
    return no_outcome(holds, called[place]) if place == len(called) - 1 else no_feature(holds, name)
