"""Columns as somebody hands them over: an array, or several arrays of the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dpstats.engines.arrays import as_column, offered_array, rows_of
from dpstats.engines.cells import ColumnType
from dpstats.engines.columns.elements import ElementColumn
from dpstats.engines.columns.native import NativeColumn
from dpstats.engines.kinds import Kind, no_feature, no_outcome, not_numbers
from dpstats.engines.reading import native_column
from dpstats.engines.stores.store import Batch, LocalStore
from dpstats.engines.tables.table import StoreTable
from dpstats.engines.views import TableView
from dpstats.foundations.errors import DataTypeError
from dpstats.foundations.registry import Reads
from dpstats.foundations.summaries import Column, Table

_NUMERIC = {Reads.NUMBERS: True, Reads.LABELS: False, Reads.EITHER: None}
_PERHAPS_NUMBERS = (Kind.NUMBER, Kind.MISSING, Kind.OTHER)


class GivenColumn(NamedTuple):
    """A container, the type that counts as its declared one, and whether it is read as numbers."""

    raw_values: Any
    type: ColumnType
    numeric: bool


def as_read(
    data: Sequence[object], reads: Sequence[Reads], features: Sequence[str] | None = None, *, has_outcome: bool = True
) -> Column | Table:
    """What a statistic reads: the column of one container (`arrays.as_column`), or the table that several make.

    Where numbers or labels are allowed, a column has numbers if its declared type is one of numbers. A list or an object array
    declares none: its type is what more than half of its elements are, and where there is no such type, it has labels. Of its
    elements only those that are numbers are read as numbers.

    `features` are the names of features and, last, of their outcome where they have one; complaints name them. They make a table
    also where there is only one.
    """
    if len(data) == 1 and features is None:
        return as_column(data[0], numeric=_NUMERIC[reads[0]])
    columns = []
    for place, (each, wanted) in enumerate(zip(data, reads, strict=True)):
        numeric = _is_numeric(each, wanted, _complaint(place, features, has_outcome=has_outcome))
        raw_values = _native(each)
        columns.append(GivenColumn(raw_values, raw_values.type, numeric))
    return as_table(columns)


def as_table(columns: Sequence[GivenColumn]) -> Table:
    """The table that containers of the same rows make."""
    names = [str(place) for place in range(len(columns))]
    schema = {name: column.type for name, column in zip(names, columns, strict=True)}
    store = GivenStore({name: column.raw_values for name, column in zip(names, columns, strict=True)}, schema)
    return StoreTable(store, TableView(schema), names, [column.numeric for column in columns])


class GivenStore(LocalStore):
    """Containers of the same rows. They are not copied, and must not change while they are in use."""

    in_memory = True
    keeps_order = True

    def __init__(self, raw_columns: Mapping[str, Any], columns: Mapping[str, ColumnType]) -> None:
        raw_lengths = {len(column) for column in raw_columns.values()}
        if len(raw_lengths) > 1:
            raise DataTypeError("the columns differ in their number of rows: pass columns of the same rows, in the same order.")
        self._raw_columns = raw_columns
        self._raw_rows = raw_lengths.pop()
        self.columns = columns

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """All rows at once, in their order."""
        yield Batch({name: self._raw_columns[name] for name in columns}, self._raw_rows)


def _native(data: Any) -> NativeColumn:
    """A container behind the interface that all have; it has been seen to hold a column."""
    try:
        column = native_column(data)
    except DataTypeError:
        column = native_column(offered_array(data))
    return column.unparsed() if isinstance(column, ElementColumn) and column.type is ColumnType.UNDECLARED else column


def _complaint(place: int, features: Sequence[str] | None, *, has_outcome: bool) -> Callable[[Kind], DataTypeError]:
    """What is said about a column that has no numbers."""
    if features is None or (len(features) == 1 and not features[0]):
        return not_numbers
    name = repr(features[place]) if features[place] else f"number {place + 1}"
    if not has_outcome:
        return lambda kind: DataTypeError(f"column {name}: {not_numbers(kind)}")
    if place == len(features) - 1:
        return lambda kind: no_outcome(kind, features[place])
    return lambda kind: no_feature(kind, name)


def _is_numeric(data: object, reads: Reads, complaint: Callable[[Kind], DataTypeError]) -> bool:
    """Whether a container is read as numbers; an error where it must be and has none."""
    rows = rows_of(data)  # complains about what is no column
    if reads is Reads.LABELS:
        return False
    kind = rows.kind()
    if reads is Reads.NUMBERS and kind not in _PERHAPS_NUMBERS:
        raise complaint(kind)
    return reads is Reads.NUMBERS or kind is Kind.NUMBER
