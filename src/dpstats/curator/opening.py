"""Opening a table to protect: its rows, the types of its columns, and which rows of each unit count."""

from __future__ import annotations

from collections.abc import Mapping

from dpstats.curator.protection import Protection
from dpstats.engines.cells import ColumnType
from dpstats.engines.complaints import check_column_name, shown
from dpstats.engines.stores.bounding import bounded
from dpstats.engines.stores.csv import CsvStore
from dpstats.engines.stores.opening import Types, check_stored, open_store
from dpstats.engines.stores.store import Store
from dpstats.foundations.errors import InvalidParameterError, UnknownNameError

Schema = Mapping[str, ColumnType]


def open_table(table: object, types: Types | None, protection: Protection) -> tuple[Store, Schema]:
    """The store of a table that can be protected like this, and the types of its columns; rows are not read."""
    store, schema = open_store(table, types)
    if isinstance(store, CsvStore):  # what is written in a file is text, until somebody says that it is more
        schema = {name: ColumnType.TEXT if kind is ColumnType.UNDECLARED else kind for name, kind in schema.items()}
    if not protection.may_fail:
        check_stored(store, " Where that is no risk to you, pass may_fail=True, which the ledger records.")
    if not protection.is_by_row:
        _check_unit(protection.unit, schema)
    return store, schema


def bounded_rows(store: Store, schema: Schema, protection: Protection, key: bytes) -> Store:
    """The rows that may be read: a bounded number of each unit, which the key picks."""
    bound = protection.bound(schema, key)
    return store if bound is None else bounded(store, bound)


def _check_unit(unit: str, schema: Schema) -> None:
    try:
        check_column_name(unit, tuple(schema))
    except UnknownNameError as error:
        raise UnknownNameError(f"{error} unit names the column that says whose row it is; or unit='row'.") from None
    if schema[unit] is ColumnType.OTHER:
        raise InvalidParameterError(f"column {shown(unit)} cannot be the unit: its type is nested or binary.")
